"""The highest version of glibc's symbols that each ELF file of a directory needs, and whether any is too new.

    python -m bundle.symbols DIRECTORY

Prints each file; ends with exit code 1 where one needs more than glibc 2.17, the version of Oracle Linux 7.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LIMIT = (2, 17)
_NEEDED = re.compile(r"Name: GLIBC_(\d+)\.(\d+)")


def highest(file: Path) -> tuple[int, int] | None:
    """Return the version that a file needs; None for one that is no ELF file, (0, 0) for one that needs no glibc."""
    with file.open("rb") as content:
        if content.read(4) != b"\x7fELF":
            return None
    shown = subprocess.run(["readelf", "-V", file], capture_output=True, text=True, check=True).stdout
    return max(((int(major), int(minor)) for major, minor in _NEEDED.findall(shown)), default=(0, 0))


def main(directory: Path) -> int:
    """Print the versions, the highest last."""
    found = sorted(
        (version, str(path.relative_to(directory)))
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink() and (version := highest(path)) is not None
    )
    for (major, minor), name in found:
        print(f"GLIBC_{major}.{minor:<3} {name}")
    if not found or found[-1][0] > LIMIT:
        print(f"not every file is for glibc {LIMIT[0]}.{LIMIT[1]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
