"""What is kept of the last publication, with the publisher's key: a site that is as it was is not made again.

A site follows from the bytes of the store, the addresses that are asked for, and the software. Where all of them, and
the site itself, are as they were when it was published last, it would be the same again. Of a folder every byte is
read and hashed; of a bucket its listing says size, ETag and time of the last write of every object.

Kept only with a key in ``AUDIT_VERIFIED_KEY``: else whoever can write to the store could make a changed run, or a
changed page, look like what was published.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from audit_lib.archive.environment import software_sha256
from audit_lib.canonical import canonical_json, sha256
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.published_site import PublishedSite, published_bytes
from audit_lib.errors import AuditError, StoreError, StoreUnreachableError
from audit_lib.store import LocalStore, Store
from audit_lib.typed_json import decode
from audit_lib.verify_all.bounds import INTERVAL
from audit_lib.verify_all.kept import FOLDER, KeptVerifications

NAME: Final = "published.json"


@dataclass(frozen=True, slots=True)
class StoreDigests:
    """Digests over what a store holds: of the site, and of all else."""

    runs: str
    site: str


@dataclass(frozen=True, slots=True)
class KeptPublication:
    """The last publication of a store.

    Parameters
    ----------
    store : Store
        What is published.
    site : str
        The folder of the site in it.
    asked : str
        Digest of what was asked, and of the software that answers.
    place : Store
        Where it is kept.
    key : bytes
        The publisher's own.
    before : StoreDigests
        What the store holds, before anything of it was read.
    """

    store: Store
    site: str
    asked: str
    place: Store
    key: bytes
    before: StoreDigests

    @classmethod
    def of_environment(cls, store: Store, site: str, asked: Mapping[str, str]) -> KeptPublication | None:
        """Return where the publications of a store are kept; None where no key is given.

        Raises
        ------
        InputError
            If the key is too short to be one.
        """
        kept = KeptVerifications.of_environment(store.root)
        if not kept.key:
            return None
        said = sha256(canonical_json({**asked, "software": software_sha256()}))
        return cls(store, site, said, kept.place, kept.key, store_digests(store, site))

    def unchanged(self) -> PublishedSite | None:
        """Return the last publication, if nothing is different since; None where anything is, or cannot be told."""
        try:
            found = decode(PublishedSite, self.place.get(NAME), self.place.uri(NAME))
        except StoreUnreachableError:
            raise
        except AuditError:
            return None
        age = datetime.now(UTC) - datetime.fromisoformat(found.published_at)
        same = (found.asked_sha256, found.runs_sha256, found.site_sha256) == (
            self.asked,
            self.before.runs,
            self.before.site,
        )
        is_ours = hmac.compare_digest(found.mac, self._mac(found))
        return found if same and is_ours and abs(age) < INTERVAL else None

    def keep(self, made: PublishedSite, files: Mapping[str, bytes]) -> str:
        """Keep a publication; return why it could not be kept, empty where it was.

        Parameters
        ----------
        made : PublishedSite
            Without its digests.
        files : mapping of str to bytes
            What was written, by its path on the site.
        """
        site = store_digests(self.store, self.site, files).site
        made = replace(
            made, asked_sha256=self.asked, runs_sha256=self.before.runs, site_sha256=site, mac="0" * 64
        )
        try:
            self.place.replace(NAME, canonical_json(replace(made, mac=self._mac(made)).as_dict()))
        except StoreUnreachableError:
            raise
        except StoreError as error:
            return str(error)
        return ""

    def _mac(self, document: PublishedSite) -> str:
        return hmac.new(self.key, published_bytes(document), hashlib.sha256).hexdigest()


def store_digests(store: Store, site: str, written: Mapping[str, bytes] | None = None) -> StoreDigests:
    """Digest what a store holds, but for what is kept of verifications and publications.

    Parameters
    ----------
    store : Store
        Of which every byte is read if it is a folder, and the listing alone if it is not.
    site : str
        The folder of the site.
    written : mapping of str to bytes, optional
        Files of the site that were written just now. Of a folder these count, and not what somebody else may have
        put there since. The site alone is then looked at.
    """
    wholes = {True: hashlib.sha256(), False: hashlib.sha256()}
    prefix = "" if written is None else site
    listed = store.listed(prefix)
    lines: list[tuple[str, str]] = []
    if listed is not None:
        lines += [(key, f"{said.size} {said.mark}") for key, said in listed.items()]
    else:
        for key in store.list(prefix):
            if not key.startswith(f"{FOLDER}/"):
                content = None if written is None else written.get(key.removeprefix(f"{site}/"))
                lines.append((key, _said(store, key, content)))
        if isinstance(store, LocalStore):
            lines += [(key, f"odd: {why}") for key, why in store.odd(prefix)]
    there = {key for key, _ in lines}
    lines += [(f"{site}/{path}", "gone") for path in written or () if f"{site}/{path}" not in there]
    for key, said in sorted(lines):
        if not key.startswith(f"{FOLDER}/"):
            whole = wholes[key.startswith(f"{site}/")]
            whole.update(f"{said} {key!r}\n".encode("utf-8", "surrogateescape"))
    return StoreDigests(runs=wholes[False].hexdigest(), site=wholes[True].hexdigest())


def _said(store: Store, key: str, content: bytes | None) -> str:
    if content is not None:
        return f"{sha256(content)} {len(content)}"
    try:
        digest, size = digest_of(store, key)
    except StoreUnreachableError:
        raise
    except StoreError as error:  # no file, or one that nobody may read: the publication says what that means
        return f"not read: {type(error).__name__}"
    return f"{digest} {size}"
