"""`racwire schema`: the JSON Schema of the report."""

from __future__ import annotations

import argparse
import sys


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options."""


def run(_: argparse.Namespace) -> int:
    """Print it."""
    from checks.report.json_report import schema

    sys.stdout.write(schema().decode())
    return 0
