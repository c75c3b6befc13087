"""What somebody who was handed a bag can do with it, in words that need no knowledge of the project."""

from __future__ import annotations

from typing import Final

from audit_lib.documents.privacy import PrivacyLevel

_TEXT: Final = """\
HOW TO CHECK WHAT IS IN THIS FOLDER

This is the evidence of one audit of an automated decision tool:

    {name}

It was written by the software that made the audit. You need not trust that
software, nor whoever gave you the folder. Check three things, in this order.

1. The folder is complete and nothing in it was changed since it was packed.

   On Linux or a Mac, in a terminal, in this folder:

       sha256sum --check --quiet manifest-sha256.txt
       sha256sum --check --quiet tagmanifest-sha256.txt

   (On a Mac: shasum -a 256 --check.) No line of output means that all is well.
   Any tool for BagIt folders (RFC 8493) does the same.

   This finds damage. It does not find somebody who changed a file and then
   wrote the lists anew. For that, go on.

2. The evidence is the one that was published or signed.

   The file data/{name}/{manifest}
   lists every file of the audit. Its SHA-256, when this folder was packed, was

       {digest}

   Compare it with the same number from somewhere else: the published report,
   the auditor's signed statement, a letter, a register. If you have it only
   from this folder, it shows nothing.

3. The printed numbers follow from the recorded answers.

   With Python 3.11 or later:

       pip install audit-lib
       audit verify data/{name}

   This computes every published number again from the archived answers, and
   names each that differs. With the public key of the auditor, got from the
   auditor and not from this folder:

       audit verify data/{name} --trust auditor.pub

{withheld}WHAT THIS CANNOT SHOW

That the answers are those that the tool gave: whoever holds the keys could
have written other answers before signing. That no other audit was made and
thrown away before it was entered anywhere. That the software in step 3 is
honest, if you took it from the same hands as this folder.
"""


_WITHHELD: Final = """\
WHAT IS NOT IN THIS FOLDER

It was handed on at level "{level}", to protect the people whom the audit is
about: {files} files of the audit are not in it. The file named in step 2 lists
them with their SHA-256, so that whoever has them can show that they are the
same. {rows}

Step 3 says what could not be computed here. Somebody who leaves out more than
was agreed can only do so by handing on a lower level, and the first line that
step 3 prints names the level.

"""
_ROWS: Final[dict[PrivacyLevel, str]] = {
    "redacted": "In their place are the rows that numbers are\ncomputed from, with numbers for people and no texts.",
    "digests": "Nothing is in their place: this folder holds\nwhat was planned and published, and digests of all else.",
}


def verify_text(name: str, manifest: str, digest: str, level: PrivacyLevel, withheld: int) -> bytes:
    """Return ``VERIFY.txt``.

    Parameters
    ----------
    name : str
        The run, as ``audit/window/design``.
    manifest : str
        Path in the run of the file that lists all others.
    digest : str
        Its SHA-256.
    level : str
        At which the run is handed on.
    withheld : int
        How many files it is without.
    """
    said = "" if level == "full" else _WITHHELD.format(level=level, files=withheld, rows=_ROWS[level])
    return _TEXT.format(name=name, manifest=manifest, digest=digest, withheld=said).encode()
