"""What the checks say of a recording: those that can judge the facts in it; nothing is read or sent."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from checks.model.check import Check
from checks.model.facts import FACT_GROUPS, Unknown
from checks.model.report import Report
from checks.model.settings import Settings
from checks.run.check_discovery import BrokenPlugin
from checks.run.replay import GivenFacts
from checks.traffic.recording import Header

_NOT_HELD = Unknown(
    "A recording holds samples and what the cluster is; for more, run the checks on the cluster itself."
)


class JudgedRecording(GivenFacts):
    """An engine over the facts of a recording. Its report is of the time at which that was begun.

    A check that needs what a recording does not hold (paths, counters over a while) is left out: it would only say so.
    """

    def __init__(
        self, header: Header, checks: Iterable[Check], settings: Settings, *, broken: Iterable[BrokenPlugin] = ()
    ) -> None:
        held = set(header.cluster.gathered_groups())
        able = [check for check in checks if held.issuperset(check.needs)]
        super().__init__(header.cluster, able, settings, broken=broken)
        self._recorded_at = header.started_at
        self._not_held = dict.fromkeys(set(FACT_GROUPS) - held, _NOT_HELD)

    def report(self, *, interrupted: bool = False) -> Report:
        """What is known by now."""
        report = super().report(interrupted=interrupted)
        cluster = replace(report.cluster, **self._not_held)
        return replace(report, started_at=self._recorded_at, cluster=cluster)
