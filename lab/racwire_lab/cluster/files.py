"""Write files that programs of the nodes may read at the same moment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Replace a file in one step, so that readers see the old or the new file only."""
    new_path = path.with_name(f".{path.name}.new")
    new_path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    os.replace(new_path, path)
