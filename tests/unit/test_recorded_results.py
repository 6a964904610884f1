"""The results of measurements in recordings: the newest at the start, and those that end meanwhile."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.measurement import Measurement
from checks.redact import Pseudonyms, Redactor
from checks.run.stored_measurements import ResultsMeanwhile, store_result
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from tests.fixtures.clusters import cluster, clusterware
from tests.unit import measurement_support as made
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


def of_practice() -> Header:
    named = replace(cluster(2), clusterware=replace(clusterware(), cluster_name="practice"))
    return replace(header(), started_at=START.isoformat(), cluster=named)


def test_the_newest_at_the_start_and_all_that_end_later_belong_to_a_recording() -> None:
    kept(-120)
    older, mix = kept(-60), kept(-30, made.mix())
    kept(-60, replace(made.rate(), cluster="another"))
    meanwhile = ResultsMeanwhile(START)
    assert meanwhile.look("practice", 10) == (older, mix)
    assert meanwhile.look("practice", 10) is None
    ended_after_the_start, later = kept(-1), kept(5)
    assert meanwhile.look("practice", 10) == (older, mix, ended_after_the_start, later)
    assert ResultsMeanwhile(START).look("nowhere", 10) is None


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


def test_results_of_two_recordings_are_compared_for_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, mtu in (("before", 1500), ("after", 9000)):
        results = (made.sizes(mtu, seed=mtu), made.mix())
        Recorder.create(tmp_path / f"{name}.rec", replace(of_practice(), measurements=results)).close()
    main(["compare", str(tmp_path / "before.rec"), str(tmp_path / "after.rec")])
    printed = capsys.readouterr().out
    assert "BEFORE   in before.rec, measure sizes" in printed
    assert "measure mix" not in printed  # the same result is in both
    assert "Measured: Better: " in printed


def test_the_names_in_them_are_redacted(tmp_path: Path) -> None:
    results = (replace(made.storage(), although_loaded="Ann agreed"), made.drill())
    Recorder.create(tmp_path / "a.rec", replace(of_practice(), measurements=results)).close()
    Redactor(Pseudonyms()).recording(tmp_path / "a.rec", tmp_path / "b.rec")
    with closing(Recording.open(tmp_path / "b.rec")) as recording:
        text = str(recording.header.measurements)
    assert [name for name in ("rac1", "practice", "filer1", "192.168.10.1'", "/fra") if name in text] == []
