"""A saved report judged again: the same comes out, unless other checks or other settings judge it."""

from datetime import date

import pytest
from msgspec.structs import replace

from checks.diagnosis.diagnose import diagnose
from checks.model.check import Kind, check
from checks.model.facts import Cluster, NotAsked, NotGathered, Unknown
from checks.model.finding import Status
from checks.model.hypothesis import Diagnosis
from checks.model.report import Report
from checks.model.run_record import RunRecord
from checks.model.settings import Settings, ThresholdSettings
from checks.model.settings_waivers import Waiver
from checks.run.check_discovery import BrokenPlugin, discover
from checks.run.engine import Engine, needed_groups
from checks.run.engine_findings import INTERRUPTED, PLUGIN_BROKEN
from checks.run.events import RunStarted
from checks.run.gathering import GATHERERS, Gatherer
from checks.run.rerun import judged_again
from checks.saved.saved_replay import Replay
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import asked, change, counters, losing
from tests.fixtures.reports import black_hole, report_of
from tests.unit.saved_support import replayed

GOOD = Kind("T-SAVED-001", "All is well")
BAD = Kind("T-SAVED-002", "A node is not as it was")
_GROUPS = ("clusterware", "nodes", "networks", "paths", "counters", "database", "activity", "history", "setups")


async def live(
    built, settings: Settings | None = None, *, without: tuple[str, ...] = (), only: tuple[str, ...] = ()
) -> Report:
    """The report of a run over these facts, gathered one after the other as from a cluster."""

    def gives(group: str) -> Gatherer:
        async def gather(session, known):
            session.local_node = built.local_node
            with session.journal.entry(built.local_node, f"sql {group}", group) as entry:
                entry.text = f"{group} was read"
            return getattr(built, group)

        needs = tuple(need for g in GATHERERS if g.group == group for need in g.needs) if only else ()
        return Gatherer(group, needs, gather, limit_s=5)

    groups = [group for group in _GROUPS if built.is_gathered(group)] if only else _GROUPS
    engine = Engine(
        [c for c in discover() if c.id not in without and (c.id in only or not only)],
        settings or Settings(),
        gatherers=[*map(gives, groups)],
    )
    return await engine.run()


@pytest.mark.parametrize(
    "built",
    [
        cluster(1),
        black_hole(3),
        asked(2),
        asked(black_hole(3), activity=losing(2, 37, {1: 37}, 3), counters=counters(3, change("rac2", Ip_ReasmFails=9))),
        replace(cluster(2), nodes=Unknown("ssh asked for a password."), networks=Unknown("oifcfg was not found.")),
        replace(cluster(2), database=NotAsked("No database is named.", ("racwire check --connect",))),
        replace(asked(2), activity=Unknown("GRANT SELECT ON GV_$SYSSTAT TO RACWIRE; is missing. Ask a DBA.")),
    ],
    ids=["healthy", "black hole", "database", "losing", "nothing known", "not asked", "no grant"],
)
async def test_a_replay_has_the_same_result_as_the_live_run(built):
    report = await live(built)
    assert await replayed(report) == report


async def test_the_time_of_saving_stays_in_the_report():
    report = replace(await live(black_hole()), saved_at="2026-11-20T14:05:00.000+01:00", is_redacted=True)
    assert await replayed(report) == report


async def test_only_checks_of_the_run_are_run_again_and_nothing_is_gathered():
    report = await live(black_hole(), without=("interfaces", "df-ping"))
    engine = Replay(report, discover())
    (started,) = [event async for event in engine.events() if isinstance(event, RunStarted)]
    assert not {"interfaces", "df-ping"}.intersection(started.checks)
    assert engine.report() == report
    assert engine.journal.entries == list(report.journal)


