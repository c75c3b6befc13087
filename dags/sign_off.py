"""Asks an auditor to sign or to reject a sealed run, in a DAG run of its own that may wait for weeks.

``ask_for_sign_off`` starts one run of ``sign_off`` for each newly sealed audit that has a report. Nothing waits
for the auditor: the report is published "not signed" meanwhile, and the next window is audited on time.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, AssetAny, Param, get_current_context, task
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from audit_tasks import (
    archived_assets,
    event_extras,
    in_task,
    refuse_unknown_conf,
    signed_asset,
    small,
    tell,
)

WAIT_DAYS = int(os.environ.get("AUDIT_SIGN_OFF_DAYS", "60"))
AUDITORS = [name.strip() for name in os.environ.get("AUDIT_AUDITORS", "").split(",") if name.strip()]


APPROVE, REJECT = "Approve", "Reject"


class AskAuditor(HITLOperator):
    """Asks with the run's own report, key figures and attestations, which are not known before the task runs."""

    def execute(self, context: Any) -> Any:
        """Put the question."""
        self.fill()
        return super().execute(context)

    def execute_complete(self, context: Any, event: Any) -> Any:
        """Take the answer; `archive` holds it to what the policy asks then."""
        self.params = ParamsDict({name: Param(None) for name in event.get("params_input") or {}})
        return super().execute_complete(context, event)

    def fill(self) -> None:
        """Make the form of the run. Its fields are checked when it is archived: the API takes any value."""
        from audit_lib.pipeline import load_run
        from audit_lib.signoff.form import form_of

        with in_task():
            form = form_of(load_run(named_run(), notify=tell), os.environ.get("AUDIT_SITE_URL", ""))
        self.subject, self.body = form.subject, form.body
        fields = {
            "auditor": Param("", type=["null", "string"], title="Your full name"),
            "organisation": Param("", type=["null", "string"], title="Your organisation"),
        }
        for name, sentence in form.attestations.items():
            fields[name] = Param(False, type=["null", "boolean"], title=sentence)
        fields["remarks"] = Param("", type=["null", "string"], title="Remarks, printed in the signed report")
        fields["reason"] = Param(
            "", type=["null", "string"], title="To reject: why. Every page of the run shows it"
        )
        self.params = ParamsDict(fields)


@task
def prepare() -> dict[str, str]:
    """Check that there is something to sign, and a key to sign with, before anybody is asked."""
    from audit_lib.canonical import sha256
    from audit_lib.pipeline import load_run
    from audit_lib.signoff import read_rejection, read_sign_offs

    with in_task():
        refuse_unknown_conf()
        check_keys()
        run = load_run(named_run(), notify=tell)
        if read_sign_offs(run):
            raise AirflowSkipException(
                f"{run.uri}: is signed already; `audit sign --supersede` adds a statement"
            )
        if read_rejection(run) is not None:
            raise AirflowSkipException(f"{run.uri}: was rejected, and that stands; `audit show` says by whom")
        if not run.stage("report").is_complete():
            raise AirflowSkipException(f"{run.uri}: failed its validation, so there is no report to sign")
        return small({"run": run.uri, "manifest_sha256": sha256(run.stage("evidence").read("manifest.json"))})


@task(retries=0)
def archive(answer: dict[str, Any]) -> dict[str, str]:
    """Append the auditor's signature, or rejection with its reason, to the run."""
    from audit_lib.pipeline import load_run
    from audit_lib.signoff import load_private_key

    with in_task():
        user = answer["responded_by_user"] or {}
        account = str(user.get("name") or user.get("id") or "unknown")
        run, key = load_run(named_run(), notify=tell), load_private_key(key_path(account))
        append = append_signature if answer["chosen_options"] == [APPROVE] else append_rejection
        digest = append(run, answer["params_input"], account, key)
        get_current_context()["outlet_events"][signed_asset()].extra = small({"run": run.uri})
        return small({"run": run.uri, "statement_sha256": digest})


