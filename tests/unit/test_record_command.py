"""`racwire record`, `watch` and `open`: their output, their end, and the content of the file then."""

import asyncio
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from msgspec.structs import replace

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster, Node, NotAsked, NotGathered, Unknown, UnreadNode
from checks.model.settings import Settings
from checks.model.wording import lasting
from checks.traffic.header import header_now, still_unknown
from checks.traffic.latency import NO_PATH
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.samples import Gap, NodeSample
from checks.traffic.source_id import PAIRS, SourceId
from tests.fixtures.clusters import cluster as two_nodes
from tests.unit.record_command_support import ROOT, racwire
from tests.unit.recording_support import BEGIN, busy
from tui.cli import sampling
from tui.cli.durations import seconds_of, size_of
from tui.cli.errors import UsageError
from tui.cli.sampling import sample
from tui.cli.sampling_status import SamplingStatus
from tui.cli.tape import Tape
from tui.console.batch_writer import BatchWriter

FOUND = Cluster(
    local_node="rac1", taken_at="now", nodes=(Node("rac1", "netlink"), Node("rac2", "ssh")),
    networks=(), database=NotAsked("No database connection is set."),
)  # fmt: skip


class FakeFeed:
    """A feed that sends the specified events, and then waits until it is closed."""

    def __init__(self, *events):
        self.events_to_tell = events
        self.followed = []
        self.probed = []
        self.is_closed = asyncio.Event()

    def follow(self, cluster):
        self.followed.append(cluster)

    def probe(self, cluster):
        self.probed.append(cluster)

    async def events(self):
        for event in self.events_to_tell:
            yield event
            await asyncio.sleep(0)
        await self.is_closed.wait()

    async def close(self):
        self.is_closed.set()


async def found():
    yield FOUND


async def never():
    await asyncio.sleep(60)
    yield FOUND


def tape(path, *events, cluster=found, probe=False, **more):
    settings = Settings()
    recorder = Recorder.create(path, header_now(still_unknown(settings), settings, interval_s=1.0, label="mtu1500"))
    feeds = []

    def new_feed():
        feeds.append(FakeFeed(*events))
        return feeds[0]

    code = Tape(path, recorder, settings, for_s=0.3, **more).record(new_feed, cluster(), probe)
    return code, feeds[0]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86400), ("1.5h", 5400)]
)
def test_times_are_accepted_in_the_usual_forms(text, seconds):
    assert seconds_of(text, "--for") == seconds


@pytest.mark.parametrize("text", ["", "0", "soon", "-5m", "5 weeks", "1e9", "999999d", "١m"])
def test_an_invalid_time_is_reported_with_the_option_and_examples(text):
    with pytest.raises(
        UsageError, match=f"--for: {re.escape(repr(text))} is not a time; use one such as 90s, 30m, 2h or 1d"
    ):
        seconds_of(text, "--for")


def test_times_and_sizes_are_shown_in_two_units():
    assert [lasting(s) for s in (0.4, 45, 60, 725, 12_000, 93_600)] == [
        "0 s", "45 s", "1 min", "12 min 5 s", "3 h 20 min", "1 d 2 h",
    ]  # fmt: skip
    assert (size_of(73_728), size_of(4_123_000)) == ("74 kB", "4.1 MB")


def test_a_recording_has_all_samples_and_the_cluster_once_it_is_known(tmp_path, capsys):
    events = [event for events in busy(3) for event in events]
    code, feed = tape(tmp_path / "a.rec", *events)
    assert code == ExitCode.PASS
    recorded = Recording.open(tmp_path / "a.rec")
    assert list(recorded.events()) == sorted(events, key=lambda event: event.at)
    assert recorded.header.cluster == FOUND
    assert recorded.header.label == "mtu1500"
    assert (feed.followed, feed.probed) == ([FOUND], [])
    captured = capsys.readouterr()
    assert captured.out == ""
    for words in (
        "sampling rac1 and rac2.",
        "no instance is sampled: No database",
        "12 samples, 0 gaps",
        "racwire open",
    ):
        assert words in captured.err


def test_this_node_is_recorded_during_the_discovery_of_the_cluster(tmp_path, capsys):
    code, _ = tape(tmp_path / "a.rec", NodeSample("rac1", BEGIN, 1.0), cluster=never)
    recorded = Recording.open(tmp_path / "a.rec")
    assert (code, recorded.sources()) == (ExitCode.PASS, (SourceId.node("rac1"),))
    assert recorded.header.cluster.nodes == Unknown("The recording ended before racwire had gathered this.")


