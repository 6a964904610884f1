"""`racwire schema`: print the JSON Schema of the report."""

from __future__ import annotations

import argparse
import sys

_EPILOG = """\
examples:
  racwire schema > racwire-report.schema.json
  racwire schema | jq '."$id"'

exit codes: 0 printed; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Describe the command, which has no options."""
    parser.description = "Print the JSON Schema of the report that `racwire check --format json` prints."
    parser.epilog = _EPILOG


def run(_: argparse.Namespace) -> int:
    """Print the schema."""
    from checks.report.json_report import schema

    sys.stdout.write(schema().decode())
    return 0