def append_signature(run: Any, given: dict[str, Any], account: str, key: Any) -> str:
    """Sign; return the statement's digest."""
    from audit_lib.errors import InputError
    from audit_lib.signoff import AuditorAnswers, attestations, sign_off

    if (given.get("reason") or "").strip():
        raise InputError(
            f"{APPROVE} was chosen, and a reason to reject was given: nothing was signed; answer again"
        )
    said = AuditorAnswers(
        auditor=given.get("auditor") or "",
        organisation=given.get("organisation") or "",
        attested=tuple(name for name in attestations(run) if given.get(name) is True),
        remarks=given.get("remarks") or "",
        signer="service",
        account=account,
    )
    return sign_off(run, said, key).digest


def append_rejection(run: Any, given: dict[str, Any], account: str, key: Any) -> str:
    """Reject; return the statement's digest. Remarks go into a signed report, and there is none."""
    from audit_lib.errors import InputError
    from audit_lib.signoff import RejectionAnswers, reject

    if (given.get("remarks") or "").strip():
        raise InputError(
            f"{REJECT} was chosen, and remarks were given: write them as the reason, and answer again"
        )
    said = RejectionAnswers(
        auditor=given.get("auditor") or "",
        organisation=given.get("organisation") or "",
        reason=given.get("reason") or "",
        signer="service",
        account=account,
    )
    return reject(run, said, key).digest


def named_run() -> str:
    """Return the URI of the run that this DAG run is about."""
    run: str | None = get_current_context()["params"].get("run")
    if not run:
        raise AirflowFailException("no run: start this DAG with the URI of a sealed run in `run`")
    return run


def key_path(account: str) -> Path:
    """Return where the private key is that signs for an account: the service's, or the one of that name."""
    path = _keys()
    if AUDITORS and account not in AUDITORS:
        raise AirflowFailException(f"{account} answered, and AUDIT_AUDITORS names {', '.join(AUDITORS)}")
    return path / f"{account}.key" if path.is_dir() else path


def check_keys() -> None:
    """Refuse to ask where an answer could not be signed."""
    if not (path := _keys()).is_dir():
        return
    if not AUDITORS:
        raise AirflowFailException(
            f"{path} is a folder with a key for each auditor, and AUDIT_AUDITORS names none"
        )
    if lacking := [name for name in AUDITORS if not key_path(name).is_file()]:
        raise AirflowFailException(
            f"{path}: no key of {', '.join(lacking)}; `audit keygen {path}/NAME.key` makes one"
        )


def _keys() -> Path:
    if not (path := os.environ.get("AUDIT_SIGNING_KEY")):
        raise AirflowFailException(
            "AUDIT_SIGNING_KEY is not set: `audit keygen FILE` makes a key; set it to the file's path on the workers, "
            "or to that of a folder with NAME.key for each of AUDIT_AUDITORS"
        )
    return Path(path)


@task
def unsigned() -> list[dict[str, Any]]:
    """List the newly sealed runs that have a report and no answer, each with the id of its DAG run."""
    with in_task():
        runs = sorted(
            {event["run"] for event in event_extras(get_current_context()) if event.get("reported")}
        )
        if not runs:
            raise AirflowSkipException("no newly sealed run has a report to sign")
        return small(
            [
                {
                    "conf": {"run": run},
                    "trigger_run_id": f"sealed__{hashlib.sha256(run.encode()).hexdigest()[:16]}",
                }
                for run in runs
            ]
        )


_assets = archived_assets()

with DAG(
    "ask_for_sign_off",
    description="Starts a sign-off for each newly sealed audit",
    doc_md=__doc__,
    schedule=AssetAny(*_assets) if _assets and os.environ.get("AUDIT_SIGNING_KEY") else None,
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["audit", "sign-off"],
):
    TriggerDagRunOperator.partial(
        task_id="start", trigger_dag_id="sign_off", skip_when_already_exists=True
    ).expand_kwargs(unsigned())

with DAG(
    "sign_off",
    description="An auditor signs a sealed run, or rejects it",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 5, tzinfo=UTC),
    catchup=False,
    max_active_runs=256,
    params={"run": Param(None, type=["null", "string"], title="Run", description="URI of a sealed run.")},
    tags=["audit", "sign-off"],
):
    ask = AskAuditor(
        task_id="ask",
        subject="Sign off {{ params.run }}",
        options=[APPROVE, REJECT],
        assigned_users=[{"id": name, "name": name} for name in AUDITORS] or None,
        response_timeout=timedelta(days=WAIT_DAYS),
    )
    archived = archive.override(outlets=[signed_asset()])(ask.output)
    prepare() >> ask >> archived
