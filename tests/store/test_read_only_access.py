"""A regulator reads a run, by a policy or by links, verifies it, and can change nothing: on a real store."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.cli.main import main
from audit_lib.errors import StoreError
from audit_lib.pipeline import open_run, run_all
from audit_lib.run import Run
from audit_lib.store import open_store
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit
from tests.servers import S3Server
from tests.specs import REPOSITORY

POLICY = REPOSITORY / "docs/howto/regulator-policy.json"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a folder with one sealed run."""
    folder = tmp_path_factory.mktemp("sealed")
    spec = recorded_audit(folder, n=64, score={"shards": 1}, measure={"metrics": ["impact_ratio"]})
    run_all(open_run(spec, WEEK, str(folder / "store")))
    return folder / "store"


@pytest.fixture
def run(sealed: Path, s3: str) -> Run:
    """The run in a bucket, written with the owner's credentials."""
    here, there = open_store(str(sealed)), open_store(s3)
    for key in here.list(""):
        there.put(key, here.get(key))
    (design,) = {"/".join(key.split("/")[:3]) for key in here.list("") if "evidence" in key}
    return Run.load(there.uri(design))


def credentials_under(policy: str, server: S3Server) -> dict[str, str]:
    """Make a user with this policy alone."""
    import boto3

    iam = boto3.client(
        "iam",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name="us-east-1",
    )
    name = f"regulator-{time.time_ns()}"
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="read", PolicyDocument=policy)
    made = iam.create_access_key(UserName=name)["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}


def writes(client: Any, bucket: str, key: str) -> dict[str, Callable[[], Any]]:
    """Everything that would change something, by its name."""
    expire = {
        "Rules": [{"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}]
    }
    return {
        "put": lambda: client.put_object(Bucket=bucket, Key="new", Body=b"x"),
        "overwrite": lambda: client.put_object(Bucket=bucket, Key=key, Body=b"x"),
        "copy": lambda: client.copy_object(
            Bucket=bucket, Key="new", CopySource={"Bucket": bucket, "Key": key}
        ),
        "multipart": lambda: client.create_multipart_upload(Bucket=bucket, Key="new"),
        "delete": lambda: client.delete_object(Bucket=bucket, Key=key),
        "lifecycle": lambda: client.put_bucket_lifecycle_configuration(
            Bucket=bucket, LifecycleConfiguration=expire
        ),
        "versioning": lambda: client.put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration={"Status": "Suspended"}
        ),
        "policy": lambda: client.put_bucket_policy(Bucket=bucket, Policy="{}"),
        "delete bucket": lambda: client.delete_bucket(Bucket=bucket),
        "another bucket": lambda: client.create_bucket(Bucket=f"{bucket}-2"),
    }


def test_the_example_policy_reads_and_verifies_and_changes_nothing(
    run: Run,
    s3_server: S3Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import boto3
    from botocore.exceptions import ClientError

    root = run.uri.removesuffix(f"/{run.key.prefix}")
    bucket = root.removeprefix("s3://").split("/")[0]
    before = open_store(root).listed("")
    variables = credentials_under(POLICY.read_text().replace("BUCKET", bucket), s3_server)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    give_up = time.monotonic() + 60
    while True:  # a policy takes some seconds until every part of the server knows it
        try:
            assert open_store(root).list("")
            break
        except StoreError:
            assert time.monotonic() < give_up
            time.sleep(0.2)
    assert main(["verify", run.uri]) == 0
    assert main(["verify", "--all", root, "--processes", "1"]) == 0
    assert (
        "what was found cannot be kept, so that all is verified in full each time" in capsys.readouterr().out
    )
    assert main(["verify", "--all", root, "--processes", "1", "--kept", str(tmp_path / "kept")]) == 0
    assert main(["verify", "--all", root, "--processes", "1", "--kept", str(tmp_path / "kept")]) == 0
    assert "2 looked at by the store's listing alone" in capsys.readouterr().out
    client = boto3.client(
        "s3",
        endpoint_url=s3_server.endpoint,
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
        region_name="us-east-1",
    )
    key = client.list_objects_v2(Bucket=bucket)["Contents"][0]["Key"]
    for name, write in writes(client, bucket, key).items():
        with pytest.raises(ClientError) as refused:
            write()
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403, name
    many = client.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}]})
    assert [one["Code"] for one in many["Errors"]] == ["AccessDenied"]
    for name in variables:
        monkeypatch.setenv(name, {"AWS_ACCESS_KEY_ID": s3_server.access_key}.get(name, s3_server.secret_key))
    assert open_store(root).listed("") == before


def test_links_fetch_the_run_and_its_journal_and_nothing_else(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl here")
    assert main(["presign", run.uri, "--hours", "1", "--out", str(tmp_path / "links")]) == 0
    assert (tmp_path / "links").stat().st_mode & 0o777 == 0o600
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name)
    (tmp_path / "there").mkdir()
    subprocess.run([curl, "-s", "--config", "../links"], cwd=tmp_path / "there", check=True)
    assert main(["verify", str(tmp_path / "there" / run.key.prefix)]) == 0
    assert "journal: 1 attempt (1 completed)" in capsys.readouterr().out
    lines = (tmp_path / "links").read_text().splitlines()
    listing = next(one for one in lines if "/evidence" not in one and "listing.xml: " in one)
    said = subprocess.run(
        [curl, "-s", "-f", listing.split(": ", 1)[1]], capture_output=True, check=True
    ).stdout
    assert said.count(b"<Key>") == sum(
        path.is_file() for path in (tmp_path / "there" / run.key.prefix).rglob("*")
    )
    link = next(one.split('"')[1] for one in lines if one.startswith("url"))
    for method in ("PUT", "DELETE"):
        asked = subprocess.run(
            [curl, "-s", "-f", "-X", method, "-d", "x", link], capture_output=True, check=False
        )
        assert asked.returncode == 22, "refused"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["s3://bucket/audit/window/design", "--hours", "169"], "at most 168 hours"),
        (["folder/audit/window/design"], "is no run in a bucket"),
        (["s3://bucket"], "is no run in a bucket"),
    ],
)
def test_what_gives_no_links_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert main(["presign", *arguments, "--out", str(tmp_path / "links")]) == 2
    assert why in capsys.readouterr().err and not (tmp_path / "links").exists()
