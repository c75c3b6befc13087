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

3. The signatures hold, and the printed numbers follow from the answers.

   You need Python 3.8 or later (python.org), the file verify.pyz, and the
   trust file of the audit: a short text with the keys that you may believe.
   Get both from somewhere else than this folder: the project's releases, the
   auditor, the regulator. They are left out of this folder on purpose, since a
   checker that came with the evidence proves nothing. In the folder where you
   put them:

       python3 verify.pyz THIS-FOLDER --trust trust.json

   (On Windows: python in place of python3.)

   It installs nothing, changes nothing and asks no network. The first line is
   the verdict, and each line that begins with "finding" names a file and what
   is wrong with it. Lines that begin with "not checked here" say what it
   leaves out. Without --trust it finds whether the files fit together, and
   cannot know who made them.

   The file data/{name}/journal.jsonl,
   where there is one, is the journal of this audit: an entry for every attempt
   that was begun until this folder was made, also the failed ones. The program
   follows it from entry to entry and prints its head, a number of 64 digits.
   Keep it: whoever shows you the journal later has to show one that holds it.
   If you knew a head before, add --head and the number.

   It counts again who was selected, the rates and the ratios between groups.
   To have every published number computed again, margins of error and pages
   as well, with Python 3.11 or later:

       pip install audit-lib
       audit verify data/{name} --trust trust.json

4. If it is to be used in court.

   CERTIFICATE-DRAFT.txt is a draft of the certification that Rules 902(13) and
   902(14) of the Federal Rules of Evidence of the United States ask for. It is
   only a draft: a qualified person has to complete it, and to sign it.

{withheld}WHAT THIS CANNOT SHOW

That the answers are those that the tool gave: whoever holds the keys could
have written other answers before signing. That no other audit was made and
thrown away before it was entered anywhere. That the programs in step 3 are
honest, if you took them from the same hands as this folder.
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
