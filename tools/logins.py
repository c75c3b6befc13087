"""Passwords of Airflow's simple login: the admin's as given, and one of its own for every other user.

Users that are there keep their passwords; those that are not named any more lose theirs.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from pathlib import Path


def logins(users: str, admin: str, kept: dict[str, str]) -> dict[str, str]:
    """Return the password of each user of a list such as ``admin:admin,ada:user``."""
    names = [entry.split(":")[0].strip() for entry in users.split(",") if entry.strip()]
    return {name: admin if name == "admin" else kept.get(name) or secrets.token_urlsafe(18) for name in names}


def main(path: Path) -> None:
    """Write the file, readable by Airflow's user alone."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        kept = {}
    made = logins(
        os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"], os.environ["AIRFLOW_ADMIN_PASSWORD"], kept
    )
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(made, file)
    new.replace(path)
    print(f"logins: {', '.join(made)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
