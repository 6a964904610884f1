"""What marks, causes, hints and sentences make of a situation, rule by rule."""

import pytest
from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Unknown
from checks.model.finding import Finding, Status, keyed
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis
from checks.model.observation import Fate, Observation
from checks.model.report import Report, make_report
from checks.model.situation import (
    ConditionStatement,
    Episode,
    FindingStatement,
    Situation,
    Standing,
    Statement,
)
from checks.report.causes import cause_entries, stated_entries
from checks.report.event_text import headline, where
from checks.report.standing_text import brief_standing, episode_text, said_text
from checks.report.standings import Standings
from checks.situation.at_moment import Inputs
from checks.situation.at_moment import situation as made_of
from checks.situation.condition_readings import ConditionReading
from checks.situation.foremost import needs_run
from checks.situation.marks import node_marks
from checks.situation.run_history import GoneFinding, RunHistory
from tests.fixtures.clusters import cluster
from tui.console.finding_rows import cause_rows
from tui.screens.paths.lines import no_networks_lines
from tui.text.line import plain

PLANNED = Statement(standing=Standing.PLANNED, is_bad=True, since=1, as_of=1, step="stack down")
HOLDS = Statement(standing=Standing.HOLDS, is_bad=True, since=1, as_of=9)
WAS = Statement(standing=Standing.WAS, is_bad=True, since=1, as_of=9, until=5)


def time(at: float) -> str:
    return f"{at:.0f}"


def no_link(node: str) -> Finding:
    seen = Observation(fate=Fate.STATE, what="link", nodes=(node,), nic="eth1", condition=ConditionKind.LINK)
    title = f"eth1 of {node} has no link."
    return Finding(
        code="IC-IFACE-004", check="interfaces", status=Status.FAIL, title=title, nodes=(node,),
        observed=(seen,),
    )  # fmt: skip


def links_of(*said: Statement) -> tuple[Report, Situation]:
    """A cause that is shown by a link without carrier on rac1, rac2, …, each with how it stands."""
    found = tuple(no_link(f"rac{number}") for number in range(1, len(said) + 1))
    keys = tuple(key for key, _ in keyed(found))
    titles = tuple(finding.title for finding in found)
    cause = Hypothesis(
        cause="CAUSE-37", name="A private network is down", standing=Certainty.PROVED, entry=1, headline=titles[0],
        shown_by=keys, because=titles,
    )  # fmt: skip
    report = make_report(
        version="1", started_at="2026-09-10T11:00:00+00:00", duration_s=1.0, cluster=cluster(), findings=found,
        journal=(), diagnosis=Diagnosis(hypotheses=(cause,)),
    )  # fmt: skip
    situation = Situation(at=9, findings=tuple(map(FindingStatement, keys, said)))
    return replace(report, situation=situation), situation


def event(kind: EventKind, *places: EventPlace, end: float | None = None) -> ClusterEvent:
    return ClusterEvent(1, kind, Status.FAIL, places, 1, end=end, noticed=1, last_sign=4, sample_s=1)


def test_a_cause_names_what_still_fails_and_marks_no_node_where_it_is_over():
    report, situation = links_of(WAS, HOLDS)
    (entry,) = cause_entries(report)
    assert (entry.headline, entry.because) == ("eth1 of rac2 has no link.", ())
    ((whole, now),) = stated_entries(report, Standings(report, situation))
    assert len(whole.findings) == 2
    assert now == entry
    assert {*node_marks(report, situation)} == {"rac2"}


def test_a_state_that_lasts_is_said_of_the_places_where_it_does():
    back, down = EventPlace(1, "rac1", "eth1", until=3), EventPlace(1, "rac2", "eth1")
    lasting = event(EventKind.LINK_DOWN, back, down)
    assert (headline(lasting), where(lasting)) == ("eth1 of rac2 has no link", "eth1 of rac2")
    assert headline(replace(lasting, end=8)) == "eth1 of rac1 and rac2 had no link"


def test_while_a_loss_pauses_its_last_block_is_said():
    loss = Episode(event=event(EventKind.LOST_BLOCKS, EventPlace(1, "rac1")), as_of=2)
    assert episode_text(loss, time, 5) == "lasts, as of 2"
    assert episode_text(loss, time, 25) == "last 4"


@pytest.mark.parametrize(("since", "listed"), [(2, 0), (4, 1)])
def test_a_fault_that_a_run_lost_is_not_over_while_its_event_goes_on(since: float, listed: int):
    (key, found), *_ = keyed((no_link("rac1"),))
    lost = GoneFinding(
        key=key, finding=found, report=links_of(HOLDS)[0], since=1, as_of=3, looked=5, looked_last=5, is_proved=False,
        rests_on=frozenset(),
    )  # fmt: skip
    down = event(EventKind.LINK_DOWN, EventPlace(1, "rac1", "eth1", noticed=2))
    read = ConditionReading(Condition(ConditionKind.LINK, "rac1", "eth1"), since, since, True, False)
    made = made_of(Inputs(now=9, history=RunHistory(gone=(lost,)), events=(down,), sampled=(read,)))
    assert len(made.former) == listed


def test_a_time_is_not_said_twice_nor_an_end_that_nobody_saw():
    new = Statement(standing=Standing.NEW, is_bad=True, since=2, as_of=2)
    assert said_text(new, time) == "new since the run: since 2"
    assert said_text(replace(new, as_of=3), time) == "new since the run: since 2, as of 3"
    over = Statement(standing=Standing.VERIFIED, is_bad=True, since=2, as_of=9, proved=9)
    assert (said_text(over, time), brief_standing(over, time)) == ("over, verified 9", "over, verified 9")


def test_no_run_is_due_for_a_time_without_samples_nor_for_what_is_bad_again():
    over = Episode(event=event(EventKind.LINK_DOWN, EventPlace(1, "rac1", "eth1"), end=3), until=3, as_of=3)
    assert needs_run(over)
    assert not needs_run(replace(over, is_again=True))
    assert not needs_run(replace(over, event=event(EventKind.NO_SAMPLES, EventPlace(1, "rac1"), end=3)))


def test_a_planned_stop_of_the_database_marks_the_nodes_of_its_instances_and_explains_the_networks():
    database = ConditionStatement(Condition(ConditionKind.DATABASE), PLANNED)
    silent = replace(HOLDS, standing=Standing.UNKNOWN)
    instance = ConditionStatement(Condition(ConditionKind.INSTANCE, "rac2", "prod2"), silent)
    assert node_marks(None, Situation(at=9, conditions=(database, instance)))["rac2"].sign == "~"
    assert not node_marks(None, Situation(at=9, conditions=(instance,)))
    facts = replace(cluster(), networks=Unknown("oifcfg: PRIF-10."))
    lines = no_networks_lines(facts, 120, planned=said_text(PLANNED, time))
    text = " ~ The private networks are not known, planned by the step stack down, as of 1. oifcfg: PRIF-10."
    assert [plain([line]) for line in lines] == [text]


def test_what_proves_a_cause_over_looks_also_at_what_is_over_already():
    report, situation = links_of(WAS, HOLDS)
    (row,) = cause_rows(report, Standings(report, situation))
    assert row.entry is not None
    assert len(row.entry.all_findings) == 1
    assert row.findings == report.findings
