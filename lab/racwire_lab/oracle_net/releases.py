"""Releases that the server can play: the protocol versions that it negotiates, and its version number."""

from __future__ import annotations

from dataclasses import dataclass, replace

FAST_AUTH_FIELD_VERSION = 13
"""The field version in which the one request of a fast logon is written, before any is agreed."""


@dataclass(frozen=True)
class ServerRelease:
    """A release as a client sees it."""

    tns_version: int
    """Of Oracle Net. From 315 on packets may be large; python-oracledb's thin mode refuses lower ones (DPY-3010)."""
    field_version: int
    """Of TTC: which fields messages have. The lower one of client and server counts."""
    version: str
    """As the server tells it: `19.22.0.0.0`."""
    fast_auth: bool = False
    """Whether the logon's first three requests may come as one."""
    end_of_response: bool = False
    """Whether the end of a response is marked."""

    @property
    def version_number(self) -> int:
        """The version as AUTH_VERSION_NO packs it; differently from 18c on."""
        parts = [int(part) for part in self.version.split(".")]
        first, second, third, fourth, fifth = (parts + [0] * 5)[:5]
        if self.field_version >= 11:
            return first << 24 | second << 16 | third << 12 | fourth << 4 | fifth
        return first << 24 | second << 20 | third << 12 | fourth << 8 | fifth


RELEASES = {
    "11.2": ServerRelease(314, 6, "11.2.0.4.0"),
    "12.1": ServerRelease(315, 7, "12.1.0.2.0"),
    "12.2": ServerRelease(316, 8, "12.2.0.1.0"),
    "18c": ServerRelease(317, 11, "18.3.0.0.0"),
    "19c": ServerRelease(318, 12, "19.22.0.0.0"),
    "21c": ServerRelease(318, 16, "21.3.0.0.0"),
    "23ai": ServerRelease(319, 24, "23.7.0.25.1", fast_auth=True, end_of_response=True),
}


def release_of(version: str) -> ServerRelease:
    """The profile of a release that tells this version: `12.1.0.2.0`, `19.22.0.0.0`. ValueError when there is none."""
    major, _, rest = version.partition(".")
    for name in (f"{major}.{rest.partition('.')[0]}", f"{major}c", f"{major}ai"):
        if name in RELEASES:
            return replace(RELEASES[name], version=version)
    raise ValueError(f"There is no profile for Oracle {version}; known are {', '.join(RELEASES)}.")
