"""Checks that say nothing for one and the same reason take one place in the text report, and their own in JSON."""

import asyncio
import io
import json

import msgspec

from checks.model.facts import Cluster, NotAsked, UnaskedInstance, Unknown
from checks.model.finding import Status
from checks.model.report import Report
from checks.model.settings import Settings
from checks.report.json_report import to_json
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.gathering import GATHERERS, Gatherer
from tests.fixtures import databases
from tui.cli.text_report import text_report

DATABASE_CHECKS = [check for check in discover().checks if {"database", "activity", "history"} & set(check.needs)]


def report_with(**facts) -> Report:
    """Return the findings of the built-in checks of the database if only these facts are known."""

    def giving(group):
        async def gather(session, cluster: Cluster):
            return facts.get(group, Unknown(f"The {group} are of no interest here."))

        return gather

    gatherers = [Gatherer(g.group, g.needs, giving(g.group), 5) for g in GATHERERS]

    async def run():
        return await Engine(DATABASE_CHECKS, Settings(), gatherers=gatherers).run()

    return asyncio.run(run())


def words(report: Report) -> str:
    return " ".join(text_report(report, io.StringIO(), full=True).split())


def test_checks_skipped_for_one_reason_are_named_on_one_line_with_one_remedy():
    left_out = NotAsked("No database connection is set; prod1 runs here.", ("racwire check --connect X",))
    report = report_with(database=left_out, activity=left_out, history=left_out)
    text = words(report)
    assert len(DATABASE_CHECKS) > 2
    assert text.count(left_out.reason) == 1
    assert text.count("racwire check --connect X") == 1
    for check in DATABASE_CHECKS:
        assert check.id in text
    findings = json.loads(to_json(report))["findings"]
    assert [f["title"] for f in findings] == [left_out.reason] * len(DATABASE_CHECKS)
    assert report.count(Status.SKIPPED) == len(DATABASE_CHECKS)


def test_unknown_results_with_one_reason_show_it_once():
    unknown = Unknown("no listener answers at h:1521/p (refused). Look at host and port.")
    report = report_with(database=unknown, activity=unknown, history=unknown)
    text = words(report)
    number = len(DATABASE_CHECKS)
    assert f"{number} checks could not tell: no listener answers at h:1521/p (refused)." in text
    assert text.count("no listener answers") == 1
    for check in DATABASE_CHECKS:
        assert check.id in text


def test_other_reasons_are_listed_separately():
    one, other = Unknown("No listener answers."), Unknown("The statement sysstat took too long.")
    text = words(report_with(database=one, activity=other, history=one))
    assert "no listener answers." in text
    assert text.count("no listener answers.") == 1


def test_unknown_findings_with_one_reason_show_it_once():
    base = databases.database(2)
    hanging = UnaskedInstance(2, "prod2", "GV$INSTANCE did not answer in time: an instance hangs.")
    one = msgspec.structs.replace(base, instances=base.instances[:1], unasked=(hanging,))
    report = report_with(database=one, activity=databases.activity(1), history=NotAsked("AWR was not asked for."))
    unknown = [f for f in report.findings if f.status is Status.UNKNOWN]
    assert len(unknown) > 2
    first, *others = unknown
    text = words(report)
    assert text.count(f"Seen {hanging.reason}") == 1
    assert first.title in text
    assert f"Likewise unknown for {', '.join(f'{f.check} ({f.code})' for f in others)}" in text
