"""`racwire settings`: an annotated settings file with all defaults."""

from __future__ import annotations

import argparse
import sys

from tui.cli.options import OPTIONS


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options."""


def run(_: argparse.Namespace) -> int:
    """Print it."""
    from checks.run.settings_file import template

    sys.stdout.write(template({option.place: option.name for option in OPTIONS}))
    return 0
