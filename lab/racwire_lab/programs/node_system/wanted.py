"""The configuration of an interface, as a file has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wanted:
    """An interface as a file wants it; addresses carry their prefix length."""

    interface: str
    addresses: tuple[str, ...]
    mtu: int | None
    """In bytes; None where the file does not say it."""
    at_boot: bool = True


def number(text: str) -> int | None:
    """A positive number; None for anything else, as where a file has a typing error."""
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def text_of(path: Path) -> str:
    """The text of a file; empty when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def files_in(directory: Path) -> list[Path]:
    """The files there, by name; none where there is no such directory."""
    try:
        return sorted(path for path in directory.iterdir() if path.is_file())
    except OSError:
        return []
