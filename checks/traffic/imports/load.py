"""Reads a result file of `racwire measure` or of another tool, up to a size limit.

The contents say which tool wrote the file, not its name.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path

from checks.model.sanitize import as_utf8
from checks.traffic.compare.run import ComparedRun, ImportProblem
from checks.traffic.imports.hammerdb import looks_like_hammerdb, parse_hammerdb
from checks.traffic.imports.iperf3 import looks_like_iperf3, parse_iperf3
from checks.traffic.imports.measurement_result import looks_like_measurement, parse_measurement
from checks.traffic.imports.result_text import decoded
from checks.traffic.imports.sadf import looks_like_sadf, parse_sadf
from checks.traffic.imports.swingbench import looks_like_swingbench, parse_swingbench

MOST_BYTES = 50_000_000
"""Most bytes of a file. A day of sadf at one second with 32 interfaces is larger; at ten minutes it is under 1/50."""
UNDERSTOOD = (
    "racwire's own recordings, results of racwire measure as JSON, Swingbench's results.xml, logs of HammerDB, "
    "iperf3's JSON (-J or --json-stream) and "
    "`sadf -j` are understood"
)
_IPERF3_TEXT = re.compile(r"^(?:Connecting to host |Server listening on |\[ ID\] Interval )", re.MULTILINE)
_SAR_TEXT = re.compile(r"^Linux \S+ \([^)\n]*\)", re.MULTILINE)
_BEGINNING = 20_000


def load_result(path: Path) -> ComparedRun:
    """Read a result of another tool. Blocking. Raises ImportProblem with the file and the reason where that fails."""
    return parse_result(_read(path), path.name)


def parse_result(text: str, name: str) -> ComparedRun:
    """Return the run of a result. Raises ImportProblem where the text is of no known tool, or is damaged."""
    if not text.strip():
        raise ImportProblem(f"{name} is empty.")
    if looks_like_swingbench(text):
        return parse_swingbench(text, name)
    if looks_like_hammerdb(text):
        return parse_hammerdb(text, name)
    if text.lstrip().startswith("{"):
        if looks_like_measurement(text):
            return parse_measurement(text, name)
        if looks_like_iperf3(text):
            return parse_iperf3(text, name)
        if looks_like_sadf(text):
            return parse_sadf(text, name)
        decoded(text, name)
    raise ImportProblem(f"{name} is of no kind that can be compared: {_hint(text[:_BEGINNING])}{UNDERSTOOD}.")


def _hint(text: str) -> str:
    if _IPERF3_TEXT.search(text):
        return "it looks like iperf3's text, so run iperf3 with -J; "
    if _SAR_TEXT.search(text):
        return "it looks like sar's text, so print the same file with `sadf -j -- -n ALL -u ALL -q`; "
    return ""


def _read(path: Path) -> str:
    try:
        kind = path.stat()
        if not stat.S_ISREG(kind.st_mode):
            raise ImportProblem(f"{path} is no file; name a file with a result.")
        if kind.st_size > MOST_BYTES:
            raise ImportProblem(
                f"{path} has {kind.st_size / 1e6:,.0f} MB, over the {MOST_BYTES / 1e6:.0f} MB that are read; "
                "cut it to the time of the test."
            )
        with path.open("rb") as file:
            return as_utf8(file.read(MOST_BYTES)).decode(errors="replace")
    except OSError as error:
        raise ImportProblem(f"{path} could not be read: {error.strerror or error}.") from error
