"""Releases that the server can imitate: their protocol versions and version numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

FAST_AUTH_FIELD_VERSION = 13
"""The field version of a fast logon's single request, which is sent before any negotiation."""


@dataclass(frozen=True)
class ServerRelease:
    """A release as a client sees it."""

    tns_version: int
    """Version of Oracle Net. From 315 on packets may be large; python-oracledb's thin mode refuses older ones
    (DPY-3010)."""
    field_version: int
    """Version of TTC, which defines the fields of messages. The lower one of client and server is used."""
    version: str
    """The version as the server reports it: `19.22.0.0.0`."""
    fast_auth: bool = False
    """Whether the logon's first three requests may come as one."""
    end_of_response: bool = False
    """Whether the end of a response is marked."""

    @property
    def version_number(self) -> int:
        """The version as AUTH_VERSION_NO packs it; 18c and later use another layout."""
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
    """Return the profile of a release by its version: `12.1.0.2.0`, `19.22.0.0.0`.

    Raises ValueError for an unknown one.
    """
    major, _, rest = version.partition(".")
    for name in (f"{major}.{rest.partition('.')[0]}", f"{major}c", f"{major}ai"):
        if name in RELEASES:
            return replace(RELEASES[name], version=version)
    raise ValueError(f"There is no profile for Oracle {version}; known are {', '.join(RELEASES)}.")
