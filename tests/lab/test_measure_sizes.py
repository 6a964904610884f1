"""`racwire measure sizes` on the practice cluster: the plan, the caps, the figures, what stops it, and what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checks.model.measurement import MeasuredSizes, Measurement
from tests.lab.lab_support import needs_namespaces, needs_nft, run, until
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, needs_namespaces]
beyond = pytest.mark.beyond_sample

SHORT = ("--sizes", "64,8k", "--no-trains", "--rounds", "2", "--round", "0.4s")
LONG = ("--sizes", "8k", "--no-trains", "--rounds", "60", "--format", "json")


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("measure") / "lab", 2, 1500)
    yield one
    one.down()


def measure(practice: Practice, *words: str) -> subprocess.CompletedProcess[str]:
    return practice.racwire("measure", "sizes", "--lab", *words)


def decoded(text: str) -> Measurement:
    import msgspec

    return msgspec.json.decode(text.encode(), type=Measurement)


def kept(practice: Practice) -> Measurement:
    """The newest result that was kept."""
    files = sorted((practice.state / "racwire/measurements/practice").iterdir(), key=lambda one: one.stat().st_mtime)
    return decoded(files[-1].read_text())


def packets_out(practice: Practice) -> int:
    counted = run(practice.cluster, "rac1", "cat", "/sys/class/net/eth1/statistics/tx_packets")
    return int(counted.stdout)


def lock_of(practice: Practice, node: str) -> bool:
    """Whether a part of a measurement runs on a node."""
    return "@racwire-measure" in run(practice.cluster, node, "cat", "/proc/net/unix").stdout


def processes(practice: Practice, node: str, mark: bytes) -> list[int]:
    """The processes in a node's network namespace whose command lines contain the mark."""
    namespace = run(practice.cluster, node, "readlink", "/proc/self/ns/net").stdout.strip()
    found = []
    for process in Path("/proc").iterdir():
        try:
            is_one = process.name.isdigit() and mark in (process / "cmdline").read_bytes()
            if is_one and os.readlink(process / "ns/net") == namespace:
                found.append(int(process.name))
        except OSError:
            continue  # it has ended
    return found


def senders(practice: Practice) -> list[int]:
    return processes(practice, "rac1", b"near_end.sender")


class Running:
    """A measurement that runs until a test ends it."""

    def __init__(self, practice: Practice, *words: str, kind: str = "sizes") -> None:
        self._practice = practice
        usual = LONG if kind == "sizes" else ()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "racwire", "measure", kind, "--lab", "--go", "practice", *usual, *words],
            env=practice.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            until(lambda: senders(practice) and lock_of(practice, "rac1"), "no sender starts")
            sent = packets_out(practice)
            until(lambda: packets_out(practice) > sent + 300, "nothing is sent")
        except BaseException:
            self.process.kill()
            print(self.process.communicate())
            raise

    def racwire(self) -> int:
        """The process that started the sender."""
        status = Path(f"/proc/{senders(self._practice)[0]}/status").read_text()
        return int(status.partition("PPid:")[2].split()[0])

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=90)
        return self.process.returncode, out, err

    def nothing_is_left(self) -> None:
        until(lambda: not senders(self._practice), "the sender is left")
        until(lambda: not lock_of(self._practice, "rac2"), "the far end is left")
        until(lambda: not lock_of(self._practice, "rac1"), "the lock is left")


@pytest.mark.beyond_sample
def test_without_a_name_the_plan_is_printed_and_nothing_is_sent(practice: Practice) -> None:
    before = packets_out(practice)
    planned = measure(practice)
    assert planned.returncode == 0, planned.stderr
    assert "Nothing was sent. To send it: racwire measure sizes --go practice" in planned.stdout
    wrong = measure(practice, "--go", "prac")
    assert (wrong.returncode, wrong.stdout) == (64, "")
    assert "This cluster is called practice, not prac: nothing was sent." in wrong.stderr
    assert packets_out(practice) - before < 10  # address resolution


