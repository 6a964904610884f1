"""A recording: written continuously, complete at any moment, and readable by any process, also while it is written."""

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.facts import Cluster, PrivateNetwork, Unknown
from checks.traffic import samples
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_file import LAYOUT
from checks.traffic.samples import Gap, NodeSample
from checks.traffic.source_id import DATABASE, PAIRS, SourceId
from checks.traffic.timeline import Timeline
from tests.unit.recording_support import BEGIN, busy, header, links, read_events, recorded
from tests.unit.test_recording_codec import EVENT, LARGEST, LINKS

DAY_S = 86_400


def test_all_events_are_returned_in_order_of_time(tmp_path):
    written = [event for events in busy(60) for event in events]
    events = read_events(recorded(tmp_path / "a.rec", *busy(60)))
    assert events == sorted(written, key=lambda event: event.at)


def test_a_recording_answers_as_the_timeline_of_the_screens(busy_file):
    memory = Timeline(1000)
    for events in busy(120):
        memory.add(events)
    recording = Recording.open(busy_file)
    assert recording.sources() == memory.sources()
    assert recording.span() == memory.span()
    for source in memory.sources():
        window = (source, BEGIN + 20.5, BEGIN + 80.5)
        assert recording.window(*window) == memory.window(*window)
        assert recording.newest(source) == memory.newest(source)
    for at in (BEGIN - 1, BEGIN, BEGIN + 50):
        assert recording.links("rac2", at) == memory.links("rac2", at)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(EVENT | LINKS, max_size=5), max_size=4), st.floats(0, 4e9), st.floats(0, 4e9))
def test_windows_are_exact_and_all_events_sorted_with_any_clock(tmp_path, writes, begin, end):
    path = tmp_path / f"{os.urandom(8).hex()}.rec"
    recording = Recording.open(recorded(path, *writes))
    written = [event for events in writes for event in events]
    assert [event.at for event in recording.events()] == sorted(event.at for event in written)
    for source in {event.source for event in written}:
        expected = [
            e for e in written if e.source == source and begin < e.at <= end and not isinstance(e, samples.Links)
        ]
        assert recording.window(source, begin, end) == sorted(expected, key=lambda e: e.at)
        last = max((e.at for e in written if e.source == source and not isinstance(e, samples.Links)), default=None)
        newest = recording.newest(source)
        assert (newest and newest.at) == last
        assert source in recording.sources()
    recording.close()
    path.unlink()


@pytest.mark.no_cover  # a long computation, of lines that others run
def test_a_day_of_a_busy_cluster_is_under_60_megabytes(tmp_path):
    """Eight interfaces at 25 Gbit/s and two instances at 20,000 blocks a second, every second."""
    seconds = 600
    first_size = recorded(tmp_path / "first.rec", *busy(1)).stat().st_size
    size = recorded(tmp_path / "busy.rec", *busy(seconds)).stat().st_size
    assert (size - first_size) / seconds * DAY_S + first_size < 60e6


def test_a_recording_is_one_file_private_to_its_owner(busy_file):
    assert [f.name for f in busy_file.parent.iterdir()] == ["busy.rec"]
    assert stat.S_IMODE(busy_file.stat().st_mode) == 0o600
    assert busy_file.read_bytes()[68:72] == b"rwre"


def test_samples_older_than_the_limit_are_removed_and_the_file_stops_growing(tmp_path):
    sizes = []
    recorder = Recorder.create(path := tmp_path / "a.rec", header(), keep_s=60)
    for number, events in enumerate(busy(300)):
        recorder.write(events)
        if number % 75 == 0:
            sizes.append(path.stat().st_size)
    recorder.close()
    recording = Recording.open(path)
    assert recording.span()[0] == pytest.approx(BEGIN + 240, abs=2)
    assert recording.links("rac1", BEGIN + 290) == links("rac1", BEGIN)
    assert max(sizes[2:]) <= sizes[1] + 8192


