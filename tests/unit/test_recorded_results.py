"""The results of measurements in recordings: the newest at the start, and those that end meanwhile."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.measurement import Measurement
from checks.redact import Pseudonyms, Redactor
from checks.rules.measured_moment import misfit
from checks.run.stored_measurements import ResultsMeanwhile, store_result
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from tests.fixtures.clusters import cluster, clusterware, node
from tests.unit import measurement_support as made
from tests.unit.compare_support import BEGIN, FakeRecording, links, recording
from tests.unit.recording_support import header
from tui.cli.main import main
from tui.console.batch_writer import record

START = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def kept(minutes: float, one: Measurement | None = None) -> Measurement:
    """Keep a result that was started so many minutes after the start, and took a minute and a half."""
    found = replace(one or made.sizes(), started_at=(START + timedelta(minutes=minutes)).isoformat())
    assert store_result(found).path
    return found


def of_practice(mtu: int = 1500) -> Header:
    named = replace(cluster([node(1, mtu), node(2, mtu)]), clusterware=replace(clusterware(), cluster_name="practice"))
    return replace(header(), started_at=START.isoformat(), cluster=named)


def test_the_newest_at_the_start_and_all_that_end_later_belong_to_a_recording() -> None:
    practice = of_practice().cluster
    kept(-120, made.hashes())
    older, mix = kept(-60), kept(-30, made.mix())
    kept(-20, made.sizes(9000))
    kept(-60, replace(made.rate(), cluster="another"))
    meanwhile = ResultsMeanwhile(START)
    assert meanwhile.look(practice, 10) == (older, mix)
    assert meanwhile.look(practice, 10) is None
    ended_after_the_start, later = kept(-1), kept(5, made.sizes(9000))
    assert meanwhile.look(practice, 10) == (older, mix, ended_after_the_start, later)
    assert ResultsMeanwhile(START).look(cluster(2), 10) is None


def test_a_recording_has_them_also_those_of_its_last_moment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older = kept(-60)
    recorder = Recorder.create(tmp_path / "a.rec", of_practice())
    recorder.follow_results(10)
    later = kept(5, made.drill())
    recorder.close()
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        assert recording.header.measurements == (older, later)
    assert main(["open", str(tmp_path / "a.rec")]) == 0
    printed = capsys.readouterr().out
    assert "Measured  sizes, 2026-11-24 11:00:00 +00:00: 8 KB 113 us p50" in printed
    assert "          drill, 2026-11-24 12:05:00 +00:00: longest silence 1.02 s" in printed


def test_without_a_known_cluster_there_are_none(tmp_path: Path) -> None:
    kept(1)
    recorder = Recorder.create(tmp_path / "a.rec", header())
    record(recorder, [])
    recorder.close()
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        assert recording.header.measurements == ()


def recorded(path: Path, mtu: int, *results: Measurement, before_s: float = 300.0) -> str:
    """Write a recording at an MTU, with results that started so many seconds before it, and return its path."""
    at = datetime.fromtimestamp(BEGIN - before_s, UTC).isoformat()
    own = tuple(replace(one, started_at=at) for one in results)
    recorder = Recorder.create(path, replace(of_practice(mtu), measurements=own))
    recorder.write(recording(1, mtu=mtu, seconds=90).events())
    recorder.close()
    return str(path)


def test_results_of_two_recordings_are_compared_for_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded(tmp_path / "before.rec", 1500, made.sizes(1500, seed=1), made.mix())
    after = recorded(tmp_path / "after.rec", 9000, made.sizes(9000, seed=2), made.mix())
    main(["compare", before, after])
    printed = " ".join(capsys.readouterr().out.split())
    assert "BEFORE in before.rec, measure sizes" in printed
    assert "Measured: Better: " in printed
    # The same mix is in both, at MTU 1500.
    assert "Not compared: after.rec has no measurement mix. That of" in printed
    assert "BEFORE in before.rec, measure mix" not in printed


@pytest.mark.parametrize(
    ("mtu", "before_s", "why"),
    [
        (1500, 300, "rac1 to rac2 on 192.168.10.0/24 had MTU 1500, and 9000 in it"),
        (9000, 86_400, "it ended more than an hour before"),
    ],
)
def test_a_result_of_another_moment_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mtu: int, before_s: float, why: str
) -> None:
    before = recorded(tmp_path / "before.rec", 1500, made.sizes(1500))
    after = recorded(tmp_path / "after.rec", 9000, made.sizes(mtu, seed=2), before_s=before_s)
    main(["compare", before, after])
    printed = " ".join(capsys.readouterr().out.split())
    assert "measure sizes" not in printed.partition("Not compared: ")[0]
    command = "`racwire measure sizes --on 192.168.10.0/24 --to rac2 --go practice`"
    day = datetime.fromtimestamp(BEGIN - before_s, UTC).date()
    assert f"has no measurement sizes. That of {day} " in printed
    assert f"is not of its time: {why}." in printed
    assert f"measure on rac1: {command}" in printed


def test_a_change_within_the_compared_part_leaves_no_result_to_it() -> None:
    moved = [*recording(1, mtu=1500, seconds=60).events(), links("rac1", 9000, BEGIN + 30)]
    moved.append(links("rac2", 9000, BEGIN + 30))
    found = FakeRecording(sorted(moved, key=lambda event: event.at), cluster=of_practice().cluster)
    whole, end = (runs_of([("a", found)], skip_first_s=skip_s)[0][0].moment for skip_s in (0.0, 40.0))
    at = datetime.fromtimestamp(BEGIN + 45, UTC).isoformat()
    small, large = (replace(made.sizes(mtu), started_at=at) for mtu in (1500, 9000))
    assert [misfit(one, whole) is None for one in (small, large)] == [False, False]
    assert [misfit(one, end) is None for one in (small, large)] == [False, True]


def test_the_names_in_them_are_redacted(tmp_path: Path) -> None:
    results = (replace(made.storage(), although_loaded="Ann agreed"), made.drill())
    Recorder.create(tmp_path / "a.rec", replace(of_practice(), measurements=results)).close()
    Redactor(Pseudonyms()).recording(tmp_path / "a.rec", tmp_path / "b.rec")
    with closing(Recording.open(tmp_path / "b.rec")) as recording:
        text = str(recording.header.measurements)
    assert [name for name in ("rac1", "practice", "filer1", "192.168.10.1'", "/fra") if name in text] == []
