"""Sign-off: an auditor's signed statement about a sealed run, appended to it, and the report that carries it.

A run is sealed and published "not signed" first. What an auditor signs is the digest of its manifest, and so
every artefact of it. A statement is never changed: a later one supersedes it and names it. An auditor
who does not sign may reject the run, with the reason, for good.
"""

from audit_lib.signing.keys import generate_key, load_private_key, load_public_key
from audit_lib.signoff.reject import RejectionAnswers, reject
from audit_lib.signoff.rejection_file import Rejection, content_now, read_rejection
from audit_lib.signoff.sign import sign_off
from audit_lib.signoff.sign_off_files import SignOff, read_sign_offs
from audit_lib.signoff.statement import AuditorAnswers, attestations
from audit_lib.signoff.verification import VerificationOptions, verify_sign_offs, verify_signed

__all__ = [
    "AuditorAnswers",
    "Rejection",
    "RejectionAnswers",
    "SignOff",
    "VerificationOptions",
    "attestations",
    "content_now",
    "generate_key",
    "load_private_key",
    "load_public_key",
    "read_rejection",
    "read_sign_offs",
    "reject",
    "sign_off",
    "verify_sign_offs",
    "verify_signed",
]
