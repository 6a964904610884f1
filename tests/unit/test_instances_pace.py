"""The pace of the instances in recordings, on stderr, in JSON lines and in graphs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from checks.traffic.json_text import to_json_text
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from checks.traffic.samples import Event, Gap, InstanceSample, InstancesPace
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tests.unit.recording_support import BEGIN, busy, header
from tui.cli.open import summary
from tui.cli.sampling_status import SamplingStatus
from tui.console.batch_writer import record
from tui.screens.traffic.metrics import INSTANCE
from tui.screens.traffic.rate_history import GraphSpan, Memo, instance_series, read

SIZE = InstancesPace(BEGIN, 4.0, 40.0, "instances", "16 instances")
SLOW = InstancesPace(BEGIN + 60, 10.0, 60.0, "slow", "GV$ took 2.1 s")
BACK = msgspec.structs.replace(SLOW, interval_s=5.0, returns_to_s=4.0)


def test_the_text_has_the_interval_the_reason_and_the_return() -> None:
    assert [pace.text for pace in (InstancesPace(BEGIN, 1.0, 10.0), SIZE, SLOW, BACK)] == [
        "every 1 s",
        "every 4 s: 16 instances",
        "every 10 s: GV$ took 2.1 s",
        "every 5 s, returning to 4 s: GV$ took 2.1 s",
    ]


def test_the_header_of_a_recording_has_the_last_pace(tmp_path: Path) -> None:
    path = tmp_path / "paced.rec"
    recorder = Recorder.create(path, header())
    for number, events in enumerate(busy(3)):
        record(recorder, [*events, *([SIZE, SLOW] if number == 1 else [])])
    recorder.close()
    recording = Recording.open(path)
    assert recording.header.instances_pace == SLOW
    assert "Instances every 10 s: GV$ took 2.1 s (at the end)" in summary(path, recording)
    assert not [event for event in recording.events() if isinstance(event, InstancesPace)]
    recording.close()


def test_a_header_without_a_pace_and_one_of_a_newer_racwire_are_read() -> None:
    old = msgspec.to_builtins(header())
    del old["instances_pace"]
    assert msgspec.convert(old, Header).instances_pace is None
    newer = msgspec.to_builtins(msgspec.structs.replace(header(), instances_pace=SIZE))
    newer["instances_pace"]["more"] = 1
    assert msgspec.convert(newer, Header).instances_pace == SIZE


def test_a_pace_is_a_line_of_json() -> None:
    line = json.loads(to_json_text(SIZE))
    assert (line["fact"], line["interval_s"], line["reason"]) == ("InstancesPace", 4.0, "16 instances")


def test_a_pace_that_changes_all_night_does_not_fill_the_log() -> None:
    lines: list[str] = []
    status = SamplingStatus(lines.append)
    status(InstancesPace(BEGIN, 1.0, 10.0))
    for _ in range(50):
        for pace in (SIZE, SLOW, BACK):
            status(pace)
    worse = msgspec.structs.replace(SLOW, interval_s=20.0, reason="GV$ took 4.9 s")
    status(worse)
    assert lines == [
        "instances are sampled every 4 s: 16 instances.",
        "instances are sampled every 10 s: GV$ took 2.1 s.",
        "instances are sampled every 20 s: GV$ took 4.9 s.",
    ]
    assert status.samples == 0


# --- graphs -----------------------------------------------------------------------------------------------------------


def sample(at: float, seconds: float, messages: bool = False) -> InstanceSample:
    statistics = {"gc cr blocks received": round(100 * seconds), "gc current blocks received": 0, "gc blocks lost": 0}
    counted = {"gcs msgs received": round(50 * seconds), "ges msgs received": 0} if messages else {}
    return InstanceSample("prod1", 1, "rac1", BEGIN + at, seconds, statistics, counted)


def series_at(end: float, events: list[Event], instances_interval_s: float):
    timeline = Timeline()
    timeline.add(events)
    span = GraphSpan(BEGIN + end, 1.0, 30, 1.0, instances_interval_s)
    return instance_series(read(timeline, span, [SourceId.instance("prod1")], Memo()), "prod1")


def test_a_sample_that_slowed_down_is_not_missing_before_it_is_due() -> None:
    events: list[Event] = [sample(1, 1.0), sample(2, 1.0)]
    assert "no sample" in series_at(10, events, 1.0).trouble
    assert series_at(10, events, 10.0).trouble == ""
    assert "no sample" in series_at(40, events, 10.0).trouble


def drawn_at(end: float, events: list[Event], instances_interval_s: float) -> str:
    lost = next(metric for metric in INSTANCE.first if metric.label == "blocks in")
    return series_at(end, events, instances_interval_s).drawn(lost.read, 20, 200.0, "ascii")


def test_a_graph_has_the_last_value_until_the_next_sample_is_due() -> None:
    events: list[Event] = [sample(at, 8.0) for at in (8, 16)]
    assert [drawn_at(end, events, 8.0)[-8:] for end in (16, 20, 24, 25)] == [drawn_at(16, events, 8.0)[-8:]] * 4
    assert " " not in drawn_at(24, events, 8.0)[-20:]
    assert drawn_at(27, events, 8.0)[-11:] == " " * 11, "a late sample must not look as if it had come"
    assert drawn_at(20, events, 1.0)[-4:] == " " * 4, "samples of every second are late after four"
    late = [*events, sample(24, 8.0)]
    assert " " not in drawn_at(24, late, 8.0)


def test_a_graph_has_no_value_in_a_gap() -> None:
    events: list[Event] = [sample(8, 8.0), Gap(SourceId.instance("prod1"), BEGIN + 9, "prod1 hangs.")]
    assert drawn_at(12, events, 8.0)[-4:] == " " * 4


def test_irregular_samples_have_one_rate() -> None:
    events: list[Event] = [sample(at, seconds) for at, seconds in ((1, 1.0), (2, 1.0), (6, 4.0), (16, 10.0), (18, 2.0))]
    values = series_at(18, events, 10.0).values(lambda rates: rates.blocks_in_per_s)
    assert [value for value in values if value is not None] == pytest.approx([100.0] * 18)


def test_the_newest_known_count_of_messages_is_the_present_one() -> None:
    messages, *_ = INSTANCE.further
    events: list[Event] = [sample(1, 1.0), sample(2, 1.0, messages=True), sample(3, 1.0), sample(4, 1.0)]
    assert messages.now(series_at(4, events, 1.0)).strip() == "50.0/s"
    assert messages.now(series_at(4, events[:1], 1.0)).strip() == "?/s"
