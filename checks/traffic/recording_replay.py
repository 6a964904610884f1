"""Runs the checks on the facts of a recording, without reading nodes or sending packets."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from checks.model.check import Check
from checks.model.facts import FACT_GROUPS, Unknown
from checks.model.report import Report
from checks.model.settings import Settings
from checks.run.check_discovery import BrokenPlugin
from checks.run.replay import ReplayedFacts
from checks.traffic.recording import Header

_NOT_HELD = Unknown(
    "A recording contains only samples and the facts of the cluster; for more, run the checks on the cluster itself."
)


class JudgedRecording(ReplayedFacts):
    """An engine for the facts of a recording. Its report has the start time of the recording.

    A check that needs facts which no recording has (paths, counters over an interval) is skipped.
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
        """Return the report of the checks that have finished."""
        report = super().report(interrupted=interrupted)
        cluster = replace(report.cluster, **self._not_held)
        return replace(report, started_at=self._recorded_at, cluster=cluster)