async def test_before_its_run_a_replay_has_all_facts_and_the_findings_of_missing_checks():
    report = await live(black_hole())
    engine = Replay(report, [])
    assert engine.report() == report
    engine = Replay(report, discover())
    assert engine.report().cluster == report.cluster
    assert {f.check for f in engine.report().findings} == set(engine.kept)


async def test_a_check_that_is_not_installed_or_loadable_keeps_its_findings():
    report = await live(black_hole())
    here = [c for c in discover() if c.id not in ("df-ping", "interfaces")]
    broken = [BrokenPlugin("interfaces", "it has a fault"), BrokenPlugin("another", "it has one too")]
    engine = Replay(report, here, broken=broken)
    assert engine.kept["df-ping"] == "is not installed here"
    assert engine.kept["interfaces"] == "could not be loaded here: it has a fault"
    assert "another" not in engine.kept
    assert await replayed(report, here, broken=broken) == report


async def test_the_installed_version_of_a_check_judges():
    @check("interfaces", question="?", needs=("nodes",), kinds=(GOOD, BAD))
    def newer(facts):
        yield BAD.finding(f"{facts.nodes[0].name} is not as it was.", status=Status.FAIL, subject="rac1")

    report = await live(cluster(2))
    here = [c for c in discover() if c.id != "interfaces"] + [newer]
    found = (await replayed(report, here)).findings
    assert [f.code for f in found if f.check == "interfaces"] == ["T-SAVED-002"]
    assert found[0].code == "T-SAVED-002"
    assert {f.code for f in found if f.check != "interfaces"} == {
        f.code for f in report.findings if f.check != "interfaces"
    }


async def test_a_check_that_now_needs_more_facts_keeps_its_findings():
    @check("interfaces", question="?", needs=("nodes", "managed"), kinds=(GOOD, BAD))
    def newer(facts):
        yield GOOD.finding("?", status=Status.PASS)

    report = await live(cluster(2))
    assert await replayed(report, [newer]) == report


async def test_a_report_of_a_version_without_diagnosis_gets_one():
    report = await live(black_hole())
    assert report.diagnosis.hypotheses
    assert (await replayed(replace(report, diagnosis=Diagnosis()))).diagnosis == report.diagnosis


async def test_an_interrupted_run_stays_marked():
    whole = await live(black_hole())
    findings = [f for f in whole.findings if f.check != "df-ping"]
    unfinished = replace(INTERRUPTED.finding("df-ping had not concluded."), check="df-ping")
    findings = [unfinished, *findings]
    diagnosis = diagnose(whole.cluster, findings)
    report = replace(whole, interrupted=True, findings=tuple(findings), diagnosis=diagnosis)
    assert await replayed(report) == report


async def test_a_check_that_could_not_be_loaded_in_the_run_is_not_run_now():
    broken = replace(PLUGIN_BROKEN.finding("It could not be loaded."), check="df-ping")
    whole = await live(black_hole(), without=("df-ping",))
    findings = (broken, *whole.findings)
    report = replace(whole, findings=findings, diagnosis=diagnose(whole.cluster, findings))
    assert await replayed(report) == report


def only_of(built: Cluster, check: str) -> Cluster:
    """The facts of which a run of one check gathers groups."""
    groups = needed_groups([one for one in discover() if one.id == check])
    left = [group for group in built.gathered_groups() if group not in groups]
    return replace(built, **dict.fromkeys(left, NotGathered()))


async def later(then: Report, built: Cluster, check: str) -> Report:
    """The report after a run of one check on these facts."""
    part = await live(only_of(built, check), only=(check,))
    return judged_again(then, RunRecord(report=part, ended=0.0, checks=(check,)), {c.id: c for c in discover()})


