"""What the printed answers of Oracle's cluster tools have in common: lines, messages, and the unexpected."""

from __future__ import annotations

import re

from checks.model.facts import ToolMessage, Unknown

QUOTE_LIMIT = 160
"""Characters of a line that are quoted in a reason."""

# `PRIF-29: ...`, `PRIF-29 : ...`, `PROC-00015: ...`: tools print the number bare, manuals pad it with zeros.
_MESSAGE = re.compile(r"([A-Z]{3,8})-([0-9]{1,6})\s*:\s*(.*)")


def printed_lines(text: str) -> list[str]:
    """The lines that say something, without the blanks around them."""
    return [line for raw in text.split("\n") if (line := raw.strip())]


def read_message(line: str) -> ToolMessage | None:
    """The message that a line holds, its code without padding (`PROC-15`); None when it holds none."""
    match = _MESSAGE.fullmatch(line)
    return ToolMessage(f"{match[1]}-{int(match[2])}", match[3]) if match else None


def read_messages(text: str) -> tuple[ToolMessage, ...]:
    """Every message among the lines."""
    return tuple(message for line in printed_lines(text) if (message := read_message(line)))


def quoted(line: str) -> str:
    """A line as it stands in a sentence, shortened."""
    return f'"{line if len(line) <= QUOTE_LIMIT else line[: QUOTE_LIMIT - 1] + "…"}"'


def no_known_shape(command: str, text: str) -> Unknown:
    """The answer of a command that is none that racwire knows."""
    lines = printed_lines(text)
    if not lines:
        return Unknown(f"`{command}` printed nothing.")
    return Unknown(f"`{command}` answered in no known shape: {quoted(lines[0])}.")
