"""`racwire watch --events` on a recording, and live without a cluster: lines, JSON lines, exit codes; and the texts."""

import json
from itertools import pairwise

import pytest
from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.exit_codes import ExitCode
from checks.model.finding import Status
from checks.report.event_text import came_back, headline, outcome, peak, sentence, what, where
from checks.traffic.recorder import Recorder
from checks.traffic.samples import Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.unit.events_support import facts, loses, run, seen, with_counts
from tests.unit.record_command_support import racwire
from tests.unit.recording_support import header


def recording(path, items):
    """Write the items, as `racwire record` does each second."""
    recorder = Recorder.create(path, replace(header(), cluster=facts()))
    recorder.write(items)
    recorder.close()
    return path


def losing(at, item):
    return loses(item, 2000) if 21 <= at < 31 and isinstance(item, InstanceSample) and item.number != 3 else item


def unread(at, item):
    return Gap(SourceId.node("rac3"), item.at, "ssh refused") if item.source == SourceId.node("rac3") else item


def dropping(at, item):
    wrong = 21 <= at < 31 and isinstance(item, NodeSample) and item.node == "rac2"
    return with_counts(item, Dropped=4) if wrong else item


def test_a_recording_is_printed_as_events_with_begin_end_and_peak(tmp_path):
    path = recording(tmp_path / "a.rec", run(90, losing))
    ran = racwire("watch", "--events", "--from", str(path))
    assert ran.returncode == ExitCode.FAILURES
    starts, ends = ran.stdout.splitlines()
    assert " ".join(starts.split()[2:]) == "F starts blocks lost on rac1 and rac2, 4,000/s"
    assert ends.endswith("blocks lost on rac1 and rac2, 40,000 blocks lost in 10 s, at most 4,000/s")
    assert "1 event in" in ran.stderr
    assert racwire("watch", "--events", "-q", str(path)).stderr == ""


def test_json_lines_of_a_recording_have_the_events_as_the_live_samples_had_them(tmp_path):
    items = list(run(90, losing))
    path = recording(tmp_path / "a.rec", items)
    ran = racwire("watch", "--events", "--format", "json", str(path))
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["state"] for line in lines] == ["starts", "ends"]
    (event,) = seen(items)
    assert lines[1]["fact"] == "ClusterEvent"
    assert (lines[1]["kind"], lines[1]["status"], lines[1]["count"]) == ("lost-blocks", "FAIL", event.count)
    assert (lines[1]["start"], lines[1]["end"]) == (pytest.approx(event.start), pytest.approx(event.end))
    assert [place["node"] for place in lines[1]["places"]] == ["rac1", "rac2"]
    assert lines[1]["checks"][0] == "gc-blocks-lost"
    assert lines[1]["text"].startswith("40,000 blocks were lost on rac1 and rac2")


@pytest.mark.parametrize(
    ("change", "code", "states"),
    [
        (lambda _, item: item, ExitCode.PASS, []),
        (dropping, ExitCode.WARNINGS, ["starts", "ends"]),
        (unread, ExitCode.COULD_NOT_TELL, []),
        (lambda at, item: losing(at, unread(at, item)), ExitCode.FAILURES, ["starts", "ends"]),
    ],
)
def test_the_exit_code_is_that_of_the_worst_event(tmp_path, change, code, states):
    path = recording(tmp_path / "a.rec", run(90, change))
    ran = racwire("watch", "--events", "--format", "json", "--from", str(path))
    assert [json.loads(line)["state"] for line in ran.stdout.splitlines()] == states
    assert ran.returncode == code
    assert ("never seen: rac3" in ran.stderr) == (change not in (dropping,) and code is not ExitCode.PASS)


def test_an_event_that_lasts_is_named_at_the_end(tmp_path):
    path = recording(tmp_path / "a.rec", run(28, losing))
    lines = racwire("watch", "--events", "--from", str(path)).stdout.splitlines()
    assert [line.split()[3] for line in lines] == ["starts", "lasts"]


def test_wrong_uses_are_refused_in_a_sentence(tmp_path):
    path = str(recording(tmp_path / "a.rec", run(3)))
    for words, text in (
        (("--events", "--from", path, path), "leave one of them out"),
        (("--events", "--for", "3s", path), "are for live samples"),
        (("--format", "text", path), "add --events"),
        (("--events", str(tmp_path / "none.rec")), "none.rec"),
    ):
        ran = racwire("watch", *words)
        assert (ran.returncode, ran.stdout) == (ExitCode.USAGE, "")
        assert text in ran.stderr


def test_live_without_a_cluster_there_is_no_event_and_the_command_ends():
    ran = racwire("watch", "--events", "--for", "3s")
    assert ran.stdout == ""
    assert "no event in" in ran.stderr
    assert ran.returncode in (ExitCode.PASS, ExitCode.COULD_NOT_TELL)


# --- texts ------------------------------------------------------------------------------------------------------------


def event(kind, *places, **more):
    return ClusterEvent(1, kind, Status.FAIL, places, 100.0, **{"unit": "s", "peak_at": 100.0, **more})


def at(node="", interface="", instance=""):
    return EventPlace(100.0, node, interface, "", instance)


