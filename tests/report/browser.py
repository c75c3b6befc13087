"""A real browser that reads pages from disk, without a network."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--allow-file-access-from-files",
)  # fmt: skip


def dump(page: Path, *, width: int = 1440, dark: bool = False, budget_ms: int = 60_000) -> str:
    """Return the page's DOM once its scripts are done."""
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, *scheme, f"--user-data-dir={page.parent / 'profile'}",
         f"--window-size={max(width, 500)},1000", f"--virtual-time-budget={budget_ms}", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    return done.stdout
