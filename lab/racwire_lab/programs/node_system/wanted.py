"""The configuration of an interface in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wanted:
    """The configuration of an interface in a file. The addresses have a prefix length."""

    interface: str
    addresses: tuple[str, ...]
    mtu: int | None
    """The MTU in bytes; None when the file does not set it."""
    at_boot: bool = True


def number(text: str) -> int | None:
    """Return a positive number; None for any other text, such as a typing error in a file."""
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def text_of(path: Path) -> str:
    """Return the text of a file; empty when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def files_in(directory: Path) -> list[Path]:
    """Return the files in the directory, by name; none when there is no such directory."""
    try:
        return sorted(path for path in directory.iterdir() if path.is_file())
    except OSError:
        return []
