"""A run as a whole: which one it is, whether its stages are those it must have, and whether its times fit."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Any, Sequence

from verifier.files import MANIFEST, SEALED, SUCCESS, Files, check_files, stage_of
from verifier.findings import Verdict
from verifier.journal import check_journal
from verifier.recount import recount
from verifier.rejection import check_rejection
from verifier.report_tables import check_report
from verifier.shapes import instant, instant_of
from verifier.sign_offs import check_sign_offs
from verifier.signatures import check_order, check_signatures
from verifier.source import Source
from verifier.strict_json import OddError, canonical
from verifier.trust import Trust

_IDENTITY = ("audit", "window", "spec_digest")


class Given:
    """What the verifier brings along: trust, heads, the journal's folder, the time, and whether stamps were checked."""

    def __init__(
        self, trust: Trust, heads: Sequence[str], journal: str, now: datetime, *, stamps: bool
    ) -> None:
        self.trust, self.heads, self.journal, self.now, self.stamps = trust, heads, journal, now, stamps


def check_run(source: Source, verdict: Verdict, given: Given) -> None:
    """Check a run's folder."""
    files = Files(source, verdict)
    verdict.files = len(files.digests)
    manifest, failed = check_files(files)
    identity = _identity(files, manifest)
    path = MANIFEST if failed is None else f"attempts/{failed['number']}/manifest.json"
    verdict.manifest_sha256 = files.digests.get(path, "")
    if manifest is not None:
        verdict.identity = {
            "audit": manifest["audit"],
            "window": manifest["window"],
            "design": manifest["spec_digest"],
            "outcome": manifest["outcome"],
        }
    if failed is not None:
        first = failed["faults"][0]
        what = f"{first['stage']}: {first['type']}: {first['message']}"
        verdict.failed_attempt = f"attempt {failed['number']} {failed['outcome']} in {what}"
    elif manifest is not None:
        if verdict.level != "digests":
            _check_stages(files, manifest)
        if "records" not in manifest:
            verdict.notes.append("format 1: no digest covers the times in the records of stages")
    _check_order(files)
    recount(files)
    check_report(files)
    if identity is None:
        verdict.notes.append("the signatures cannot be checked without the design")
        return
    _check_given(files, identity, given, sealed=failed is None)


def _check_given(files: Files, identity: dict[str, str], given: Given, *, sealed: bool) -> None:
    trust = given.trust
    signed = check_signatures(files, identity, trust, sealed=sealed, stamps=given.stamps)
    heads = [one.head for one in signed.values() if one.head is not None]
    heads += [{"sha256": head} for head in given.heads] + trust.heads(identity["audit"])
    # That an attempt failed nobody signs; the journal's heads, which are known or signed, say it.
    of_failed = not sealed and "result" in trust.required
    required = bool(given.heads) or of_failed or "journal" in trust.required
    asked = check_journal(files, identity, given.journal, heads, required=required)
    check_order(files, signed, asked)
    if sealed:
        check_sign_offs(files, identity, trust, given.now)
        check_rejection(files, identity, trust, given.now)


def _identity(files: Files, manifest: dict[str, Any] | None) -> dict[str, str] | None:
    """Return which run it is, as its plan says; the spec and the files that it names must have that digest."""
    find = files.verdict.find
    if "plan/plan.json" not in files and manifest is not None and "plan" not in manifest["stages"]:
        files.verdict.notes.append("there was no plan yet")
        return {name: manifest[name] for name in _IDENTITY}
    try:
        plan, spec = files.json("plan/plan.json"), files.json("plan/spec.json")
        found = {name: plan[name] for name in _IDENTITY}
        audit = spec["audit"]
        if not all(isinstance(one, str) for one in found.values()):
            raise OddError("says no run")
    except (OddError, KeyError, TypeError):
        find("design", "plan", "the plan cannot be read")
        return None
    inputs = {p[len("plan/inputs/") :]: files.digests[p] for p in files.below("plan/inputs")}
    digest = hashlib.sha256(files.read("plan/spec.json") + canonical(inputs)).hexdigest()
    if digest != found["spec_digest"]:
        find(
            "design",
            "plan/spec.json",
            f"spec and inputs have the digest {digest}, not {found['spec_digest']}",
        )
    if audit != found["audit"]:
        find("design", "plan/plan.json", "names another audit than its spec")
    if plan.get("inputs") is not None and not isinstance(plan["inputs"], dict):
        find("design", "plan/plan.json", "does not say which files the spec names")
    for name, value in found.items():
        if manifest is not None and manifest[name] != value:
            find("manifest", MANIFEST, f"its {name} is not that of the plan")
    return found


def _check_stages(files: Files, manifest: dict[str, Any]) -> None:
    """The stages are those of such a run: every shard that was planned, and what follows a validation that held."""
    find = files.verdict.find
    try:
        passed = files.json("validation/validation.json")["success"]
        shards = _shards(files)
    except (OddError, KeyError, TypeError, AttributeError, ValueError):
        find("manifest", MANIFEST, "the outcome cannot be checked")
        return
    if manifest["outcome"] != ("complete" if passed is True else "validation_failed"):
        find("manifest", MANIFEST, "its outcome is not what the validation says")
    after = ["validation", "metrics", "report"] if passed is True else ["validation"]
    needed = [*SEALED[: SEALED.index("scores")], *(f"scores/{shard}" for shard in shards), *after]
    listed = {stage_of(entry["path"]) for entry in manifest["artefacts"]}
    if manifest["stages"] != needed or listed != set(needed):
        find("manifest", MANIFEST, f"its stages are not those of such a run: {', '.join(needed)}")


def _shards(files: Files) -> list[int]:
    if "variants/shards.json" in files:
        return sorted(int(number[:9]) for number in files.json("variants/shards.json")["shards"])
    found = (re.fullmatch(rf"scores/(\d+)/{SUCCESS}", path) for path in files.below("scores"))
    return sorted(int(one[1]) for one in found if one)


def _check_order(files: Files) -> None:
    """No stage ends before it began, no score is asked for before the plan, nothing ends after its sealing."""
    find = files.verdict.find
    times = {}
    for path in files.digests:
        stage = path[: -len(SUCCESS) - 1]
        if not path.endswith(f"/{SUCCESS}") or stage.split("/")[0] not in (*SEALED, "evidence"):
            continue
        record = files.record(stage)
        if record is None:
            continue
        try:
            times[stage] = tuple(instant_of(record[name]) for name in ("started_at", "finished_at"))
            _check_form(record)
        except OddError as error:
            find("record", path, f"its times: {error}")
    for stage, (began, ended) in times.items():
        if began > ended:
            find("record", f"{stage}/{SUCCESS}", "the stage ended before it began, says the record")
        if "evidence" in times and ended > times["evidence"][1]:
            find(
                "record",
                f"evidence/{SUCCESS}",
                f"the evidence was sealed before {stage} ended, say the records",
            )
    asked = [began for stage, (began, _) in times.items() if stage.startswith("scores/")]
    if "plan" in times and asked and times["plan"][1] > min(asked):
        find("record", f"plan/{SUCCESS}", "the plan was written after scoring began, say the records")


def _check_form(record: dict[str, Any]) -> None:
    for name in ("started_at", "finished_at"):
        instant(record[name], name)
