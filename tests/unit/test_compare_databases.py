"""Two databases of one cluster in one comparison: a recording each, of the same times."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.facts import Database, ServiceActivity
from checks.traffic.compare.comparison import Comparison, ComparisonVerdict
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import ImportProblem
from checks.traffic.recorder import Recorder
from checks.traffic.samples import Event, InstanceSample, PairsSample
from tests.fixtures.databases import database
from tests.unit.compare_support import FakeRecording, cluster, recording
from tui.cli.main import main


def of_database(name: str, seed: int, commits: int, *, later_s: float = 0.0) -> FakeRecording:
    """Return the recording of a database with the instances NAME1 and NAME2, with so many commits a second each."""
    events: list[Event] = []
    for event in recording(seed, seconds=240).events():
        if isinstance(event, InstanceSample):
            statistics = {**event.statistics, "user commits": commits + seed % 7, "user rollbacks": 1}
            event = replace(event, instance=f"{name}{event.number}", statistics=statistics)
        elif isinstance(event, PairsSample):
            work = (("orders", commits), ("SYS$BACKGROUND", 9))
            services = [
                ServiceActivity(n, service, 10**4 * c, 2 * 10**3 * c, 10 * c) for n in (1, 2) for service, c in work
            ]
            event = replace(event, services=tuple(services))
        events.append(replace(event, at=event.at + later_s))
    known = database()
    assert isinstance(known, Database)
    return FakeRecording(events, cluster=replace(cluster(), database=replace(known, name=name)))


def compared(second_after: FakeRecording) -> Comparison:
    recordings = [("before.rec", of_database("prod", 1, 500)), ("after.rec", of_database("prod", 2, 500))]
    others = {0: [("hr-before.rec", of_database("hr", 3, 200))], 1: [("hr-after.rec", second_after)]}
    (before, after), stretch_s = runs_of(recordings, others=others)
    return compare([Runs(before, after, None, stretch_s)])


def test_each_database_is_compared_with_its_own_and_all_have_a_sum() -> None:
    found = {one.name: one for one in compared(of_database("hr", 4, 100)).metrics}
    assert found["prod transactions"].verdict is ComparisonVerdict.NO_DIFFERENCE
    assert found["hr transactions"].verdict is ComparisonVerdict.WORSE
    centres = [found[name].before.centre for name in ("transactions", "prod transactions", "hr transactions")]
    assert centres == [2 * (501 + 1) + 2 * (203 + 1), 2 * (501 + 1), 2 * (203 + 1)]
    assert found["hr1 transactions"].part_of == "hr transactions"
    assert found["hr transactions"].part_of == ""


def test_each_service_of_each_database_is_compared_with_itself() -> None:
    found = {one.name: one for one in compared(of_database("hr", 4, 100)).metrics}
    assert found["service prod orders blocks received"].verdict is ComparisonVerdict.NO_DIFFERENCE
    fewer = found["service hr orders blocks received"]
    assert (fewer.before.centre, fewer.after.centre) == pytest.approx((400, 200))
    assert found["service hr orders DB time per second"].before.centre == pytest.approx(0.4)
    assert found["service hr orders cluster waits of DB time"].before.centre == pytest.approx(20)
    assert not any("BACKGROUND" in name for name in found)


def test_the_counters_of_nodes_are_those_of_the_first_recording_and_their_blocks_those_of_all() -> None:
    alone = runs_of([("a", of_database("prod", 1, 500))])[0][0]
    both = runs_of([("a", of_database("prod", 1, 500))], others={0: [("b", of_database("hr", 3, 200))]})[0][0]
    one, other = ({m.name: m for m in run.measured} for run in (alone, both))
    assert other["private in"].values == one["private in"].values
    per_block, halved = (found["packets in per block"].values for found in (one, other))
    assert sum(halved) / len(halved) == pytest.approx(sum(per_block) / len(per_block) / 2, rel=0.1)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (of_database("hr", 3, 200, later_s=1000.0), "b is not of the same time as a: record both databases at once."),
        (of_database("prod", 3, 200), "b and a are of the same database, prod: name one of each."),
        (recording(1, seconds=240), "b has no database: not requested."),
    ],
)
def test_a_recording_that_is_no_other_database_of_this_time_is_refused(second: FakeRecording, said: str) -> None:
    with pytest.raises(ImportProblem) as refused:
        runs_of([("a", of_database("prod", 1, 500))], others={0: [("b", second)]})
    assert str(refused.value) == said


def test_the_command_adds_the_recordings_of_the_other_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {}
    for name, own in (("before", of_database("prod", 1, 500)), ("after", of_database("prod", 2, 500)),
                      ("hr-before", of_database("hr", 3, 200)), ("hr-after", of_database("hr", 4, 100))):  # fmt: skip
        files[name] = str(tmp_path / f"{name}.rec")
        recorder = Recorder.create(tmp_path / f"{name}.rec", own.header)
        recorder.write(own.events())
        recorder.close()
    code = main(["compare", files["before"], files["after"], "--also", files["hr-before"], files["hr-after"]])
    printed = capsys.readouterr().out
    assert code == 1
    assert "with hr-before.rec, recording" in " ".join(printed.split())
    rows = [line.split()[:2] for line in printed.splitlines() if " transactions, 1/s" in f" {line}"]
    assert sorted(rows) == [["hr", "transactions,"], ["prod", "transactions,"], ["transactions,", "1/s"]]
    words = ["compare", files["before"], files["after"], "--also", files["hr-before"], files["hr-after"]]
    assert main([*words[:-1], files["before"]]) == 64
    assert main([*words, "--same", files["after"].replace("after", "again")]) == 64
