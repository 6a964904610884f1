"""Take pictures of the HTML report in headless Chromium: its first screenful, and its first printed sheet."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

DESKTOP = "1280,1500"
_DOTS_PER_INCH = "100"
_WITHIN_S = 60


def picture_of(page: Path, target: Path) -> bool:
    """Take a picture of a page. Return False when Chromium is not installed. Raises CalledProcessError."""
    return _browse(page, ["--hide-scrollbars", f"--window-size={DESKTOP}", f"--screenshot={target}"])


def print_of(page: Path, target: Path) -> bool:
    """Take a picture of a page's first printed sheet.

    Return False without Chromium, or without pdftoppm of poppler-utils. Raises CalledProcessError.
    """
    to_picture = shutil.which("pdftoppm")
    with tempfile.TemporaryDirectory(prefix="racwire-print-") as directory:
        printed = Path(directory) / "page.pdf"
        if to_picture is None or not _browse(page, ["--no-pdf-header-footer", f"--print-to-pdf={printed}"]):
            return False
        command = [to_picture, "-png", "-singlefile", "-r", _DOTS_PER_INCH, printed, target.with_suffix("")]
        subprocess.run(command, check=True, capture_output=True, timeout=_WITHIN_S)
    return True


def _browse(page: Path, options: Sequence[str]) -> bool:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        return False
    with tempfile.TemporaryDirectory(prefix="racwire-chromium-") as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += [f"--user-data-dir={profile}", *options, page.resolve().as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=_WITHIN_S)
    return True