def test_the_links_valid_at_the_start_of_the_window_stay(tmp_path):
    changes = [[links("rac1", BEGIN + s, mtu)] for s, mtu in ((0, 1500), (50, 4000), (200, 9000))]
    recording = Recording.open(recorded(tmp_path / "a.rec", *changes, keep_s=100))
    assert recording.links("rac1", BEGIN + 40) is None
    assert recording.links("rac1", BEGIN + 100).links[0].mtu == 4000
    assert recording.links("rac1", BEGIN + 200).links[0].mtu == 9000


def test_a_clock_that_jumps_ahead_removes_few_samples(tmp_path):
    writes = [*busy(100), [Gap(PAIRS, BEGIN + 1e8, "far away")]]
    recording = Recording.open(recorded(tmp_path / "a.rec", *writes, keep_s=3600))
    assert len(recording.window(SourceId.node("rac1"), BEGIN, BEGIN + 200)) >= 50


def test_impossible_values_are_a_gap_and_recording_continues(tmp_path):
    impossible = NodeSample("rac1", BEGIN, 1.0, counters={"Ip.InReceives": LARGEST + 1})
    nowhere = Gap(PAIRS, float("nan"), "")
    good = NodeSample("rac1", BEGIN + 1, 1.0)
    gap, sample = read_events(recorded(tmp_path / "a.rec", [impossible, nowhere, good]))
    assert (gap.source, gap.at) == (SourceId.node("rac1"), BEGIN)
    assert gap.reason == "A sample of node rac1 was not recorded: a number in it is no count of 64 bits."
    assert sample == good


def test_the_cluster_that_is_found_later_is_in_the_header(tmp_path):
    recorder = Recorder.create(tmp_path / "a.rec", header("mtu1500"))
    recorder.follow(Cluster(local_node="rac1\udcff", taken_at="later", nodes=()))
    recorder.close()
    found = Recording.open(tmp_path / "a.rec").header
    assert found == msgspec.structs.replace(header("mtu1500"), cluster=found.cluster)
    assert (found.cluster.local_node, found.cluster.nodes) == ("rac1\udcff", ())


def test_two_readers_can_read_during_writing(tmp_path):
    recorder = Recorder.create(tmp_path / "a.rec", header())
    readers = [Recording.open(tmp_path / "a.rec") for _ in range(2)]
    counts = []
    started, done = threading.Event(), threading.Event()

    def write():
        for events in busy(150):
            recorder.write(events)
            counts.extend(events)
            started.set()
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    started.wait(10)
    read_meanwhile = 0
    while not done.is_set():
        for reader in readers:
            read_meanwhile += sum(1 for _ in reader.events())
    writer.join()
    assert read_meanwhile > 0
    for reader in readers:
        assert len(list(reader.events())) == len(counts)


def test_a_reader_that_stops_halfway_does_not_block_the_writer(tmp_path):
    recorder = Recorder.create(tmp_path / "a.rec", header())
    for events in busy(40):
        recorder.write(events)
    with closing(Recording.open(tmp_path / "a.rec")) as reader:
        halfway = reader.events()
        next(halfway)
        recorder._file.execute("PRAGMA busy_timeout = 0")
        recorder.write([Gap(PAIRS, BEGIN + 50, "")])
        assert list(halfway)[-1].at == BEGIN + 50