RAC1, RAC2 = at("rac1"), at("rac2")
TEXTS = [
    (event(EventKind.LOST_BLOCKS, RAC1, RAC2, count=37, peak=13.1, pairs=(("rac1", "rac2"),)),
     "blocks lost on rac1 and rac2", "13.1/s",
     "37 blocks were lost on rac1 and rac2 (rac1 → rac2), at most 13.1/s."),
    (event(EventKind.NIC_DROPS, at("rac1", "eth2"), at("rac2", "eth2"), count=1, peak=0.01),
     "packets dropped at eth2 of rac1 and rac2", "<0.1/s",
     "1 packet was dropped at eth2 of rac1 and rac2, at most <0.1/s."),
    (event(EventKind.NODE_SILENT, RAC2, reason="ssh hangs."), "rac2 does not answer", "22 s",
     "rac2 does not answer. ssh hangs."),
    (event(EventKind.INSTANCE_DOWN, at("rac1", instance="prod1"), at("rac2", instance="prod2"), end=130.0),
     "prod1 and prod2 were down", "30 s", "prod1 and prod2 were down."),
    (event(EventKind.LINK_DOWN, at("rac2", "eth2")), "eth2 of rac2 has no link", "22 s", "eth2 of rac2 has no link."),
    (event(EventKind.MTU, at("rac2", "eth2"), peak=1400.0, former=9000.0),
     "MTU of eth2 of rac2 changed from 9000 to 1400", "1400", "MTU of eth2 of rac2 changed from 9000 to 1400."),
    (event(EventKind.LINK_SPEED, at("rac2", "eth2"), peak=1000.0, former=10_000.0),
     "speed of eth2 of rac2 changed from 10000 to 1000 Mbit/s", "1000",
     "Speed of eth2 of rac2 changed from 10000 to 1000 Mbit/s."),
    (event(EventKind.CLOCK_JUMP, RAC1, peak=-60.0), "the clock of rac1 jumped 60 s back", "-60 s",
     "The clock of rac1 jumped 60 s back."),
    (event(EventKind.NODE_RESTART, RAC1, end=112.0, reason="It has another boot id."), "rac1 was restarted", "",
     "rac1 was restarted. It has another boot id."),
    (event(EventKind.RECONFIGURATION, replace(RAC1, instance="prod1"), former=2, peak=1, end=101.0),
     "the instances reconfigured without prod1", "", "The instances reconfigured without prod1."),
    (event(EventKind.LINK_FLAP, at("rac1", "eth1"), count=3, end=101.0), "eth1 of rac1 was without a link 3 times",
     "3 x", "eth1 of rac1 was without a link 3 times."),
    (event(EventKind.NO_SAMPLES, RAC1, peak=42.0, end=142.0), "rac1 took no samples for 42 s", "42 s",
     "rac1 took no samples for 42 s."),
]  # fmt: skip


@pytest.mark.parametrize(("of", "line", "worst", "spoken"), TEXTS)
def test_each_kind_has_a_headline_a_peak_and_a_sentence(of, line, worst, spoken):
    assert (headline(of), peak(of, 122.0), sentence(of)) == (line, worst, spoken)


def test_every_kind_has_words_for_the_list_that_differ():
    words = {kind: what(event(kind, RAC1, peak=1500.0, former=9000.0)) for kind in EventKind}
    assert words[EventKind.MTU] == "MTU 9000 → 1500"
    assert all(words.values())


def test_many_places_are_counted_and_different_interfaces_are_named():
    assert where(event(EventKind.LOST_BLOCKS, *(at(f"rac{n}") for n in range(1, 9)))) == (
        "rac1, rac2, rac3, rac4 and 4 more"
    )
    assert where(event(EventKind.NIC_DROPS, at("rac1", "eth1"), at("rac2", "eth2"))) == "eth1 of rac1 and eth2 of rac2"


def test_an_event_that_is_over_has_an_outcome_and_its_places_come_back():
    silent = event(EventKind.NODE_SILENT, RAC2, end=122.0)
    assert (headline(silent), outcome(silent, 200.0)) == ("rac2 did not answer", "for 22 s")
    assert came_back(silent, RAC2) == "rac2 answers again"
    lost = event(EventKind.LOST_BLOCKS, RAC1, count=4123, peak=13.1, end=817.0)
    assert outcome(lost, 900.0) == "4,123 blocks lost in 11 min 57 s, at most 13.1/s"


def test_times_in_a_list_are_in_order(tmp_path):
    path = recording(tmp_path / "a.rec", run(240, lambda at, item: losing(at % 120, item)))
    lines = racwire("watch", "--events", str(path)).stdout.splitlines()
    assert [line.split()[3] for line in lines] == ["starts", "ends"] * 2
    assert all(a[:19] <= b[:19] for a, b in pairwise(lines))


def test_what_is_over_when_it_is_seen_is_one_line(tmp_path):
    path = recording(tmp_path / "a.rec", run(60, lambda at, item: replace(item, at=item.at + 90) if at > 30 else item))
    ran = racwire("watch", "--events", str(path))
    assert " ".join(ran.stdout.split()[2:]) == "W once the clock of rac1 jumped 90 s ahead"
    assert ran.returncode == ExitCode.WARNINGS
