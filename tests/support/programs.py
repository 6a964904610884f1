"""Programs outside the registry, for tests of the shell that runs them."""

from __future__ import annotations

from checks.sources.entries import Argument, Program, RunsOn
from checks.sources.nodes.ssh import LOGIN_ENDED

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


LOGGED_IN = f"echo {LOGIN_ENDED}; exec sh"
"""The last line of a stand-in for ssh: a login that has ended, and the shell of the peer."""
