"""Perturb: turn each prompt into its counterfactual variants, or pass it on as it is."""

from __future__ import annotations

from audit_lib.perturb.variants_stage import PERTURBATIONS, perturb

__all__ = ["PERTURBATIONS", "perturb"]
