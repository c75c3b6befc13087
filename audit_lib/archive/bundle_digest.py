"""One digest over all files of a run, so that two looks at it can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from audit_lib.digesting_stream import digest_of
from audit_lib.errors import NotFoundError
from audit_lib.store import LocalStore, Store
from audit_lib.store.versions import FirstVersions


class BundleDigest(NamedTuple):
    """The digest, and how much it is over."""

    sha256: str
    files: int
    bytes: int


def digest_over(
    digests: Mapping[str, str], sizes: Mapping[str, int], odd: Iterable[str] = ()
) -> BundleDigest:
    """Return the digest over files whose own digests are known.

    Of lines of SHA-256, size and path, in the order of paths. What no whole run has makes it another one.

    Parameters
    ----------
    digests, sizes : mapping
        Of each file, by its path in the run.
    odd : iterable of str
        Symbolic links and what else is no file, and what came over a file in a bucket with versions.
    """
    whole = hashlib.sha256()
    for path in sorted(digests):
        whole.update(f"{digests[path]} {sizes[path]} {path}\n".encode("utf-8", "surrogateescape"))
    for one in sorted(odd):
        whole.update(f"odd {one}\n".encode("utf-8", "surrogateescape"))
    return BundleDigest(whole.hexdigest(), len(digests), sum(sizes.values()))


def bundle_digest(store: Store) -> BundleDigest:
    """Read every file of a run, and return the digest over all of them.

    Parameters
    ----------
    store : Store
        Whose root is the run's folder.
    """
    digests: dict[str, str] = {}
    sizes: dict[str, int] = {}
    for path in store.list(""):
        try:
            digests[path], sizes[path] = digest_of(store, path)
        except NotFoundError:
            continue  # no regular file: a whole run has none, and its digest is that of a run without
    odd: list[str] = []
    if isinstance(store, LocalStore):
        odd += [path for path, _ in store.odd()]
    elif isinstance(store, FirstVersions):
        odd += [f"{one.kind} {one.key}" for one in store.later("")]
    return digest_over(digests, sizes, odd)
