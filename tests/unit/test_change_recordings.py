"""Recordings of a change: what their samples hold, and two of them compared as `racwire compare` does."""

from pathlib import Path

import msgspec
import pytest

from checks.change.session.recording_facts import compare_recordings, see_recording, summarised
from checks.model.facts import BeforeAfter, NoRecording, RecordingsCompared, SeenRecording, Unknown
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.recorder import Recorder
from tests.unit.compare_support import recording


def written(path: Path, seed: int, **more: object) -> Path:
    fake = recording(seed, seconds=90, **more)  # type: ignore[arg-type]
    recorder = Recorder.create(path, fake.header)
    recorder.write(list(fake.events()))
    recorder.close()
    return path


def test_the_contents_of_a_recording_are_read_from_its_samples(tmp_path):
    seen = see_recording(written(tmp_path / "before.rec", 1, mtu=1500))
    assert isinstance(seen, SeenRecording)
    assert (seen.seconds, seen.sampled, seen.begun_at) == (90, {"rac1": 1, "rac2": 1}, "2026-11-21T14:00:00+01:00")
    assert seen.mtus == {"rac1": {"eth1": (1500,)}, "rac2": {"eth1": (1500,)}}
    assert seen.private_bytes_per_s["rac1"] > 1_000_000


def test_a_file_that_is_not_a_recording_is_reported(tmp_path):
    assert see_recording(tmp_path / "none") == NoRecording(str(tmp_path / "none"))
    (tmp_path / "text").write_text("hello")
    assert isinstance(see_recording(tmp_path / "text"), Unknown)
    assert isinstance(compare_recordings(tmp_path / "text", tmp_path / "text"), Unknown)
    assert compare_recordings(tmp_path / "none", tmp_path / "text") == NoRecording(str(tmp_path / "none"))


@pytest.mark.parametrize("time", ["", "x; reboot", "2026-11-21T14:00:00", "2026-11-21T14:00:00+01:00\nx"])
def test_a_recording_without_a_time_of_its_start_is_reported(tmp_path, time):
    fake = recording(1, seconds=90)
    recorder = Recorder.create(tmp_path / "before.rec", msgspec.structs.replace(fake.header, started_at=time))
    recorder.close()
    seen = see_recording(tmp_path / "before.rec")
    assert seen == Unknown(f"{tmp_path}/before.rec has no time of its start: record again.")


def test_two_recordings_are_compared_as_racwire_compare_does(tmp_path):
    before = written(tmp_path / "before.rec", 1, mtu=1500)
    compared = compare_recordings(before, written(tmp_path / "after.rec", 2, mtu=9000))
    assert isinstance(compared, RecordingsCompared)
    assert compared.harm == ()
    assert compared.open == ()
    assert compared.figures["packets per block received"] == BeforeAfter(before="6.00", after="1.00")
    assert any("At MTU 1500 a block took 6.0 packets, at 9000 1.0" in sentence for sentence in compared.summary)


def comparison(**after: object) -> RecordingsCompared:
    runs, stretch_s = runs_of([("before", recording(1, seconds=120)), ("after", recording(2, seconds=120, **after))])
    return summarised(compare([Runs(runs[0], runs[1], None, stretch_s)]))


def test_more_losses_and_longer_receive_times_are_worse_and_another_load_is_inconclusive():
    assert any("blocks lost from 0" in text for text in comparison(mtu=9000, lost_per_s=0.9).harm)
    assert any("receive time" in text for text in comparison(mtu=9000, receive_cs_per_block=0.15).harm)
    shifted = comparison(mtu=9000, blocks=2000.0)
    assert not shifted.harm
    assert any("the load was not the same" in text for text in shifted.open)


def test_too_few_samples_are_inconclusive():
    runs, stretch_s = runs_of([("before", recording(1, seconds=8)), ("after", recording(2, seconds=8))])
    assert summarised(compare([Runs(runs[0], runs[1], None, stretch_s)])).open
