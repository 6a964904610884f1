"""Sentences for the Change screen, with its keys in place of the commands of `racwire change`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.change.progress.written_steps import grouped, name_of, with_keys

_KEYS = {"verify": "v", "rollback": "b", "override": "o", "next": ""}
"""The key of each command; empty for the command that prints the step on this screen."""
_IN_SENTENCES = {**_KEYS, "next": "this page"}
_ONLY_VERIFY = re.compile(r"Then \w+( it| the gate)? again:?")
"""The advice of every gate that does not pass, which the keys on this screen make superfluous."""


def text_with_keys(text: str) -> str:
    """Return a sentence with keys in place of commands."""
    return with_keys(text, _IN_SENTENCES)


def next_steps_with_keys(steps: Sequence[str]) -> Iterator[str]:
    """Yield the next steps for a gate, without the commands that this screen replaces by keys."""
    for sentence, commands in grouped(steps):
        left = [command for command in commands if name_of(command) not in _KEYS]
        keys = [key for command in commands if (key := _KEYS.get(name_of(command)))]
        if not commands or left:
            yield sentence
        elif not _ONLY_VERIFY.fullmatch(sentence):
            yield f"{sentence.rstrip(':')}{f' ({keys[0]})' if keys else ''}."
        yield from left
