"""The parsers of all commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tui.cli.main import COMMANDS, build_parser


def complete_parser() -> argparse.ArgumentParser:
    """Return a new parser with the options of all commands, those of the practice cluster too."""
    root = build_parser([*COMMANDS])
    for parser in below(root):
        vars(parser)["color"] = False  # Python 3.14 colours the help where FORCE_COLOR is set
    return root


def below(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Return the parser of each command below a parser, and the parser itself last."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from below(command)
    yield parser