@pytest.mark.parametrize(
    ("check", "again", "kept"),
    [("df-ping", ("interfaces", "clusterware"), ("nic-counters",)), ("nic-counters", ("interfaces",), ("df-ping",))],
)
async def test_a_replay_judges_what_later_runs_judged_again_and_keeps_what_has_facts_of_another_time(
    check: str, again: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    then = await live(
        asked(3, activity=losing(3, 37, {1: 37}, 2), counters=counters(3, change("rac2", Ip_ReasmFails=9)))
    )
    changed = cluster([node(1), node(2), with_interface(node(3), "eth1", mtu=1500)])
    now = replace(then.cluster, nodes=changed.nodes, networks=changed.networks)
    report = await later(then, now, check)
    assert {f.status for f in report.findings if f.check == "mtu-consistency"} == {Status.FAIL, Status.PASS}
    replay = Replay(report, discover())
    assert replay.kept.keys().isdisjoint({check, *again})
    assert {replay.kept[name] for name in kept} == {"was judged by facts that a later run of another check replaced"}
    assert await replayed(report) == report


async def test_thresholds_are_those_of_the_run_unless_others_are_named():
    built = asked(2, activity=losing(2, 37, {1: 37}, 2))
    report = await live(built, Settings(thresholds=ThresholdSettings(lost_blocks_fail_percent=0.001)))
    assert {f.status for f in report.findings if f.check == "gc-blocks-lost"} == {Status.FAIL}
    assert await replayed(report) == report
    milder = Settings(thresholds=ThresholdSettings(lost_blocks_fail_percent=99))
    again = await replayed(report, settings=milder)
    assert {f.status for f in again.findings if f.check == "gc-blocks-lost"} == {Status.WARN}
    assert again.settings["thresholds"]["lost_blocks_fail_percent"] == 99
    assert again.settings["probe"] == report.settings["probe"]


def waiver(expires: str, **more: str) -> Settings:
    fields = {"code": "IC-PATH-003", "subject": "*", "reason": "known", "by": "Ann Lee", "status": "FAIL", **more}
    return Settings(waivers=(Waiver(expires=date.fromisoformat(expires), **fields),))


async def test_waivers_are_judged_on_the_day_of_the_run():
    built = black_hole()
    report = replace(await live(built, waiver("2026-11-25")), started_at="2026-11-20T14:02:31.000+01:00")
    report = await replayed(report)
    assert [s.standing for s in report.waivers] == ["in force"]
    assert report.waived
    assert report.count(Status.FAIL) == 0
    assert await replayed(report) == report
    later = await replayed(replace(report, started_at="2026-11-26T14:02:31.000+01:00"))
    assert [s.standing for s in later.waivers] == ["expired"]
    assert later.count(Status.FAIL) == 1


async def test_waivers_are_judged_on_the_day_of_the_last_rerun_if_there_was_one():
    settings = waiver("2026-11-25")
    first, again = await live(black_hole(), settings), await live(black_hole(), settings)
    record = replace(again, started_at="2026-11-26T09:00:00.000+01:00", cluster=only_of(again.cluster, "df-ping"))
    whole = judged_again(
        replace(first, started_at="2026-11-20T14:02:31.000+01:00"),
        RunRecord(report=record, ended=0.0, checks=("df-ping",)),
        {c.id: c for c in discover()},
    )
    assert [s.standing for s in whole.waivers] == ["expired"]
    assert await replayed(whole) == whole


async def test_waivers_of_other_settings_replace_those_of_the_run():
    report = await live(black_hole())
    again = await replayed(report, settings=waiver("2999-01-01"))
    assert [f.code for f in again.waived] == ["IC-PATH-003"]
    assert [f.code for f in (await replayed(again, settings=Settings())).waived] == []


async def test_a_waiver_of_an_unchanged_finding_keeps_its_status():
    report = await live(black_hole(), waiver("2999-01-01"))
    here = [c for c in discover() if c.id != "df-ping"]
    assert await replayed(report, here) == report


async def test_an_empty_report_is_replayed_as_empty():
    known = report_of(cluster(1))
    report = replace(known, findings=(), journal=(), diagnosis=diagnose(known.cluster, ()))
    assert await replayed(report) == report
