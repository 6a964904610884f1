"""Which checks are meant by the names on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.check import Check
from checks.model.report import Report
from checks.model.wording import listed
from checks.run.check_discovery import Checks
from tui.cli.errors import UsageError


def choose(found: Checks, wanted: list[str], skipped: list[str]) -> list[Check]:
    """The checks asked for, in their own order; all of them when none is named. Raises UsageError."""
    _refuse_unknown((*wanted, *skipped), [c.id for c in found] + [b.name for b in found.broken])
    chosen = [c for c in found if (not wanted or c.id in wanted) and c.id not in skipped]
    if not chosen and not any(b.name in wanted for b in found.broken):
        raise UsageError("No check is left to run: all were skipped.")
    return chosen


def choose_saved(found: Checks, report: Report, wanted: list[str], skipped: list[str]) -> list[str]:
    """The checks asked for out of those with findings in a report; all of them when none is named. Raises UsageError
    for one that is not known, here or there, and for one that was not run then."""
    ran = list(dict.fromkeys(finding.check for finding in report.findings))
    known = [c.id for c in found] + [b.name for b in found.broken]
    _refuse_unknown((*wanted, *skipped), known + [name for name in ran if name not in known])
    if missing := [name for name in wanted if name not in ran]:
        raise UsageError(f"Nothing was saved of {listed(missing)}; there is {listed(ran)}.")
    chosen = [name for name in wanted or ran if name not in skipped]
    if ran and not chosen:
        raise UsageError("No check is left: all were skipped.")
    return chosen


def _refuse_unknown(named: Sequence[str], known: Sequence[str]) -> None:
    for name in named:
        if name not in known:
            raise UsageError(f"There is no check {name!r}; there are {', '.join(known)}.")
