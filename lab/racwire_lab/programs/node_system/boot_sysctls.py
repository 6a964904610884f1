"""The kernel settings of a node at its boot: the kernel's own values, then those of the files of sysctl.

Only settings that the node has of its own are written: those of its network namespace, and those with a file that
stands for the kernel's (`own_sysctls`). A file of a node never changes the machine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from . import node
from .wanted import text_of

_DIRECTORIES = (node.ETC / "sysctl.d", Path("/run/sysctl.d"))
"""By precedence: of two files with the same name, only the first counts."""
_PROC = Path("/proc/sys")
_OF_INTERFACES = Path("net/ipv4/conf")
_BUFFER = 212_992
"""Bytes: the value of net.core.[rw]mem_* in a kernel that no file has changed."""


def main() -> None:
    """Set the values with which the node boots."""
    listed = text_of(node.HOME.resolve().parents[1] / "own_sysctls").split()
    own = [Path(path) for path in listed if "mem_" in path]
    filters = [path for path in _filters() if path.parent.name != "all"]
    for path in own:
        _write(path, str(_BUFFER))
    for path in filters:
        _write(path, "0")
    for name, value in _lines():
        for path in (*own, *filters, _OF_INTERFACES / "all/rp_filter"):
            if str(path) == name or ("*" in name and fnmatchcase(str(path), name)):
                _write(path, value)


def _filters() -> Iterator[Path]:
    for path in sorted((_PROC / _OF_INTERFACES).glob("*/rp_filter")):
        yield path.relative_to(_PROC)


def _lines() -> Iterator[tuple[str, str]]:
    """Yield the paths below /proc/sys, or patterns of them, with their values: patterns first, the last file last."""
    files = {path.name: path for place in reversed(_DIRECTORIES) for path in place.glob("*.conf")}
    found = []
    for name in sorted(files):
        for line in text_of(files[name]).splitlines():
            key, equals, value = line.strip().removeprefix("-").partition("=")
            if equals and not line.lstrip().startswith(("#", ";")):
                found.append((_path(key.strip()), value.strip()))
    yield from sorted(found, key=lambda line: "*" not in line[0])


def _path(key: str) -> str:
    first = next((c for c in key if c in "./"), "/")
    return key if first == "/" else key.translate(str.maketrans("./", "/."))


def _write(path: Path, value: str) -> None:
    with contextlib.suppress(OSError):
        (_PROC / path).write_text(f"{value}\n", encoding="ascii")
