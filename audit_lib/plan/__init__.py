"""Plan: everything that is decided before the model is asked anything."""

from audit_lib.plan.plan_stage import plan

__all__ = ["plan"]
