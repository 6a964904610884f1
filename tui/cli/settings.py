"""`racwire settings`: print an annotated settings file with all defaults."""

from __future__ import annotations

import argparse

from tui.cli.options import OPTIONS
from tui.cli.pager import print_paged

_EPILOG = """\
Each setting has its default, its limits and its option of the command line.
racwire reads ~/.config/racwire/settings.toml, or the file of --settings.

examples:
  racwire settings > ~/.config/racwire/settings.toml
  racwire check --settings settings.toml

exit codes: 0 printed; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Describe the command, which has no options."""
    parser.description = "Print an annotated settings file with all defaults."
    parser.epilog = _EPILOG


def run(_: argparse.Namespace) -> int:
    """Print the settings file."""
    from checks.run.settings_file import template

    names: dict[str, str] = {}
    for option in OPTIONS:
        names[option.place] = f"{names[option.place]} or {option.name}" if option.place in names else option.name
    print_paged(template(names))
    return 0
