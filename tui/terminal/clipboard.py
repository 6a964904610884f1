"""The commands of a finding for another terminal: to its clipboard by OSC 52, which works over SSH, and to a file.

A pasted command runs at once. A step that changes something is therefore copied as a comment only.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from checks.model.finding import NextStep
from tui.text.home_path import with_path
from tui.text.sanitize import sanitize_lines

LIMIT = 16_000
"""Most bytes for a clipboard: terminals ignore more than 74,994 bytes or fewer; base64 adds a third."""

_SCREEN_CHUNK = 240
"""Bytes of a piece: GNU screen forwards strings of at most 256 bytes."""


def commands_text(steps: Iterable[NextStep]) -> str:
    """Return the commands in the order of the next steps; comments say who runs them, and mark the steps with
    changes."""
    return "\n".join(_lines(steps))


def _lines(steps: Iterable[NextStep]) -> Iterator[str]:
    for remedy in steps:
        if not remedy.commands:
            continue
        if remedy.where:
            yield f"# {_one_line(remedy.where)}"
        if remedy.is_change:
            yield f"# CHANGE, only under the safe-change procedure. {remedy.caution}".rstrip()
        for command in remedy.commands:
            for line in command.splitlines():
                yield ("# " if remedy.is_change else "") + sanitize_lines(line)


def _one_line(text: str) -> str:
    return sanitize_lines(" ".join(text.split()))


def save_commands(text: str, directory: Path) -> str:
    """Write copied commands to their file too, over the previous ones, because a terminal may ignore the clipboard;
    return a notice with the path."""
    from checks.whole_files import OutputError, OutputFile, write_whole  # late: the first screen does not need it

    path = directory / "commands.txt"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(OutputFile(path, replace=True), f"{text}\n".encode())
    except (OutputError, OSError) as error:
        return f"Copied if the terminal allows; not saved: {error}"
    if len(text.encode()) > LIMIT:
        return with_path(path, "Saved in {}", "{}")
    return with_path(path, "Copied if the terminal allows; also in {}", "Copied, and saved in {}", "Saved: {}", "{}")


def clipboard_sequence(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the OSC 52 sequence, in the forms that tmux and GNU screen forward; empty when the text is too long."""
    data = text.encode()
    if not data or len(data) > LIMIT:
        return ""
    plain = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    term = environment.get("TERM", "")
    if "TMUX" in environment or term.startswith("tmux"):
        return plain + "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if "STY" in environment or term.startswith("screen"):
        chunks = [plain[i : i + _SCREEN_CHUNK] for i in range(0, len(plain), _SCREEN_CHUNK)]
        return plain + "".join(f"\x1bP{chunk}\x1b\\" for chunk in chunks)
    return plain
