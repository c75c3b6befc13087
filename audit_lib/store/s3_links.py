"""Links with which somebody reads objects of a bucket without an account there, for some hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from audit_lib.errors import InputError, NotFoundError
from audit_lib.store.s3 import S3Store

LONGEST: Final = timedelta(days=7)
"""Signatures of version 4 are not valid for longer."""


@dataclass(frozen=True, slots=True)
class PresignedLinks:
    """Links to the listing of folders, and to each object in them.

    Parameters
    ----------
    listings : mapping of str to str
        Folder -> link. A listing has at most 1,000 names, the first.
    objects : mapping of str to str
        Key -> link.
    until : datetime
        When they end, by the store's clock; earlier if the credentials that signed them end.
    """

    listings: dict[str, str]
    objects: dict[str, str]
    until: datetime


def presigned_links(
    store: S3Store, folders: Sequence[str], valid: timedelta, now: datetime
) -> PresignedLinks:
    """Return links to all that lies in some folders now.

    Raises
    ------
    InputError
        If they are to be valid longer than S3 allows.
    NotFoundError
        If nothing lies in the first folder.
    """
    if not timedelta() < valid <= LONGEST:
        raise InputError(f"links are valid for at most {LONGEST.days * 24} hours; make new ones after it")
    seconds = int(valid.total_seconds())
    keys = [key for folder in folders for key in store.list(folder)]
    if not any(key.startswith(f"{folders[0]}/") for key in keys):
        raise NotFoundError(f"{store.uri(folders[0])}: nothing is here")

    def of(method: str, **what: str) -> str:
        def sign(s3: object) -> str:
            link: str = s3.generate_presigned_url(  # type: ignore[attr-defined]  # boto3 has no types
                method, Params={"Bucket": store.bucket, **what}, ExpiresIn=seconds, HttpMethod="GET"
            )
            return link

        return store.ask(sign, folders[0])

    return PresignedLinks(
        listings={one: of("list_objects_v2", Prefix=f"{store.full_key(one)}/") for one in folders},
        objects={key: of("get_object", Key=store.full_key(key)) for key in keys},
        until=now.astimezone(UTC) + valid,
    )


def curl_config(links: PresignedLinks, about: Sequence[str]) -> str:
    """Return the links as a configuration of curl that fetches every object into a folder of its own.

    Raises
    ------
    InputError
        If the name of an object holds a character that no name here has.
    """
    lines = [f"# {one}" for one in about]
    lines += ["create-dirs", "fail", "show-error"]
    listings = {f"{folder}/listing.xml": link for folder, link in links.listings.items()}
    lines += [f"# {name}: {link}" for name, link in listings.items()]
    for key, link in links.objects.items():
        if not key.isprintable() or '"' in key or "\\" in key:
            raise InputError(f"{key!a}: no artefact has such a name; look at what somebody put there first")
        lines += [f'url = "{link}"', f'output = "{key}"']
    return "\n".join(lines) + "\n"
