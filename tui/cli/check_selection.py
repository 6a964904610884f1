"""The checks that the command line selects."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.check import Check
from checks.model.report import Report
from checks.model.wording import listed, nearest
from checks.run.check_discovery import Checks
from tui.cli.errors import UsageError


def choose(found: Checks, requested: list[str], skipped: list[str], words: Sequence[str] = ()) -> list[Check]:
    """The selected checks, in the order of `found`; those of a run where `requested` is empty.

    The message about an unknown check also proposes `words`, which the command takes as well.
    Raises UsageError for an unknown check, and where no check is left.
    """
    _refuse_unknown((*requested, *skipped), [c.id for c in found.every] + [b.name for b in found.broken], words)
    possible = found.every if requested else found.checks
    selected = [c for c in possible if (not requested or c.id in requested) and c.id not in skipped]
    if not selected and not any(b.name in requested for b in found.broken):
        raise UsageError("No check is left to run: --skip names all of them.")
    return selected


def choose_saved(found: Checks, report: Report, requested: list[str], skipped: list[str]) -> list[str]:
    """The ids of the selected checks of a saved report; all of them where `requested` is empty.

    Raises UsageError for a check that neither this installation nor the report knows, for one without saved findings,
    and where no check is left.
    """
    ran = list(dict.fromkeys(finding.check for finding in report.findings))
    known = [c.id for c in found.every] + [b.name for b in found.broken]
    _refuse_unknown((*requested, *skipped), known + [name for name in ran if name not in known])
    if missing := [name for name in requested if name not in ran]:
        raise UsageError(f"The saved file has no findings of {listed(missing)}; it has findings of {listed(ran)}.")
    selected = [name for name in requested or ran if name not in skipped]
    if ran and not selected:
        raise UsageError("No check is left: --skip names all of them.")
    return selected


def _refuse_unknown(named: Sequence[str], known: Sequence[str], words: Sequence[str] = ()) -> None:
    for name in named:
        if name not in known:
            meant = nearest(name, (*known, *words))
            hint = f"did you mean {meant}?" if meant else f"the checks are {', '.join(known)}."
            raise UsageError(f"There is no check {name!r}; {hint}")
