"""The options that several commands share, in groups: a command has those groups that it has a use for."""

from __future__ import annotations

import argparse

_UNSET = argparse.SUPPRESS
"""The default of options that may stand before the command: the command's own must not overwrite what is said there."""
ENTERED = "RACWIRE_ENTERED_BY_LAB"
"""In the environment where `--lab` led into the practice cluster: what is to be typed next has to say it again."""


def add_cluster_options(options: argparse.ArgumentParser) -> None:
    """Which cluster is looked at, and from which settings."""
    where = options.add_argument_group("which cluster")
    where.add_argument("--lab", action="store_true", default=_UNSET, help="the practice cluster (racwire lab up)")
    add_settings_option(where)
    where.add_argument("--grid-home", metavar="DIR", default=_UNSET, help="the Grid Infrastructure home")
    where.add_argument(
        "--network",
        action="append",
        metavar="SUBNET",
        default=_UNSET,
        help="a private network, such as 192.168.10.0/24, where there is no Clusterware to ask (repeatable)",
    )
    where.add_argument(
        "--peer", action="append", metavar="HOST", default=_UNSET, help="another node, as ssh reaches it (repeatable)"
    )


def add_settings_option(options: argparse._ActionsContainer) -> None:
    """Where the settings are read."""
    options.add_argument(
        "--settings", metavar="FILE", default=_UNSET, help="settings file (racwire settings prints one)"
    )


def add_looks_options(options: argparse.ArgumentParser) -> None:
    """How the console looks and is worked."""
    looks = options.add_argument_group("the console")
    looks.add_argument("--no-mouse", action="store_true", default=_UNSET, help="leave the mouse to the terminal")
    looks.add_argument("--ascii", action="store_true", default=_UNSET, help="draw with ASCII signs only")
    looks.add_argument("--graphs", choices=("blocks", "braille"), default=_UNSET, help="how graphs are drawn")
