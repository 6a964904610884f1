"""Runs the commands that record and print samples as processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def racwire(*words: str, stdin: int = subprocess.DEVNULL, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run `racwire` with these words, without the environment of the tests."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "racwire", *words],
        capture_output=True, text=True, timeout=60, check=False, stdin=stdin,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)}, **more,
    )  # fmt: skip