def test_what_is_known_is_recorded_while_a_node_is_pending(tmp_path, capsys):
    pending = UnreadNode("rac3", "rac3 has not been read yet.", is_pending=True)
    so_far = replace(FOUND, nodes=(*FOUND.nodes, pending), database=NotGathered())

    async def growing():
        yield so_far
        await asyncio.sleep(60)

    code, feed = tape(tmp_path / "a.rec", NodeSample("rac1", BEGIN, 1.0), cluster=growing, probe=True)
    assert (code, feed.followed, feed.probed) == (ExitCode.PASS, [so_far], [])
    assert Recording.open(tmp_path / "a.rec").header.cluster.nodes == so_far.nodes
    stderr = capsys.readouterr().err
    assert "sampling rac1, rac2 and rac3." in stderr
    assert "sending" not in stderr, "pings go on known paths only"


def test_each_node_and_instance_is_reported_once_while_the_cluster_grows():
    said = []
    status = SamplingStatus(said.append)
    both = replace(FOUND, nodes=(*FOUND.nodes, UnreadNode("rac3", "It was down.")))
    for known in (replace(FOUND, database=NotGathered()), FOUND, both, both):
        status(known)
    assert said == [
        "sampling rac1 and rac2.",
        "no instance is sampled: No database connection is set.",
        "sampling rac3.",
    ]


WITH_NETWORKS = replace(FOUND, nodes=two_nodes().nodes, networks=two_nodes().networks)


async def found_with_networks():
    yield WITH_NETWORKS


def test_pings_are_announced_before_they_are_sent(tmp_path, capsys):
    _, feed = tape(tmp_path / "a.rec", NodeSample("rac1", BEGIN, 1.0), cluster=found_with_networks, probe=True)
    assert feed.probed == [WITH_NETWORKS]
    stderr = capsys.readouterr().err
    assert "racwire: sending 10 pings a second of 56 and of 8,328 bytes to rac2 on 192.168.10.0/24 and" in stderr


def test_pings_are_announced_even_with_quiet(tmp_path, capsys):
    tape(tmp_path / "a.rec", NodeSample("rac1", BEGIN, 1.0), cluster=found_with_networks, probe=True, quiet=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line[:17] for line in lines] == ["racwire: sending "]


def test_without_a_path_the_reason_is_announced(tmp_path, capsys):
    tape(tmp_path / "a.rec", NodeSample("rac1", BEGIN, 1.0), probe=True, quiet=True)
    assert capsys.readouterr().err.splitlines() == [f"racwire: {NO_PATH}"]


def test_a_recording_without_any_sample_is_not_a_success(tmp_path, capsys):
    code, _ = tape(tmp_path / "a.rec", Gap(SourceId.node("rac1"), BEGIN, "/proc could not be read."))
    assert code == ExitCode.COULD_NOT_TELL
    stderr = capsys.readouterr().err
    assert "node rac1: /proc could not be read." in stderr
    assert "nothing could be sampled" in stderr


def test_quiet_prints_only_errors(tmp_path, capsys):
    tape(tmp_path / "a.rec", NodeSample("rac1", BEGIN, 1.0), quiet=True)
    assert capsys.readouterr().err == ""


def test_a_gap_is_reported_once_for_each_reason(capsys):
    events = []
    narration = SamplingStatus(events.append)
    for reason in ("refused", "refused", "timed out", "timed out"):
        narration(Gap(SourceId.node("rac2"), BEGIN, reason))
        narration(NodeSample("rac2", BEGIN, 1.0))
    assert events == ["node rac2: refused", "node rac2: timed out"]
    assert narration.counts == "4 samples, 4 gaps"


async def test_a_failed_feed_ends_the_recording_and_is_closed():
    def full(items):
        raise RecordingError("a.rec takes no more samples: the disk is full.")

    feed = FakeFeed(Gap(PAIRS, BEGIN, ""))
    with pytest.raises(RecordingError):
        await sample(feed, found(), BatchWriter(full, 0.0), on_item=lambda item: None)
    assert feed.is_closed.is_set()


async def test_a_disk_that_hangs_at_the_end_is_given_up_and_a_slow_one_is_not(monkeypatch):
    monkeypatch.setattr(sampling, "_LAST_S", 0.05)
    gaps = [Gap(PAIRS, BEGIN, "")] * 3

    async def not_delivered(write):
        ending = await sample(FakeFeed(*gaps), found(), BatchWriter(write, 0.0), on_item=lambda item: None, for_s=0.1)
        return ending.not_delivered

    released, second_wait, waits = threading.Event(), threading.Event(), []
    try:
        assert await not_delivered(lambda items: released.wait()) == 4
    finally:
        released.set()

    async def end(self, within_s):
        waits.append(within_s)
        if len(waits) == 2:
            second_wait.set()
        return await of_writer(self, within_s)

    of_writer = BatchWriter.end
    monkeypatch.setattr(BatchWriter, "end", end)
    assert await not_delivered(lambda items: second_wait.wait(30)) == 0
    assert len(waits) >= 2


