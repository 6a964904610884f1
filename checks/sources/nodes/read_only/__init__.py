"""The guard before every command: racwire starts nothing on a node that could change it.

`commands.py` lists what may run. Every program of a held shell and every command is judged by that list before anything
of it is started; for a program, each command that it could run. What is not understood or not listed is refused. This
keeps a slip in racwire's own code, or a hostile name in what a node tells, from changing a node. It is no prison for
Python code: a check of a third party runs as the operator, as any program they install does.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.sources.nodes.read_only.judge import fault_of_command, fault_of_program

__all__ = ["ChangingCommandError", "demand_read_only_command", "demand_read_only_program"]


class ChangingCommandError(Exception):
    """A command was refused because it is not known to change nothing; nothing of it ran. One sentence."""

    def __init__(self, node: str, fault: str) -> None:
        super().__init__(
            f"A command was not run on {node}, because {fault}: racwire only reads, and runs only what it knows to "
            "change nothing; this is a fault of racwire, please report it."
        )


def demand_read_only_program(program: str, node: str) -> None:
    """Raise ChangingCommandError unless every command in a program of plain `sh` is one that only reads."""
    if fault := fault_of_program(program):
        raise ChangingCommandError(node, fault)


def demand_read_only_command(argv: Sequence[str], node: str) -> None:
    """Raise ChangingCommandError unless the command, given as its arguments, is one that only reads."""
    if fault := fault_of_command(tuple(argv)):
        raise ChangingCommandError(node, fault)
