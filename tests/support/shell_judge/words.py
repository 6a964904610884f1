"""What is known of a command before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from checks.sources.nodes.read_only.allow_list import UNKNOWN, Word


class NotReadOnlyError(Exception):
    """Why a program may not run: words that name the place in it."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """`2>/dev/null` without its number: the operator and what follows it."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """What the shell runs at one time: `LC_ALL=C ip addr show 2>/dev/null`."""

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
