"""Parse files of sections and `key=value` lines: keyfiles of NetworkManager, files of systemd (systemd.syntax(7))."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Setting(NamedTuple):
    """One line of a section."""

    section: str
    key: str
    value: str


def parse_ini(lines: Iterable[str]) -> tuple[Setting, ...]:
    """The settings in the order of the file; other lines are skipped."""
    settings = []
    section = ""
    for raw in lines:
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif not line.startswith(("#", ";")):
            key, equals, value = line.partition("=")
            if equals and key.strip():
                settings.append(Setting(section, key.strip(), value.strip()))
    return tuple(settings)


def last(settings: Iterable[Setting], section: str, *keys: str) -> str:
    """The last value of a key, which is the effective one; empty where the section does not have the key.

    Several keys are several names of one setting.
    """
    return next((s.value for s in reversed(tuple(settings)) if s.section == section and s.key in keys), "")
