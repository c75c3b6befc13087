"""A key for each login that may sign or reject: NAME.key and NAME.key.pub in a folder; those that are there stay."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from audit_lib.signing.keys import generate_key, key_id, load_public_key

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]*")


def faults(auditors: list[str], users: str) -> list[str]:
    """Return why these cannot be the auditors: each has a login of its own that is allowed to answer."""
    roles = dict(entry.strip().split(":", 1) for entry in users.split(",") if ":" in entry)
    found = [] if auditors else ["AUDIT_AUDITORS names nobody"]
    for name in auditors:
        if not _NAME.fullmatch(name):
            found.append(f"{name!r}: a login has letters, digits and . _ @ - alone")
        elif name not in roles:
            found.append(f"{name}: has no login; add {name}:user to AIRFLOW_USERS")
        elif roles[name] == "viewer":
            found.append(f"{name}: a viewer cannot answer; make it {name}:user")
    return found


def main(folder: Path) -> None:
    """Make the keys that are not there."""
    auditors = [one.strip() for one in os.environ["AUDIT_AUDITORS"].split(",") if one.strip()]
    if wrong := faults(auditors, os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"]):
        raise SystemExit("\n".join(wrong))
    folder.mkdir(parents=True, exist_ok=True)
    for name in auditors:
        path = folder / f"{name}.key"
        public = path.with_name(f"{path.name}.pub") if path.exists() else generate_key(path)
        print(f"key of {name}: {public}, id {key_id(load_public_key(public))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
