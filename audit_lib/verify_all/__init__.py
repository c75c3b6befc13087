"""Verification of every run of a store: what did not change is not computed again, and no run hides another."""

from audit_lib.verify_all.bounds import CostBounds
from audit_lib.verify_all.kept import KeptVerifications
from audit_lib.verify_all.listing import StoreListing, list_store
from audit_lib.verify_all.outcome import RunVerification, StoreVerification
from audit_lib.verify_all.sweep import VerifyOptions
from audit_lib.verify_all.verify_store import verify_store

__all__ = [
    "CostBounds",
    "KeptVerifications",
    "RunVerification",
    "StoreListing",
    "StoreVerification",
    "VerifyOptions",
    "list_store",
    "verify_store",
]
