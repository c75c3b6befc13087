"""Tables of a run encrypted row by row, each with the key of whom it is about.

A stored table is a header and a Parquet table: for each set of people the names of their keys, and their rows,
encrypted with AES-256 in SIV mode (RFC 5297), which needs no random nonce: the same rows, keys and place give the same
bytes. The digests of records and manifest are of what is stored, so that they hold when a key is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.errors import EvidenceError, InputError, WithheldError
from audit_lib.large_file import Content, bytes_of
from audit_lib.privacy.applicant_keys import KEYS, ApplicantKeys, combined
from audit_lib.privacy.levels import is_withheld
from audit_lib.privacy.rows_csv import as_it_was, csv_lines
from audit_lib.records import parquet_source, write_table

HEADER: Final = b"audit-sealed-table/1\n"
_SCHEMA: Final = b"schema"
_PLACE: Final = "row"
_STORED: Final = pa.schema([("keys", pa.list_(pa.string())), ("sealed", pa.binary())])

People = frozenset[str]
Read = Callable[[str, str], bytes]
"""Returns an artefact of a stage, decrypted."""


@dataclass(frozen=True)
class Owners:
    """Whom the variants and requests of a run are about: ids of applications."""

    variants: Mapping[str, People]
    requests: Mapping[str, People]

    @classmethod
    def among(cls, variants: Content, pairs: Content | None) -> Owners:
        """Read them off the artefacts of the stage ``variants``."""
        table = pq.read_table(
            parquet_source(variants), columns=["variant_id", "request_id", "application_id"]
        )
        of_variant: dict[str, People] = {}
        of_request: dict[str, set[str]] = defaultdict(set)
        for row in table.to_pylist():
            of_variant[row["variant_id"]] = frozenset({row["application_id"]})
            of_request[row["request_id"]].add(row["application_id"])
        if pairs is not None:
            asked = pq.read_table(parquet_source(pairs), columns=["request_id", "first", "second"])
            for row in asked.to_pylist():
                of_request[row["request_id"]] |= of_variant[row["first"]] | of_variant[row["second"]]
        return cls(of_variant, {name: frozenset(people) for name, people in of_request.items()})


@dataclass
class Vault:
    """Seals the tables of one run as they are written, and opens them as they are read.

    Parameters
    ----------
    keys : ApplicantKeys or None
        None where the environment names none: then nothing is written, and nothing can be read.
    read : callable
        Returns an artefact of the run.
    skips_erased : bool
        Whether tables are read without the rows of people who were erased; else they cannot be read.
    """

    keys: ApplicantKeys | None
    read: Read
    skips_erased: bool = False
    _owners: Owners | None = field(default=None)

    def seal(self, path: str, content: Content, made: Mapping[str, Content] | None = None) -> Content:
        """Return an artefact as it is stored; what holds no rows of people as it is.

        Parameters
        ----------
        path : str
            In the run.
        content : bytes or LargeFile
            The artefact.
        made : mapping of str to these, optional
            The artefacts that its stage makes with it.
        """
        if not is_withheld(path, "redacted"):
            return content
        if self.keys is None:
            raise InputError(
                f"privacy.keys: {KEYS} is not set, so there are no keys to encrypt the rows of people with"
            )
        if path.startswith("variants/") and made is not None and "variants.parquet" in made:
            self._owners = Owners.among(made["variants.parquet"], made.get("pairs.parquet"))
        csv = path.endswith(".csv")
        table = _lines(bytes_of(content)) if csv else pq.read_table(parquet_source(content))
        rows: dict[People, list[int]] = defaultdict(list)
        for place, people in enumerate(self._people(path, table)):
            rows[people].append(place)
        batch = table.append_column(_PLACE, pa.array(range(len(table)), pa.int64()))
        names, sealed = [], []
        for people, places in rows.items():
            own = sorted(self.keys.name_of(one) for one in people)
            names.append(own)
            part = batch.take(places).combine_chunks().to_batches()
            sealed.append(self._encrypted(path, own, part[0].serialize().to_pybytes()))
        order = sorted(range(len(names)), key=lambda place: names[place])
        stored = pa.table(
            [pa.array([names[i] for i in order], _STORED[0].type), pa.array([sealed[i] for i in order])],
            schema=_STORED,
        )
        shape = batch.schema.remove_metadata().serialize().to_pybytes()
        size = len(shape).to_bytes(8, "big")
        return b"".join((HEADER, size, shape, bytes_of(write_table(stored))))

    def open(self, path: str, content: bytes) -> bytes:
        """Return a stored artefact as it was made.

        Raises
        ------
        WithheldError
            If a key that it needs was erased, or there are none here.
        EvidenceError
            If it is not what was sealed with these keys.
        """
        if not content.startswith(HEADER):
            return content
        if self.keys is None:
            raise WithheldError(f"{path}: is encrypted, and {KEYS} is not set here")
        schema, stored = _stored(path, content)
        parts = []
        for row in stored.to_pylist():
            if self.skips_erased and None in map(self.keys.key, row["keys"]):
                continue
            plain = self._decrypted(path, row["keys"], row["sealed"])
            parts.append(pa.ipc.read_record_batch(pa.py_buffer(plain), schema))
        table = pa.Table.from_batches(parts, schema).sort_by(_PLACE).drop_columns([_PLACE])
        if path.endswith(".csv"):
            return "".join(table["line"].to_pylist()).encode()
        return bytes_of(write_table(table))

    def opens(self, stored: bytes) -> bool:
        """Return whether the keys of everybody in a stored artefact are here."""
        return self.keys is not None and names_in(stored) <= self.keys.names()

    def _people(self, path: str, table: pa.Table) -> Iterable[People]:
        names = set(table.column_names)
        if path.startswith("sample/"):
            return [frozenset({one}) for one in _column(path, table, "application_id")]
        owners = self._of_run()
        found: list[People] = [frozenset()] * len(table)
        for column, known in (
            ("application_id", None),
            ("variant_id", owners.variants),
            ("first", owners.variants),
            ("second", owners.variants),
            ("request_id", owners.requests),
        ):
            if column in names:
                values = table[column].to_pylist()
                found = [
                    people | (frozenset({one}) if known is None else known.get(one, frozenset()))
                    for people, one in zip(found, values, strict=True)
                ]
        if not names & {"application_id", "variant_id", "first", "request_id"}:
            raise EvidenceError(f"{path}: nothing in it says whose rows these are, so it cannot be encrypted")
        return found

    def _of_run(self) -> Owners:
        if self._owners is None:
            try:
                pairs: bytes | None = self.read("variants", "pairs.parquet")
            except EvidenceError:
                pairs = None
            self._owners = Owners.among(self.read("variants", "variants.parquet"), pairs)
        return self._owners

    def _encrypted(self, path: str, names: Sequence[str], plain: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV

        assert self.keys is not None
        if not names:
            return plain  # a row about nobody, such as a canary
        key = combined([self.keys.make(name) for name in names])
        return AESSIV(key).encrypt(plain, [path.encode(), *(name.encode() for name in names)])

    def _decrypted(self, path: str, names: Sequence[str], sealed: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV

        assert self.keys is not None
        if not names:
            return sealed
        keys = [self.keys.key(name) for name in names]
        known = [key for key in keys if key is not None]
        if len(known) < len(keys):
            raise WithheldError(f"{path}: rows of it were erased")
        try:
            return AESSIV(combined(known)).decrypt(
                sealed, [path.encode(), *(name.encode() for name in names)]
            )
        except InvalidTag:
            raise EvidenceError(f"{path}: rows of it are not what was encrypted with their keys") from None


def names_in(content: bytes) -> set[str]:
    """Return the names of the keys that a stored artefact is encrypted with."""
    return {name for names in names_together(content) for name in names}


def names_together(content: bytes) -> list[list[str]]:
    """Return the names of the keys that each part of a stored artefact is encrypted with: without one, it is gone."""
    if not content.startswith(HEADER):
        return []
    _, stored = _stored("the table", content)
    found: list[list[str]] = stored["keys"].to_pylist()
    return found


def parts_of(content: bytes) -> tuple[bytes, bytes]:
    """Return the schema of an encrypted table, and the Parquet table that holds its encrypted rows."""
    start = len(HEADER) + 8
    size = int.from_bytes(content[len(HEADER) : start], "big")
    return content[start : start + size], content[start + size :]


def _stored(path: str, content: bytes) -> tuple[pa.Schema, pa.Table]:
    shape, rows = parts_of(content)
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(shape))
        stored = pq.read_table(parquet_source(rows), schema=_STORED)
    except (pa.ArrowException, OSError) as error:
        raise EvidenceError(f"{path}: is no encrypted table ({type(error).__name__})") from None
    return schema, stored


def _column(path: str, table: pa.Table, name: str) -> list[str]:
    if name not in table.column_names:
        raise EvidenceError(f"{path}: has no {name}, so nothing says with whose key its rows are encrypted")
    found: list[str] = table[name].to_pylist()
    return found


def _lines(content: bytes) -> pa.Table:
    """Return ``scores.csv`` as a table of lines, each with its variant; the heading is about nobody."""
    head, end, body = content.decode().partition("\n")
    lines, variants = [head + end], [""]
    for line in csv_lines(body):
        lines.append(line[0])
        variants.append(as_it_was(line[1]))
    return pa.table({"variant_id": pa.array(variants), "line": pa.array(lines)})
