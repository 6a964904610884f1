"""Programs outside the registry, for tests of the shell that runs them."""

from __future__ import annotations

from checks.sources.entries import Argument, Program, RunsOn

ANYTHING = Argument("TEXT", r"(?s:.*)", is_many=True)


def sh(
    text: str, *, limit_s: float = 5.0, limit_bytes: int = 4_000_000, arguments: tuple[Argument, ...] = ()
) -> Program:
    """Return a program of that text."""
    return Program(
        name="of a test",
        groups=(),
        where=RunsOn.HERE,
        purpose="a test",
        text=text,
        arguments=arguments,
        limit_s=limit_s,
        limit_bytes=limit_bytes,
    )
