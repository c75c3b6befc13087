"""Every error that audit_lib raises on purpose.

::

    AuditError
    ├── SpecError                 the declarative audit is wrong
    ├── InputError                what was read is wrong
    │   ├── EmptyWindowError      the window has no width, or holds no prompt
    │   ├── MissingColumnError    a mapped column is not in the file
    │   ├── DuplicateIdError      an id that must be unique is not
    │   ├── ColumnTypeError       a column holds a value of another type
    │   ├── CorruptFileError      a file ends early or does not parse
    │   ├── UnknownSlotError      a text holds a slot that nothing fills
    │   ├── LexiconError          a lexicon is empty or lacks a group
    │   ├── NoApplicantError      a dossier does not show whom it is about
    │   └── NeedsOcrError         a PDF holds pictures of text, and no text
    ├── GateError                 a law does not let this pass; names the paragraph
    ├── StoreError                object storage refused or did not answer
    │   ├── StoreUnreachableError no answer after the retries
    │   ├── NotFoundError         there is no such artefact
    │   └── ConflictError         write-once: another artefact is already there
    ├── BackendError              a model could not be loaded or asked
    │   ├── ModelNotFoundError    the model folder or file is not one
    │   ├── BudgetReachedError    the run's budget in tokens or money is used up
    │   └── StillWaitingError     a batch is under way: come back later
    ├── PluginError               an installed package brings a part that cannot be used
    ├── PreflightError            something is missing that the audit needs; nothing was paid yet
    ├── ValidationFailedError     an expectation of severity "error" failed
    ├── UndefinedMetricError      a number does not exist for these inputs
    ├── IncompleteRunError        a stage was asked for before its inputs exist
    ├── EvidenceError             archived evidence does not verify
    │   └── WithheldError         a copy was handed on without what is asked for
    └── UncheckedError            evidence could not be checked, so that there is no verdict

Messages say what went wrong, where (file, line, row, column, key) and what to do about it.
They never hold a secret, nor text written by or about an applicant.
"""


class AuditError(Exception):
    """Base of every error that audit_lib raises on purpose."""


class SpecError(AuditError, ValueError):
    """The declarative audit is wrong."""


class MissingPackageError(SpecError):
    """A design needs a package that is not installed here."""


class InputError(AuditError, ValueError):
    """What was read from a source is wrong."""


class EmptyWindowError(InputError):
    """The window has no width, or no prompt falls into it."""


class MissingColumnError(InputError):
    """A mapped column is not in the file."""


class DuplicateIdError(InputError):
    """An id that must be unique is not."""


class ColumnTypeError(InputError):
    """A column holds a value of another type than it should."""


class CorruptFileError(InputError):
    """A file ends early or does not parse."""


class UnknownSlotError(InputError):
    """A text holds a slot that nothing fills."""


class LexiconError(InputError):
    """A lexicon is empty or lacks a group."""


class NoApplicantError(InputError):
    """A dossier does not show whom it is about, so nobody's name can be taken out of it."""


class NeedsOcrError(InputError):
    """A PDF holds no text: its pages are pictures, and need optical character recognition first."""


class GateError(AuditError, ValueError):
    """A law does not let this pass; the message names the law and the paragraph."""


class StoreError(AuditError):
    """Object storage refused or did not answer."""


class StoreUnreachableError(StoreError, ConnectionError):
    """Object storage did not answer after the retries."""


class NotFoundError(StoreError, KeyError):
    """There is no such artefact."""

    __str__ = Exception.__str__  # KeyError would print the repr of the message


class ConflictError(StoreError):
    """Artefacts are write-once, and another one is already there."""


class BackendError(AuditError):
    """A model could not be loaded or asked."""


class ModelNotFoundError(BackendError, FileNotFoundError):
    """The model folder or file is not one."""


class BudgetReachedError(BackendError):
    """The run's budget in tokens or money is used up; what was answered is kept."""


class StillWaitingError(BackendError):
    """A batch is under way at the provider; the same call later goes on from it."""


class PluginError(AuditError):
    """An installed package brings a part that cannot be imported, or has the name of another."""


class PreflightError(AuditError):
    """Something is missing that the audit needs; none of its questions was asked of the model yet.

    Attributes
    ----------
    may_pass : bool
        Whether all of it may be there at another time.
    """

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass


class ValidationFailedError(AuditError):
    """An expectation of severity ``error`` failed."""


class UndefinedMetricError(AuditError, ValueError):
    """A number does not exist for these inputs; the message is the reason that gets printed."""


class IncompleteRunError(AuditError):
    """A stage was asked for before the artefacts that it reads exist."""


class EvidenceError(AuditError):
    """Archived evidence does not verify."""


class WithheldError(EvidenceError):
    """A copy of a run was handed on without this file (`audit_lib.privacy`)."""


class UncheckedError(AuditError):
    """Evidence could not be checked, so that there is no verdict on it."""


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out: Python's, NumPy's or Arrow's."""
    return isinstance(error, MemoryError) or type(error).__name__ == "ArrowMemoryError"
