"""What the operator takes along: commands for another terminal, the report as a file. Each returns what to tell."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from checks.files import OutputError, write_whole
from checks.report.json_report import to_json
from checks.result import Report
from tui.clipboard import LIMIT, save_commands


def keep_commands(text: str, state_directory: Path) -> str:
    """Write copied commands to a file, since a clipboard may or may not take them; where they are now."""
    try:
        path = short(save_commands(text, state_directory))
    except (OutputError, OSError) as error:
        return f"Copied if the terminal allows; not saved: {error}"
    fits = len(text.encode()) <= LIMIT
    return f"Copied if the terminal allows; also in {path}" if fits else f"Saved in {path}"


def export_report(report: Report, state_directory: Path) -> str:
    """Write the report to the working directory, or where state is kept when that cannot be written; where it is."""
    name = f"racwire-{datetime.now():%Y%m%d-%H%M%S}.json"
    told = ""
    for directory in (Path.cwd(), state_directory):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(directory / name, to_json(report), replace=False)
        except (OutputError, OSError) as error:
            told = str(error)
        else:
            return f"The report is in {short(directory / name)}"
    return told


def short(path: Path) -> str:
    """The path as one would type it."""
    with suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)
