"""The HTML report as a reader sees it: its first screenful in headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

DESKTOP = "1280,1500"
_WITHIN_S = 60


def picture_of(page: Path, target: Path) -> bool:
    """Take a picture of a page; False where no Chromium is installed. Raises CalledProcessError."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        return False
    with tempfile.TemporaryDirectory(prefix="racwire-chromium-") as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command += [f"--user-data-dir={profile}", f"--window-size={DESKTOP}", f"--screenshot={target}"]
        subprocess.run([*command, page.resolve().as_uri()], check=True, capture_output=True, timeout=_WITHIN_S)
    return True
