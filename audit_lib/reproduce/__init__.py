"""Reproduction: the whole audit again from its sealed bundle, with the same model, answer by answer."""

from audit_lib.reproduce.asking_again import ModelHere
from audit_lib.reproduce.reproduce_run import (
    PlannedReproduction,
    nothing_to_ask,
    plan_reproduction,
    reproduce,
)
from audit_lib.reproduce.sealed_bundle import SealedBundle, sealed_bundle

__all__ = [
    "ModelHere",
    "PlannedReproduction",
    "SealedBundle",
    "nothing_to_ask",
    "plan_reproduction",
    "reproduce",
    "sealed_bundle",
]
