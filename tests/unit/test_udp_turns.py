"""One racwire of a node sends datagrams at a time: the lock, what the others get, and what may be incomplete."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from checks.model.facts import FlowArrivals, FlowPort, FlowProbe, Flows, OtherSender, PathProbe, PingSeries, Verdict
from checks.rules.flow_verdicts import FlowVerdict, judge_flow
from checks.rules.fragment_verdicts import CutVerdict, is_disturbed, judge_fragments
from checks.sources.nodes.read_only import fault_of_command
from checks.sources.nodes.read_only.allow_list import SENDER_TEXT
from checks.sources.probes import udp_sender
from checks.sources.probes.udp_plan import (
    UdpEnds,
    parse_answers,
    parse_ends,
    parse_first_answers,
    parse_others,
    parse_used,
    room_for_fragments,
    shares,
)

BLOCK = 8216
_names = itertools.count()


@pytest.fixture(autouse=True)
def lock(monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"\0racwire-probe-test-{os.getpid()}-{next(_names)}"
    monkeypatch.setattr(udp_sender, "LOCK", name)
    return name


@pytest.fixture
def closed() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes datagrams and answers none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        yield int(sock.getsockname()[1])


def way(port: int, datagrams: str, end: str = "1:9:7") -> str:
    return f"127.0.0.1,127.0.0.1,{port},{datagrams},{end}"


def sent(*words: str) -> str:
    lines: list[str] = []
    udp_sender.run(list(words), lines.append, lambda: False)
    return "\n".join(lines)


@contextmanager
def held(lock: str, *records: str) -> Iterator[None]:
    """Hold the lock as another run does; tell these records at the end, once someone waits."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(lock)
        listener.listen()

        def tell() -> None:
            guest, _ = listener.accept()
            with guest:
                guest.sendall("".join(record + "\n" for record in records).encode())
                listener.close()

        teller = threading.Thread(target=tell)
        teller.start()
        yield
        teller.join()


def record(words: list[str], lines: list[str], age_s: float = 1) -> str:
    return str(udp_sender.record_of(time.time() - age_s, words, lines))


def test_who_waits_gets_the_results_of_the_run_before_and_sends_nothing(lock: str, silent: int) -> None:
    other = way(silent, "0:0:0:56:1/500:1:0:56:1")
    told = record(["1000:0:0", other], ["0 1 40001 56 silence -", "0 0 40000 56 refused 127.0.0.1"])
    with held(lock, told):
        text = sent("1000:30000:60000", way(silent, "90:0:0:56:1/590:1:0:56:1"))
    answers = [(a.slot, a.source_port, a.what) for a in parse_answers(text)]
    assert answers == [(0, 40000, "refused"), (1, 40001, "silence")]
    (used,) = parse_used(text)
    assert (used.pid, used.no_ports) == (os.getpid(), 7)
    assert used.age_ms >= 1000


@pytest.mark.parametrize(
    ("datagrams", "age_s", "lines"),
    [
        ("0:0:0:57:1", 1, ["0 0 40000 57 refused 127.0.0.1"]),
        ("0:0:0:56:1", 99, ["0 0 40000 56 refused 127.0.0.1"]),
        ("0:0:0:56:1", 1, []),
    ],
    ids=["another size", "too old", "no result"],
)
def test_a_result_that_does_not_answer_the_question_is_not_used(
    lock: str, closed: int, datagrams: str, age_s: float, lines: list[str]
) -> None:
    with held(lock, record(["1000", way(closed, datagrams)], lines, age_s)):
        text = sent("500:30000:60000", way(closed, "0:0:0:56:1"))
    assert not parse_used(text)
    assert [a.what for a in parse_answers(text)] == ["refused"]
    (other,) = parse_others(text, "rac1")
    assert (other.pid, other.is_still, other.age_s) == (os.getpid(), False, None)


def test_a_squatter_delays_a_run_for_its_patience_only(lock: str, closed: int) -> None:
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(lock)
        squatter.listen(1)
        text = sent("500:300:60000", way(closed, "0:0:0:56:1"))
    assert [a.what for a in parse_answers(text)] == ["refused"]
    (other,) = parse_others(text, "rac1")
    assert other.is_still
    assert other.waited_s >= 0.3


