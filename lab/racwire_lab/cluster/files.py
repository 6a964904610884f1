"""Files that programs of the nodes may be reading at this very moment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Replace a file in one step: nobody reads a part of it."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    os.replace(fresh, path)
