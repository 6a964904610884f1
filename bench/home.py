"""The environment of a user without any settings, in a terminal with all colours."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RACWIRE = str(Path(sys.executable).with_name("racwire"))
"""The path of the installed command."""


@contextlib.contextmanager
def new_user() -> Iterator[dict[str, str]]:
    """Yield an environment with a home directory of its own, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="racwire-bench-") as home:
        yield {
            "PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin",
            "HOME": home,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
        }