def test_the_words_of_another_user_are_not_believed(lock: str, closed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read = socket.socket.getsockopt

    def of_another(line: socket.socket, level: int, option: int, size: int = 0) -> int | bytes:
        if option == udp_sender.PEER:
            return struct.pack("iII", 99, os.getuid() + 4711, 0)
        return read(line, level, option, size) if size else read(line, level, option)

    monkeypatch.setattr(socket.socket, "getsockopt", of_another)
    with held(lock, record(["1000", way(closed, "0:0:0:56:1")], ["0 0 1 56 silence -"])):
        text = sent("500:30000:60000", way(closed, "0:0:0:56:1"))
    assert not parse_used(text)
    assert [a.what for a in parse_answers(text)] == ["refused"]


def test_after_a_wait_datagrams_are_far_apart_and_none_is_in_fragments() -> None:
    words = [(0, way(9, "0:0:0:56:1/5:1:0:56:1/9:2:0:56:1"))]
    assert [at for at, *_ in udp_sender.plan_of(words, True)] == [0, 1.1, 2.2]
    assert [at for at, *_ in udp_sender.plan_of(words, False)] == [0, 0.005, 0.009]


def test_who_waits_gets_the_earlier_run_at_once(lock: str, closed: int) -> None:
    earlier = record(["1000", way(9999, "0:0:0:56:1")], ["0 0 40000 56 refused 127.0.0.1"])
    texts: list[str] = []
    started, lines = threading.Event(), list[str]()

    def note(line: str) -> None:
        lines.append(line)
        started.set()

    def guest() -> None:
        started.wait()
        texts.append(sent("500:30000:60000", way(9999, "0:0:0:56:1")))
        stop.set()

    stop = threading.Event()
    thread = threading.Thread(target=guest)
    thread.start()
    udp_sender.run(["500:0:0", way(closed, "0:0:0:56:1/99000:1:0:56:1"), earlier], note, stop.is_set)
    thread.join()
    assert [a.source_port for a in parse_answers(texts[0])] == [40000]


def test_who_waits_to_examine_takes_the_whole_run_of_another(lock: str, silent: int) -> None:
    first = way(silent, "0:0:0:56:1/5:1:0:56:1", "1:9:5")
    theirs = record(["1000", first], ["0 0 40000 56 refused 127.0.0.1", "0 1 40001 56 silence -"], 9)
    examined = record(["1000", way(silent, "0:1:40001:56:1")], ["0 1 40001 56 refused 127.0.0.1"])
    own = record(["1000", first], ["0 0 50000 56 silence -", "0 1 50001 56 refused 127.0.0.1"], 9)
    with held(lock, theirs, examined):
        text = sent("1000:30000:60000", way(silent, "0:0:50000:56:1"), own)
    assert [(a.slot, a.source_port, a.what) for a in parse_first_answers(text)] == [
        (0, 40000, "refused"), (1, 40001, "silence"),
    ]  # fmt: skip
    assert [(a.slot, a.source_port, a.what) for a in parse_answers(text)] == [(1, 40001, "refused")]
    assert parse_used(text)[0].no_ports == 5


def test_the_lock_ends_with_its_process(lock: str, closed: int) -> None:
    code = (
        f"import socket; s = socket.socket(socket.AF_UNIX); s.bind({lock!r}); s.listen(9); print(flush=True); input()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        killer = threading.Timer(0.2, holder.kill)
        killer.start()
        text = sent("500:30000:60000", way(closed, "0:0:0:56:1"))
    assert not parse_others(text, "rac1")[0].is_still


def test_an_earlier_run_is_a_word_that_may_be_sent_and_nothing_else_is() -> None:
    told = record(["1000:30000:60000", way(6947, "0:0:0:56:1")], ["0 0 40000 56 unsent:EPERM -"])
    command = ("python3", "-E", "-s", "-S", "-c", SENDER_TEXT, "1000:30000:60000", way(6947, "0:0:0:56:1"))
    assert fault_of_command((*command, told)) == ""
    assert fault_of_command((*command, "=1;2;/etc/passwd"))


# --- fragments --------------------------------------------------------------------------------------------------------


def test_no_more_datagrams_in_fragments_are_unanswered_than_their_receiver_has_room(silent: int, closed: int) -> None:
    datagrams = "/".join(f"{slot * 5}:{slot}:0:{BLOCK}:0" for slot in range(4))
    text = sent("50", way(silent, datagrams, "1:2:0"), way(closed, datagrams, "2:1:0"))
    what = {path: [a.what for a in parse_answers(text) if a.path == path] for path in (0, 1)}
    assert sorted(what[0]) == ["held", "held", "silence", "silence"]
    assert what[1] == ["refused"] * 4, "an answer makes room"


def test_once_losses_and_answers_are_seen_no_other_source_port_is_tried(
    silent: int, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, ports = udp_sender.open_flow, iter([silent, closed] * 4)
    monkeypatch.setattr(udp_sender, "open_flow", lambda *ends: opened(*ends[:4], next(ports)))
    monkeypatch.setattr(udp_sender, "SLOW_MS", 20)
    each_once = "/".join(f"{slot * 60}:{slot}:0:56:1" for slot in range(8))
    answers = parse_answers(sent("50", way(closed, each_once)))
    assert [a.what for a in answers if not a.is_unsent].count("silence") == udp_sender.ENOUGH
    assert sum(a.is_unsent for a in answers) >= 3


def test_the_room_of_a_receiver_is_that_of_its_memory() -> None:
    ends = parse_ends("most: 4194304\nFRAG: inuse 0 memory 0\n")
    assert room_for_fragments(ends) == 17
    assert room_for_fragments(parse_ends("most: 4194304\nFRAG: inuse 9 memory 180000\n")) == 2
    assert room_for_fragments(parse_ends("most: 4194304\nFRAG: inuse 9 memory 1800000\n")) == 0
    assert room_for_fragments(parse_ends("most: 4194304\n"), unanswered=16) == 1
    assert room_for_fragments(UdpEnds()) == 1


@pytest.mark.parametrize(("nodes", "room"), [(2, 17), (4, 17), (8, 17), (18, 17), (30, 17), (64, 17), (8, 0)])
def test_all_senders_together_never_exceed_the_room_of_a_receiver(nodes: int, room: int) -> None:
    names = [f"rac{number}" for number in range(nodes)]
    by_sender = dict.fromkeys(names, 0)
    for receiver in names:
        found = shares(room, [n for n in names if n != receiver], names, receiver)
        assert sum(found.values()) <= room
        for sender, number in found.items():
            by_sender[sender] += number
    assert len(set(by_sender.values())) == 1, "each node sends to as many"


# --- what the counts show ---------------------------------------------------------------------------------------------


def lossy(answered: int = 0) -> FlowProbe:
    """A path on which one source port of three loses each full-size datagram."""
    good = [FlowPort(40000 + n, 8972, answered=1) for n in range(2)]
    bad = FlowPort(40009, 8972, sent=3, answered=answered, small_sent=1, small_answered=1)
    return FlowProbe("eth2", "rac1", "rac2", "", "", 9000, ports=(*good, bad))


def test_datagrams_of_others_with_the_first_ones_leave_the_count_of_the_later_ones() -> None:
    disturbed, later = FlowArrivals("rac2", 6, 9), FlowArrivals("rac2", 3, 1)
    assert judge_flow(lossy(), Flows((lossy(),), (disturbed,))).verdict is FlowVerdict.UNDECIDED
    assert judge_flow(lossy(), Flows((lossy(),), (disturbed,), (later,))).verdict is FlowVerdict.SHORT_MEMBER
    both = Flows((lossy(),), (disturbed,), (FlowArrivals("rac2", 3, 5),))
    assert judge_flow(lossy(), both).verdict is FlowVerdict.UNDECIDED
    assert is_disturbed(both, lossy())


def test_a_count_that_another_racwire_filled_up_is_no_pass() -> None:
    arrivals = (FlowArrivals("rac2", 6, 6),)
    assert judge_flow(lossy(), Flows((lossy(),), arrivals)).verdict is FlowVerdict.PASSES
    beside = Flows((lossy(),), arrivals, others=(OtherSender("rac1", 4711, waited_s=30, is_still=True),))
    judged = judge_flow(lossy(), beside)
    assert judged.verdict is FlowVerdict.UNDECIDED
    assert "pid 4711 on rac1" in judged.reason
    used = Flows((lossy(),), arrivals, others=(OtherSender("rac1", 4711, age_s=1),))
    assert judge_flow(lossy(), used).verdict is FlowVerdict.PASSES, "whose results are used sent nothing else"


def cut_path(sender: str, receiver: str, *, sent: int = 1, answered: int = 0) -> FlowProbe:
    whole = FlowPort(40000, 1472, answered=1)
    block = FlowPort(
        40001, BLOCK, whole=False, sent=sent, answered=answered, small_sent=1, small_answered=1, full_sent=1,
        full_answered=1,
    )  # fmt: skip
    return FlowProbe("eth2", sender, receiver, "", "", 1500, ports=(whole, block))


def test_few_blocks_lost_on_each_path_to_a_node_show_together_that_fragments_are_dropped() -> None:
    probes = tuple(cut_path(f"rac{n}", "rac9") for n in range(1, 7))
    arrivals = (FlowArrivals("rac9", 24, 18),)
    assert judge_fragments(probes[0], Flows(probes, arrivals)) is CutVerdict.DROPPED
    one_passes = (cut_path("rac1", "rac9", answered=1), *probes[1:])
    assert judge_fragments(one_passes[1], Flows(one_passes, (FlowArrivals("rac9", 24, 19),))) is CutVerdict.UNDECIDED
    alone = (cut_path("rac1", "rac9", sent=5),)
    assert judge_fragments(alone[0], Flows(alone, (FlowArrivals("rac9", 8, 3),))) is CutVerdict.DROPPED


def test_blocks_that_a_share_of_all_packets_can_lose_do_not_show_that_fragments_are_dropped() -> None:
    alone = cut_path("rac1", "rac9", sent=7)
    flows = Flows((alone,), (FlowArrivals("rac9", 10, 3),))
    for lost, verdict in ((16, CutVerdict.UNDECIDED), (1, CutVerdict.DROPPED)):
        series = (PingSeries(56, 80, 80 - lost), PingSeries(1472, 80, 80 - lost))
        path = PathProbe("eth2", "rac9", "rac1", "", "", 1500, Verdict.LOSS, series)
        assert judge_fragments(alone, flows, (path,)) is verdict
