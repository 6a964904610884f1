"""The environment of a user with nothing configured, in a terminal with all colours."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RACWIRE = str(Path(sys.executable).with_name("racwire"))
"""The command as its user has it."""


@contextlib.contextmanager
def new_user() -> Iterator[dict[str, str]]:
    """An environment with a home of its own, which is removed again."""
    with tempfile.TemporaryDirectory(prefix="racwire-bench-") as home:
        yield {
            "PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin",
            "HOME": home,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
        }