async def test_a_reader_that_stalls_delays_the_feed_without_using_more_memory():
    received = []
    delivery = BatchWriter(received.extend, 0.0)
    for _ in range(5_000):
        delivery.put(Gap(PAIRS, BEGIN, ""))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(delivery.room(), 0.01)
    assert await delivery.end(5) == 0
    await delivery.room()
    delivery.close()
    assert len(received) == 5_000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--for", "soon", "a.rec"], "--for: 'soon' is not a time; use one such as 90s, 30m, 2h or 1d."),
        (["--keep", "0", "a.rec"], "--keep: '0' is not a time; use one such as 90s, 30m, 2h or 1d."),
        (["--every", "0.1", "a.rec"], "--every must be from 1 to 60 seconds."),
        (["--every", "90", "a.rec"], "--every must be from 1 to 60 seconds."),
        (["--interval", "5", "a.rec"], "--interval is an option of the checks; use --every S here."),
        (["--label", "x" * 61, "a.rec"], "--label: write at most 60 characters."),
        (["no/such/place.rec"], "no/such/place.rec could not be written: No such file or directory."),
        (["."], ". is not a regular file: name another one, or redirect the output of racwire."),
        (["--force", "."], ". is not a regular file: name another one, or redirect the output of racwire."),
    ],
)
def test_a_wrong_command_line_is_one_sentence_and_records_nothing(tmp_path, words, sentence):
    ran = racwire("record", *words, cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (ExitCode.USAGE, "", f"racwire: {sentence}\n")
    assert os.listdir(tmp_path) == []


def holds_a_sample(path):
    with contextlib.suppress(RecordingError):  # not there yet
        recording = Recording.open(path)
        try:
            return any(isinstance(event, NodeSample) for event in recording.events())
        finally:
            recording.close()
    return False


def test_after_a_signal_the_file_is_complete_and_the_exit_code_0(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-P", "-m", "racwire", "record", "a.rec"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not holds_a_sample(tmp_path / "a.rec"):
        time.sleep(0.1)
    running.send_signal(signal.SIGTERM)
    running.send_signal(signal.SIGTERM)  # as `timeout` sends it: to the process, and to its group
    stderr = running.communicate(timeout=20)[1]
    assert (running.returncode, "racwire: next: " in stderr) == (ExitCode.PASS, True), stderr
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        assert recording.span() is not None
    assert os.listdir(tmp_path) == ["a.rec"]


TWICE = """
import asyncio, os, signal
from checks.model.facts import Cluster
from tui.console.batch_writer import BatchWriter
from tui.cli.sampling import run_sampling, sample

class Feed:
    follow = probe = lambda self, cluster: None
    async def events(self):
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(60)
        yield
    async def close(self):
        pass

async def found():
    yield Cluster(local_node="rac1", taken_at="")

run_sampling(sample(Feed(), found(), BatchWriter(lambda items: None, 0.0), on_item=lambda item: None))
os.kill(os.getpid(), signal.SIGTERM)
print("concluded")
"""


def test_a_repeated_signal_does_not_truncate_the_final_message(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=30, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, "concluded\n")


FAULT = """
import logging, sys
from tui.cli.sampling import run_sampling

async def work():
    try:
        raise ZeroDivisionError("a fault")
    except ZeroDivisionError:
        logging.getLogger("checks.traffic.feed").exception("the source broke down")

run_sampling(work())
"""


def test_a_traceback_is_written_to_the_log_and_not_to_the_terminal(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", FAULT], capture_output=True, text=True, timeout=30, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert (ended.stdout, ended.stderr) == ("", "")
    assert "ZeroDivisionError: a fault" in (tmp_path / "racwire" / "racwire.log").read_text()


def test_a_full_disk_is_reported_and_the_written_part_is_readable(tmp_path, capsys):
    recorder = Recorder.create(tmp_path / "a.rec", header_now(still_unknown(Settings()), Settings(), interval_s=1.0))
    recorder.write([Gap(PAIRS, 1.0, "before")])
    (pages,) = recorder._file.execute("PRAGMA page_count").fetchone()
    recorder._file.execute(f"PRAGMA max_page_count = {pages}")
    feed = FakeFeed(Gap(PAIRS, 2.0, random.Random(1).randbytes(50_000).hex()))  # what cannot be deflated
    code = Tape(tmp_path / "a.rec", recorder, Settings(), quiet=True).record(lambda: feed, found())
    assert code == ExitCode.COULD_NOT_TELL
    assert capsys.readouterr().err == (
        f"racwire: {tmp_path}/a.rec takes no more samples: the disk is full; the earlier samples can still be read.\n"
    )
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        assert [event.at for event in recording.events()] == [1.0]
    assert feed.is_closed.is_set()