def test_a_recording_killed_at_any_moment_has_all_but_the_last_write(tmp_path):
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from checks.traffic.recorder import Recorder
        from checks.traffic.samples import Gap
        from checks.traffic.source_id import PAIRS
        from tests.unit.recording_support import header
        recorder = Recorder.create(Path(sys.argv[1]), header())
        second = 0
        while True:
            second += 1
            recorder.write([Gap(PAIRS, float(second), "x" * 3000)])
            print(second, flush=True)
        """
    )
    for lines in (1, 7, 30):
        path = tmp_path / f"{lines}.rec"
        running = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        )
        output = [running.stdout.readline() for _ in range(lines)]
        running.send_signal(signal.SIGKILL)
        output += running.stdout.readlines()
        running.stdout.close()
        running.wait(10)
        events = read_events(path)
        assert len(events) in (len(output), len(output) + 1)  # one may have been written and not acknowledged yet
        assert [event.at for event in events] == [float(n + 1) for n in range(len(events))]


def test_a_full_disk_is_one_sentence_and_the_written_part_stays(tmp_path):
    recorder = Recorder.create(path := tmp_path / "a.rec", header())
    recorder.write([Gap(PAIRS, 1.0, "before")])
    pages = recorder._file.execute("PRAGMA page_count").fetchone()[0]
    recorder._file.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RecordingError) as refused:
        recorder.write([Gap(PAIRS, 2.0, random.Random(1).randbytes(50_000).hex())])
    assert (
        str(refused.value) == f"{path} takes no more samples: the disk is full; the earlier samples can still be read."
    )
    recorder._file.execute("PRAGMA max_page_count = 100000")
    recorder.write([Gap(DATABASE, 3.0, "there is room again")])
    assert [event.at for event in read_events(path)] == [1.0, 3.0]


def test_a_recording_removed_meanwhile_is_not_called_readable(tmp_path):
    recorder = Recorder.create(tmp_path / "a.rec", header())
    (tmp_path / "a.rec").unlink()
    with pytest.raises(RecordingError, match=r"a\.rec was removed during the recording"):
        recorder.write([Gap(PAIRS, 1.0, "after")])


def test_no_file_is_overwritten_and_a_recording_replaced_only_on_request(tmp_path):
    path = recorded(tmp_path / "a.rec", [Gap(PAIRS, 1.0, "old")])
    with pytest.raises(RecordingError, match=r"a\.rec is already there; name another file, or add --force"):
        Recorder.create(path, header())
    assert len(read_events(path)) == 1
    Recorder.create(path, header(), replace=True).close()
    assert read_events(path) == []


@pytest.mark.parametrize("content", [b"a letter to my mother", b"SQLite format 3\x00" + b"\x00" * 200])
def test_another_file_is_not_replaced_even_on_request(tmp_path, content):
    (tmp_path / "letter").write_bytes(content)
    with pytest.raises(RecordingError, match="is no recording of racwire"):
        Recorder.create(tmp_path / "letter", header(), replace=True)
    assert (tmp_path / "letter").read_bytes() == content


@pytest.mark.parametrize("name", ["", ".", "no/such/place.rec", "nul\0", "x" * 300, "directory"])
def test_a_path_that_cannot_be_written_or_read_is_one_sentence(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "directory").mkdir()
    for use in (lambda path: Recorder.create(path, header(), replace=True), Recording.open):
        with pytest.raises(RecordingError) as refused:
            use(Path(name))
        assert str(refused.value).count(".\n") == 0
        assert str(refused.value).endswith((".", "it."))
    assert os.listdir(tmp_path) == ["directory"]


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingError, match="is no file"):
        Recording.open(tmp_path / "pipe")


def test_the_summary_counts_the_events_of_each_source(tmp_path):
    gaps = [Gap(SourceId.node("rac2"), BEGIN + 30, "first"), Gap(SourceId.node("rac2"), BEGIN + 31, "last")]
    tallies = Recording.open(recorded(tmp_path / "a.rec", *busy(20), gaps)).tallies()
    assert tallies[SourceId.node("rac1")] == (20, 0, None)
    assert tallies[SourceId.node("rac2")] == (20, 2, gaps[1])
    assert tallies[PAIRS].samples == 2


def test_closing_twice_is_allowed_and_the_format_is_the_documented_one(busy_file):
    recording = Recording.open(busy_file)
    recording.close()
    recording.close()
    file = sqlite3.connect(busy_file)
    assert {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE sql NOT NULL")} == set(LAYOUT)
    file.close()


def test_an_impossible_fact_in_the_header_is_unknown(tmp_path):
    network = PrivateNetwork("x", "a/b; reboot", "192.168.10.0/24", "oifcfg")
    cluster = msgspec.structs.replace(header().cluster, networks=(network,))
    Recorder.create(tmp_path / "x.rec", msgspec.structs.replace(header(), cluster=cluster)).close()
    with closing(Recording.open(tmp_path / "x.rec")) as opened:
        read = opened.header.cluster.networks
    assert isinstance(read, Unknown)
    assert read.reason.startswith("`a/b; reboot` is no name of an interface")