@pytest.mark.parametrize("far_end", ["perl", *(pytest.param(one, marks=beyond) for one in ("kernel", "python"))])
def test_every_answer_is_counted_whatever_answers(practice: Practice, far_end: str) -> None:
    before = packets_out(practice)
    ran = measure(practice, *SHORT, "--far-end", far_end, "--format", "json", "--go", "practice")
    assert ran.returncode in (0, 3), ran.stderr
    found = decoded(ran.stdout)
    assert isinstance(found.result, MeasuredSizes)
    assert not found.stopped
    assert found.paths[0].far_end == far_end
    assert kept(practice) == found
    assert ran.stderr.splitlines()[-1].startswith(f"racwire: The result is in {practice.state}/racwire/measurements/")
    assert "sizes on practice, from rac1" in practice.racwire("measure", "show", "sizes").stdout
    assert len(found.result.rounds) == 8
    assert {(s.size, s.frames) for s in found.result.summaries} == {(64, 1), (8192, 6)}
    for one in found.result.summaries:
        assert one.answers == one.sent > 0
        assert one.lost == 0
        assert one.p50_us is not None
        assert (one.cpu_there_us is None) == (far_end == "kernel")
    messages = sum(s.sent * s.frames for s in found.result.summaries)
    others = packets_out(practice) - before - messages
    assert 0 <= others < 500  # the pings of the checks before, and address resolution
    assert list(found.sha256) == [
        "perl" if far_end == "kernel" else far_end
    ]  # where the kernel answers, a lock is held


@beyond
def test_no_second_has_more_packets_than_the_cap(practice: Practice) -> None:
    running = Running(practice, "--packets", "600", "--rounds", "6")
    seen: list[tuple[float, int, float]] = []
    while running.process.poll() is None and senders(practice):
        before_s = time.monotonic()
        count = packets_out(practice)
        seen.append((before_s, count, time.monotonic()))
    running.end()
    windows = [
        (count - first, after_s - before_s)
        for place, (before_s, first, _) in enumerate(seen)
        for _, count, after_s in seen[place + 1 :]
        if 1.0 <= after_s - before_s <= 1.5
    ]
    assert windows
    assert all(packets <= 600 * seconds + 6 + 10 for packets, seconds in windows), max(windows)


@beyond
@pytest.mark.parametrize(
    ("kind", "words"),
    [("rate", ("--steps", "1", "--step", "3s")), ("mix", ("--classes", "small,medium", "--packets", "20000"))],
)
def test_no_second_has_more_bits_than_the_cap(practice: Practice, kind: str, words: tuple[str, ...]) -> None:
    running = Running(practice, *words, "--share", "1", "--rounds", "1", kind=kind)
    seen: list[tuple[float, int, float]] = []
    while running.process.poll() is None and senders(practice):
        before_s = time.monotonic()
        sent = run(practice.cluster, "rac1", "cat", "/sys/class/net/eth1/statistics/tx_bytes")
        seen.append((before_s, int(sent.stdout), time.monotonic()))
    code, out, err = running.end()
    assert code in (0, 3), out + err
    windows = [
        ((count - first) * 8 / (after_s - before_s), after_s - before_s)
        for place, (before_s, first, _) in enumerate(seen)
        for _, count, after_s in seen[place + 1 :]
        if 1.0 <= after_s - before_s <= 1.5
    ]
    most, seconds = max(windows)
    assert most <= 100e6 + 64_000 * 8 / seconds, most  # 1 % of 10 Gb/s, one message, and the answers to pings
    assert most >= 1e6


@beyond
def test_a_second_measurement_is_refused_on_every_node(practice: Practice) -> None:
    running = Running(practice, "--far-end", "perl")
    second = measure(practice, *SHORT, "--go", "practice")
    assert second.returncode == 64
    assert "Another measurement runs on rac2" in second.stderr
    os.kill(running.racwire(), signal.SIGINT)
    code, out, _ = running.end()
    assert code == 130
    assert decoded(out).stopped == "The operator stopped it."
    running.nothing_is_left()


