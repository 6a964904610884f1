"""Parse the common parts of the output of Oracle's cluster tools: lines, messages, and unexpected text."""

from __future__ import annotations

import re

from checks.model.facts import ToolMessage, Unknown

QUOTE_LIMIT = 160
"""Characters of a line that are quoted in a reason."""

# `PRIF-29: ...`, `PRIF-29 : ...`, `PROC-00015: ...`: tools print the number bare, manuals pad it with zeros.
_MESSAGE = re.compile(r"([A-Z]{3,8})-([0-9]{1,6})\s*:\s*(.*)")

_REFUSED = re.compile(
    r"permission denied|insufficient (user )?(privileges|permission)|require privileged user", re.IGNORECASE
)
"""As in CRS-4563, PROT-20, and a shell that may not execute a tool."""


def refusal_in(text: str) -> str | None:
    """The line by which a tool refuses the user; None where no line does."""
    return next((line for line in printed_lines(text) if _REFUSED.search(line)), None)


def printed_lines(text: str) -> list[str]:
    """The lines that are not blank, stripped."""
    return [line for raw in text.split("\n") if (line := raw.strip())]


def read_message(line: str) -> ToolMessage | None:
    """The message on a line, its code without padding (`PROC-15`); None for a line without a message."""
    match = _MESSAGE.fullmatch(line)
    return ToolMessage(f"{match[1]}-{int(match[2])}", match[3]) if match else None


def read_messages(text: str) -> tuple[ToolMessage, ...]:
    """Every message among the lines."""
    return tuple(message for line in printed_lines(text) if (message := read_message(line)))


def quoted(line: str) -> str:
    """A line in quotation marks for use in a sentence, shortened."""
    return f'"{line if len(line) <= QUOTE_LIMIT else line[: QUOTE_LIMIT - 1] + "…"}"'


def no_known_shape(command: str, text: str) -> Unknown:
    """The Unknown for an output in a format that racwire does not know."""
    lines = printed_lines(text)
    if not lines:
        return Unknown(f"`{command}` printed nothing.")
    return Unknown(f"`{command}` printed a format that racwire does not know: {quoted(lines[0])}.")


def as_printed(message: ToolMessage) -> str:
    """A message in quotation marks for use in a sentence."""
    return quoted(f"{message.code}: {message.text}")


def no_answer_in(command: str, text: str) -> Unknown:
    """The Unknown for an output without the answer: its first message, else its unknown format."""
    messages = read_messages(text)
    return Unknown(f"`{command}` printed {as_printed(messages[0])}.") if messages else no_known_shape(command, text)
