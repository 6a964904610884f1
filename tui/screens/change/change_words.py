"""Sentences that name commands of `racwire change`, for the Change screen: its keys stand for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.written_steps import grouped, name_of, with_keys

_KEYS = {"verify": "v", "rollback": "b", "override": "o", "next": ""}
"""The key for a command; empty for the command that prints the step that this screen shows."""
_IN_SENTENCES = {**_KEYS, "next": "this page"}
_ONLY_LOOK = "Then look again:"
"""Every gate that does not pass says so, and this screen shows its keys above all the time."""


def in_keys(text: str) -> str:
    """A sentence with keys in place of commands."""
    return with_keys(text, _IN_SENTENCES)


def next_in_keys(steps: Sequence[str]) -> Iterator[str]:
    """What to do about a gate: without the commands that are keys here, or that would print the step on the screen."""
    for sentence, commands in grouped(steps):
        left = [command for command in commands if name_of(command) not in _KEYS]
        keys = [key for command in commands if (key := _KEYS.get(name_of(command)))]
        if not commands or left:
            yield sentence
        elif sentence != _ONLY_LOOK:
            yield f"{sentence.rstrip(':')}{f' ({keys[0]})' if keys else ''}."
        yield from left
