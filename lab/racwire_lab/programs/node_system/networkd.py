"""The files of systemd-networkd: *.network, as systemd.network(5) describes them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import Path

from .wanted import Wanted, files_in, number, text_of

_SUFFIXES = {"K": 1024, "M": 1024**2, "G": 1024**3}

Sections = list[tuple[str, list[tuple[str, str]]]]


def read(directories: Sequence[Path], interfaces: Iterable[str]) -> list[Wanted]:
    """Return the configuration of each of these interfaces: the first file that matches decides."""
    files = [parse(text) for text in texts(directories)]
    found = []
    for interface in interfaces:
        for sections in files:
            if matches(sections, interface):
                found.append(wanted(sections, interface))
                break
    return found


def texts(directories: Sequence[Path]) -> list[str]:
    """Return the files in the order of their names, each with its drop-ins; of two with one name, the first
    directory's."""
    by_name: dict[str, Path] = {}
    for directory in directories:
        for path in files_in(directory):
            if path.suffix == ".network":
                by_name.setdefault(path.name, path)
    found = []
    for name in sorted(by_name):
        drop_ins: dict[str, Path] = {}
        for directory in directories:
            for path in files_in(directory / f"{name}.d"):
                if path.suffix == ".conf":
                    drop_ins.setdefault(path.name, path)
        found.append("\n".join(text_of(path) for path in (by_name[name], *(drop_ins[key] for key in sorted(drop_ins)))))
    return found


def parse(text: str) -> Sections:
    """Return the sections in their order; a section and a key may occur several times."""
    sections: Sections = []
    for line in text.replace("\\\n", " ").splitlines():
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            sections.append((line[1:-1], []))
        elif sections and "=" in line:
            name, _, value = line.partition("=")
            sections[-1][1].append((name.strip(), value.strip()))
    return sections


def matches(sections: Sections, interface: str) -> bool:
    """Whether [Match] selects that interface. A file without a name to match selects no interface here."""
    patterns = " ".join(_values(sections, "Match", "Name")).split()
    if not patterns:
        return False
    inverted = patterns[0].startswith("!")
    if inverted:
        patterns[0] = patterns[0][1:]
    return any(fnmatch.fnmatchcase(interface, pattern) for pattern in patterns) != inverted


def wanted(sections: Sections, interface: str) -> Wanted:
    """Return the configuration in a file for an interface that it matches."""
    sizes = _values(sections, "Link", "MTUBytes")
    addresses = (*_values(sections, "Network", "Address"), *_values(sections, "Address", "Address"))
    unmanaged = _values(sections, "Link", "Unmanaged")
    return Wanted(
        interface=interface,
        addresses=addresses,
        mtu=bytes_of(sizes[-1]) if sizes else None,
        at_boot=not unmanaged or unmanaged[-1].lower() not in ("yes", "true", "1", "on"),
    )


def bytes_of(text: str) -> int | None:
    """Return `9000`, or `9K` as 9216; None for text that is not a size."""
    unit = _SUFFIXES.get(text[-1:].upper(), 1)
    size = number(text[:-1] if unit > 1 else text)
    return None if size is None else size * unit


def _values(sections: Sections, section: str, name: str) -> tuple[str, ...]:
    """All values of a key; an empty value clears those before it."""
    values: list[str] = []
    for title, entries in sections:
        for key, value in entries:
            if (title, key) == (section, name):
                values = [*values, value] if value else []
    return tuple(values)
