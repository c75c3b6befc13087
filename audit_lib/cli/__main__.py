"""``python -m audit_lib.cli``: the same as ``audit``."""

from audit_lib.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