@beyond
@pytest.mark.parametrize("far_end", ["perl", "python"])
@pytest.mark.parametrize("dies", ["racwire", "sender", "far end", "ssh", "hangs"])
def test_nothing_is_left_in_whatever_way_it_dies(practice: Practice, dies: str, far_end: str) -> None:
    running = Running(practice, "--far-end", far_end)
    racwire = running.racwire()
    if dies == "racwire":
        os.kill(racwire, signal.SIGKILL)
    elif dies == "sender":
        os.kill(senders(practice)[0], signal.SIGKILL)
    elif dies == "far end":
        (far,) = processes(practice, "rac2", b"racwire text")
        os.kill(far, signal.SIGKILL)
    elif dies == "ssh":
        for child in children(racwire):
            if "ssh" in child[1]:
                os.kill(child[0], signal.SIGKILL)
    else:
        os.kill(racwire, signal.SIGSTOP)
        until(lambda: not lock_of(practice, "rac2"), "the far end outlives its heartbeats")
        os.kill(racwire, signal.SIGCONT)
    if dies == "hangs":
        os.kill(running.process.pid, signal.SIGCONT)  # the process that entered the node stops with its child
    code, out, _ = running.end()
    if dies == "racwire":
        assert code != 0
    else:
        found = decoded(out)
        assert (code, found.is_harm) in ((3, False), (2, True))
        assert found.stopped
        assert isinstance(found.result, MeasuredSizes)
    running.nothing_is_left()


def children(parent: int) -> list[tuple[int, str]]:
    """The children of a process, with their command lines."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and f"PPid:\t{parent}\n" in (process / "status").read_text():
                found.append((int(process.name), (process / "cmdline").read_text().replace("\0", " ")))
        except OSError:
            continue
    return found


FAULTS: dict[str, tuple[str, Any]] = {
    "no-perl": ("python", "perl"),
    "no-far-end": ("kernel", "python"),
}


@beyond
@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_run_on_a_peer_is_said(practice: Practice, fault: str) -> None:
    works, missing = FAULTS[fault]
    practice.lab("break", fault)
    try:
        refused = measure(practice, "--far-end", missing)
        planned = measure(practice, "--far-end", works, "--format", "json")
    finally:
        practice.lab("mend", fault)
    assert refused.returncode == 64
    assert f"rac2 has no {missing} where racwire looks" in refused.stderr
    assert json.loads(planned.stdout)["paths"][0].get("far_end", "kernel") == works


@beyond
def test_a_banner_of_a_wrapper_is_skipped(practice: Practice) -> None:
    practice.lab("break", "perl-banner")
    try:
        ran = measure(practice, *SHORT, "--far-end", "perl", "--format", "json", "--go", "practice")
    finally:
        practice.lab("mend", "perl-banner")
    assert ran.returncode in (0, 3), ran.stderr
    assert decoded(ran.stdout).paths[0].program.endswith("/grid/perl/bin/perl")


# Lost fragments fail to reassemble up to 30 s later, which the next measurement would refuse: these come last.


@needs_nft
def test_it_stops_by_itself_at_the_first_sign_of_harm(practice: Practice) -> None:
    running = Running(practice)
    practice.lab("break", "drop-fragments", "--network", "eth1")
    try:
        code, out, _ = running.end()
    finally:
        practice.lab("mend", "drop-fragments")
    found = decoded(out)
    assert code == 2
    assert found.is_harm
    assert "failed reassembl" in found.stopped or "no answer" in found.stopped
    assert isinstance(found.result, MeasuredSizes)
    assert found.result.rounds
    assert kept(practice) == found
    running.nothing_is_left()


@beyond
def test_a_path_that_fails_is_refused(practice: Practice) -> None:
    practice.lab("break", "loss", "--network", "eth1")
    try:
        ran = measure(practice, *SHORT, "--go", "practice")
    finally:
        practice.lab("mend", "loss")
    assert (ran.returncode, ran.stdout) == (64, "")
    assert "ME-LOAD-00" in ran.stderr
