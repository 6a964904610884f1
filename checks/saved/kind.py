"""What a file is that somebody wants to open, told by how it begins."""

from __future__ import annotations

from pathlib import Path

from checks.saved.container import open_regular
from checks.saved.errors import SavedError
from checks.traffic.recording_file import APPLICATION_ID

_ZIP = b"PK\3\4"
_SQLITE = b"SQLite format 3\0"
_BEGINNING = 100


def kind_of(path: Path) -> str:
    """`saved`, `report` (as JSON) or `recording`; empty where it is none of these, or cannot be read. What is wrong
    with one is told by whoever opens it."""
    try:
        with open_regular(path) as file:
            beginning = file.read(_BEGINNING)
    except (SavedError, OSError):
        return ""
    if beginning.startswith(_ZIP):
        return "saved"
    if beginning.startswith(_SQLITE) and beginning[68:72] == APPLICATION_ID.to_bytes(4, "big"):
        return "recording"
    return "report" if beginning.lstrip().startswith(b"{") else ""
