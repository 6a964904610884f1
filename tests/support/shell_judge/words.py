"""A simple command as it is known before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from checks.sources.nodes.read_only.allow_list import UNKNOWN, Word


class NotReadOnlyError(Exception):
    """A program may not run. The text names the place in the program."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """`2>/dev/null` without its number: the operator and its target."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A command that the shell runs at one time: `LC_ALL=C ip addr show 2>/dev/null`."""

    words: tuple[Word, ...] = ()
    assignments: tuple[tuple[str, Word], ...] = ()
    redirections: tuple[Redirection, ...] = ()

    def __str__(self) -> str:
        parts = (
            *(f"{name}={value.text}" for name, value in self.assignments),
            *(word.text for word in self.words),
            *(f"{redirection.operator}{redirection.target.text}" for redirection in self.redirections),
        )
        return " ".join(parts).replace(UNKNOWN, "…")
