"""What is known of a command before it runs."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = "\0"
"""Stands in a word for what only the shell will know: the value of a variable, what a command prints, file names."""


class NotReadOnlyError(Exception):
    """Why a program may not run: words that name the place in it."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command, without its quotes."""

    text: str
    """With UNKNOWN for each part that is not known."""
    many: bool = False
    """Whether it may become several words, or none. Where the text begins with known characters, each begins so."""
    plain: bool = False
    """Whether it was written without any quotes and is wholly known: such a word can be a keyword of the shell."""

    @property
    def is_known(self) -> bool:
        """Whether it is one word, and every character of it is known."""
        return not self.many and UNKNOWN not in self.text


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
