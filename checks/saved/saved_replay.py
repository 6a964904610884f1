"""Replay the checks over a saved report, without reading from or sending to a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from checks.model.check import Check
from checks.model.facts import FACT_GROUPS, NotAsked, NotGathered, Unknown
from checks.model.finding import Finding, worst_first
from checks.model.journal import Journal
from checks.model.report import Report
from checks.model.settings import Settings
from checks.rules.waivers import day_of, waivers_in
from checks.run.check_discovery import BrokenPlugin
from checks.run.engine import needed_groups
from checks.run.engine_findings import INTERRUPTED, NOT_GATHERED, PLUGIN_BROKEN
from checks.run.judgement import concluded, makers_in, weighed
from checks.run.replay import ReplayedFacts
from checks.run.rerun import OF_ONE_TIME, comparable


class Replay(ReplayedFacts):
    """An engine over the facts of a saved report. It runs the checks of the saved run again, and no others.

    A completed replay equals the saved report in every field, with two exceptions: `saved_at` is the time of saving,
    and other versions of the checks have other findings. Facts, journal, times, reruns and versions are from the run.
    Thresholds and waivers are too, unless `settings` replaces them. Waivers apply as of the day of the run, or of the
    last rerun. Findings that cannot be judged again remain as saved (`kept`).
    """

    def __init__(
        self,
        report: Report,
        checks: Iterable[Check],
        *,
        broken: Iterable[BrokenPlugin] = (),
        settings: Settings | None = None,
    ) -> None:
        """`broken` are checks that this racwire could not load."""
        self._saved = report
        here = {check.id: check for check in checks}
        cannot = {plugin.name: f"could not be loaded here: {plugin.reason}" for plugin in broken}
        ran = dict.fromkeys(finding.check for finding in report.findings)
        self.kept: dict[str, str] = {}
        """The checks whose findings remain as saved, with the reason as a predicate: `is not installed here`."""
        for check in ran:
            if why := cannot.get(check) or _why_kept(check, here, report):
                self.kept[check] = why
        again = [check for check in here.values() if check.id in ran and check.id not in self.kept]
        super().__init__(report.cluster, again, Settings())
        thresholds = settings.thresholds.as_facts() if settings else report.cluster.thresholds
        self._cluster = replace(report.cluster, thresholds=thresholds)
        self._settings = _as_judged(report.settings, settings)
        self._versions = report.versions
        self._started_at = report.started_at
        self.journal = Journal(report.journal)
        self._concluded |= {check: _of(check, report.findings) for check in self.kept}
        self._finders = makers_in(report, here.values())

    def report(self, *, interrupted: bool = False) -> Report:
        """The report so far."""
        saved = self._saved
        day = day_of(saved.reruns[-1].started_at if saved.reruns else saved.started_at)
        judged = replace(
            saved,
            interrupted=interrupted or saved.interrupted,
            cluster=self._cluster,
            settings=self._settings,
        )
        findings = self._in_saved_order(worst_first([*self._weighed(interrupted=interrupted)]))
        return concluded(judged, findings, waivers_in(self._settings), day, self._finders)

    def _weighed(self, *, interrupted: bool) -> Iterator[Finding]:
        """Yield the findings; those that remain as saved were weighed in their run."""
        here, read_by = {check.id: check for check in self.checks}, self._saved.read_by()
        for finding in self._found(interrupted=interrupted):
            check = here.get(finding.check)
            yield from weighed(comparable(check, self._cluster, read_by), [finding]) if check else [finding]

    def _in_saved_order(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings of one status in the order of the saved report."""
        order: dict[tuple[str, str], int] = {}
        for place, finding in enumerate(self._saved.findings):
            order.setdefault((finding.status, finding.check), place)
        return sorted(findings, key=lambda f: order.get((f.status, f.check), len(order)))


def _of(check: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.check == check)


def _why_kept(check: str, here: Mapping[str, Check], report: Report) -> str:
    """Why a check cannot judge its facts again; empty where it can."""
    codes = {finding.code for finding in _of(check, report.findings)}
    if INTERRUPTED.code in codes:
        return "had not concluded when the run was interrupted"
    if PLUGIN_BROKEN.code in codes:
        return "could not be loaded when it was saved"
    if check not in here:
        return "is not installed here"
    own = {*here[check].needs, *here[check].uses}
    if _later_facts(check, report, here) & (own | OF_ONE_TIME if own & OF_ONE_TIME else own):
        return "was judged by facts that a later run of another check replaced"
    missing = [f for need in here[check].needs if isinstance(f := getattr(report.cluster, need), Unknown | NotAsked)]
    had_none = any(isinstance(fact, NotGathered | NotAsked) for fact in missing) or NOT_GATHERED.code in codes
    if missing and had_none:  # else the run had facts, which are impossible
        return "lacks facts that were not gathered"
    return ""


def _later_facts(check: str, report: Report, here: Mapping[str, Check]) -> set[str]:
    """The groups of facts that reruns gathered after the latest one on whose facts this check was judged."""
    later: set[str] = set()
    for again in report.reruns[report.latest_of(check) :]:
        known = [here[name] for name in again.checks if name in here]
        needed = needed_groups(known) if len(known) == len(again.checks) else FACT_GROUPS
        later |= {*(again.groups or needed)}
    return later


def _as_judged(saved: dict[str, Any], settings: Settings | None) -> dict[str, Any]:
    """The settings of the run, with thresholds and waivers from `settings` where it is set."""
    if settings is None:
        return saved
    current = msgspec.to_builtins(settings)
    return {**saved, "thresholds": current["thresholds"], "waivers": current["waivers"]}
