"""Sentences that name commands of `racwire change`, in the words of the Change screen: by its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_KEYS = {
    "`racwire change verify`": "v",
    "`racwire change rollback`": "b",
    "`racwire change next` shows its next step": "this is its next step",
}
"""What sentences call by command, and this screen by key."""
_LOOK = "racwire change verify"
_SHOW_STEP = "racwire change next"
_OVERRIDE = "racwire change override"
_ONLY_LOOK = "Then look again:"
"""Said of every gate that does not pass, and on this screen above its keys at all times."""


def in_keys(text: str) -> str:
    """A sentence in the words of this screen."""
    for command, key in _KEYS.items():
        text = text.replace(command, key)
    return text


def next_in_keys(steps: Sequence[str]) -> Iterator[str]:
    """What to do about a gate: without the commands that are keys here, or that would show the step that is shown.

    A sentence that ends with a colon has its commands after it, up to the next sentence.
    """
    for sentence, commands in _groups(steps):
        left = [command for command in commands if _key(command) is None]
        keys = [key for command in commands if (key := _key(command))]
        if not commands or left:
            yield sentence
        elif sentence != _ONLY_LOOK:
            yield f"{sentence.rstrip(':')}{f' ({keys[0]})' if keys else ''}."
        yield from left


def _groups(steps: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    groups: list[tuple[str, list[str]]] = []
    for text in steps:
        is_command = bool(groups) and groups[-1][0].endswith(":") and not text.endswith((".", ":"))
        if is_command:
            groups[-1][1].append(text)
        else:
            groups.append((text, []))
    yield from groups


def _key(command: str) -> str | None:
    """The key that does the same; empty where it would only show this step, None where it is to be typed."""
    if command == _LOOK:
        return "v"
    if command.startswith(_SHOW_STEP):
        return ""
    return "o" if command.startswith(_OVERRIDE) else None
