"""The kernels' counters over time: differences, never totals.

A node that fails is reported and disturbs no other node.
"""

import asyncio
import shlex
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import CounterChange, CounterChanges, KernelCounters, Unknown
from checks.model.journal import Journal
from checks.model.settings import Settings, SshSettings
from checks.sources.kernel_files import COUNTERS, COUNTERS_OF_THIS_NODE, MOST_LINES
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.counter_difference import (
    KernelGrowth,
    KernelReading,
    difference,
    difference_text,
    parse_reading,
)
from checks.sources.nodes.session import Session
from checks.sources.sh_text import MARK
from checks.sources.storage_connections import STORAGE
from tests.fixtures.clusters import node
from tests.support.programs import LOGGED_IN

WRAP = 2**32
TOPIC = "counters over time"


def reading(softnet=((5, 0, 0), (7, 1, 2)), **ip):
    return KernelReading(KernelCounters({"Ip": {"InReceives": 100, "ReasmFails": 3, "Forwarding": 2, **ip}}), softnet)


def text(in_receives=100, fails=3, dropped=1):
    return (
        f"Ip: Forwarding InReceives ReasmFails\nIp: 2 {in_receives} {fails}\n"
        f"TcpExt: IPReversePathFilter\nTcpExt: 0\n"
        f"0047f5d8 {dropped:08x} 00000003 00000000\n004542fb 00000000 00000001 00000000\n"
    )


# --- reading and comparing --------------------------------------------------------------------------------------------


def test_the_three_files_in_one_text_are_parsed():
    known = parse_reading(text(dropped=10))
    assert known.counters.value("Ip", "ReasmFails") == 3
    assert known.counters.value("TcpExt", "IPReversePathFilter") == 0
    assert [row[:3] for row in known.softnet] == [(0x47F5D8, 10, 3), (0x4542FB, 0, 1)]


def test_addresses_and_routes_are_read_whole_or_not_at_all():
    line = "3: eth1 inet 192.168.10.2/24 scope global eth1\n"
    route = "192.168.10.0/24 dev eth1 src 192.168.10.2\n"
    known = parse_reading(text() + f"{MARK} addresses\n{line}{MARK} routes\n{route}")
    assert [nic.name for nic in known.addresses] == ["eth1"]
    assert [r.destination for r in known.routes] == ["192.168.10.0/24"]
    cut = parse_reading(text() + f"{MARK} addresses\n{line * MOST_LINES}{MARK} routes\n")
    assert isinstance(cut.addresses, Unknown)
    assert isinstance(cut.routes, Unknown)
    assert isinstance(parse_reading(text()).addresses, Unknown)


def test_growth_is_counted_by_name_over_all_cpus():
    change = difference(reading(), reading(((9, 2, 2), (8, 4, 5)), InReceives=150, ReasmFails=10))
    assert change.counters.groups == {
        "Ip": {"InReceives": 50, "ReasmFails": 7},
        "Softnet": {"Dropped": 5, "TimeSqueezed": 5},
    }
    assert difference_text(change).splitlines()[1] == "Ip.ReasmFails +7"


def test_settings_and_gauges_are_not_counters():
    before = KernelReading(KernelCounters({"Tcp": {"CurrEstab": 9, "InSegs": 5}, "Ip": {"DefaultTTL": 64}}))
    after = KernelReading(KernelCounters({"Tcp": {"CurrEstab": 2, "InSegs": 6}, "Ip": {"DefaultTTL": 32}}))
    change = difference(before, after)
    assert isinstance(change, KernelGrowth)
    assert (change.counters, change.left_out) == (KernelCounters({"Tcp": {"InSegs": 1}}), ())


def test_a_32_bit_counter_that_wrapped_is_counted_correctly():
    change = difference(reading(ReasmFails=WRAP - 5), reading(ReasmFails=7))
    assert (change.counters.value("Ip", "ReasmFails"), change.left_out) == (12, ())
    change = difference(reading(((0, WRAP - 1, 0),)), reading(((0, 4, 0),)))
    assert change.counters.value("Softnet", "Dropped") == 5


def test_a_counter_that_fell_is_left_out_and_named():
    change = difference(reading(ReasmFails=30), reading(ReasmFails=3))
    assert change.counters.value("Ip", "ReasmFails") is None
    assert change.left_out == ("Ip.ReasmFails",)
    assert "Ip.ReasmFails fell: left out" in difference_text(change)


@pytest.mark.parametrize("before", [5_000, 3_000_000_000, WRAP - 1, WRAP])
def test_a_node_whose_counters_restarted_was_restarted_however_high_they_are(before):
    change = difference(reading(InReceives=before), reading(InReceives=5))
    assert isinstance(change, Unknown)
    assert "restarted" in change.reason


def test_a_cpu_that_came_or_went_leaves_softnet_out():
    assert difference(reading(), reading(((9, 2, 2),))).left_out == ("Softnet.Dropped", "Softnet.TimeSqueezed")


@given(st.text(alphabet="Ip: 0123abcdef\n", max_size=300), st.text(alphabet="Ip: 0123abcdef\n", max_size=300))
def test_no_text_raises_or_counts_backwards(one, other):
    before, after = parse_reading(one), parse_reading(other)
    if isinstance(before, KernelReading) and isinstance(after, KernelReading):
        change = difference(before, after)
        if isinstance(change, KernelGrowth):
            assert all(value >= 0 for group in change.counters.groups.values() for value in group.values())


@given(st.integers(0, 2**64), st.integers(0, 2**31))
def test_the_growth_of_a_counter_is_exact(start, growth):
    change = difference(reading(ReasmFails=start), reading(ReasmFails=start + growth))
    assert change.counters.value("Ip", "ReasmFails") == growth


@given(st.integers(WRAP // 2, WRAP - 1), st.integers(0, 2**30))
def test_the_growth_of_a_counter_is_exact_across_a_32_bit_wrap(start, growth):
    change = difference(reading(ReasmFails=start), reading(ReasmFails=(start + growth) % WRAP))
    assert change.counters.value("Ip", "ReasmFails") == growth


# --- nodes ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Sets what `cat` does on the peer, by a directory of its own in front of the PATH there."""

    def be(cat: str) -> None:
        (tmp_path / "bin").mkdir()
        for name, script in {
            "bin/cat": cat,
            "rsh": f"export PATH={tmp_path}/bin:/usr/bin:/bin; {LOGGED_IN}",
        }.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("RACWIRE_RSH", shlex.quote(str(tmp_path / "rsh")))

    return be


def session(progress=None, **ssh):
    opened = Session(Settings(ssh=SshSettings(**ssh)), Journal(), progress)
    opened.local_node = "rac1"
    return opened


async def changes(nodes, interval_s=0.05, **ssh):
    opened = session(**ssh)
    try:
        return await read_counter_changes(opened, [node(n) for n in nodes], interval_s), opened.journal
    finally:
        await opened.close()


async def probes_end() -> bool:
    return True


async def no_probes() -> bool:
    return False


@pytest.mark.parametrize(("probes", "readings"), [(probes_end, 3), (no_probes, 2), (asyncio.Event().wait, 2)])
async def test_the_counters_are_read_once_more_when_the_probes_of_the_run_end(probes, readings):
    opened = Session(Settings(), Journal(), probes=probes)
    opened.local_node = "rac1"
    known = await read_counter_changes(opened, [node(1)], 0.2)
    await opened.close()
    assert [part.node for part in known.quiet] == ["rac1"] * (readings - 2)
    assert len([entry for entry in opened.journal.entries if entry.topic == TOPIC]) == readings
    assert all(part.seconds < known.nodes[0].seconds for part in known.quiet)


async def test_a_quiet_time_ends_before_the_datagrams_go_on():
    opened = Session(Settings(), Journal(), probes=probes_end)
    opened.local_node = "rac1"
    going_on = asyncio.create_task(opened.keep_quiet(0.3))
    await opened.pausing.wait()
    known = await read_counter_changes(opened, [node(1)], 0.6)
    await going_on
    await opened.close()
    assert len([entry for entry in opened.journal.entries if entry.topic == TOPIC]) == 4
    assert len(known.quiet) == 1


async def test_locks_of_racwires_are_seen_at_the_readings():
    with socket.socket(socket.AF_UNIX) as lock:
        lock.bind("\0racwire-measure")
        known, _ = await changes([1])
    assert "racwire-measure" in known.nodes[0].racwires


async def test_this_node_is_read_twice_from_its_files():
    known, journal = await changes([1])
    assert isinstance(known, CounterChanges)
    (change,) = known.nodes
    assert change.node == "rac1"
    assert change.seconds >= 0.05
    assert change.counters.value("Ip", "ReasmFails") is not None
    assert change.counters.value("Softnet", "Dropped") is not None
    loopback, cpus = change.machine.nic("lo"), change.machine.cpu("cpu")
    assert loopback is not None
    assert {"rx_packets", "rx_crc_errors", "carrier_changes", "qdisc_drops"} <= set(loopback.counts)
    assert cpus is not None
    assert cpus.counts["user"] + cpus.counts["idle"] >= 0
    # A machine of the tests may have connections to storage, or not.
    own = [e for e in journal.entries if e.topic not in STORAGE.topics]
    assert {(e.node, e.topic, e.outcome) for e in own} == {("rac1", TOPIC, "ok")}
    assert [e.action for e in own] == [COUNTERS_OF_THIS_NODE.action(TOPIC)] * 2


async def test_a_peer_is_read_by_one_cat_through_its_shell(peer, tmp_path):
    first = text(in_receives=100, fails=3)
    again = text(in_receives=900, fails=15, dropped=4)
    (tmp_path / "first").write_text(first)
    (tmp_path / "again").write_text(again)
    peer(
        f"[ -e {tmp_path}/read ] && exec /bin/cat {tmp_path}/again\n: > {tmp_path}/read\nexec /bin/cat {tmp_path}/first"
    )
    known, journal = await changes([2])
    (change,) = known.nodes
    assert isinstance(change, CounterChange)
    assert change.counters.value("Ip", "ReasmFails") == 12
    assert change.counters.value("Softnet", "Dropped") == 3
    entries = [e for e in journal.entries if e.topic == TOPIC]
    assert [e.action for e in entries] == [COUNTERS.action(TOPIC)] * 2
    assert "Ip.ReasmFails +12" in entries[1].text
    assert again.strip() in entries[1].text


async def test_a_peer_that_hangs_is_reported_and_the_others_are_read(peer):
    peer("exec sleep 60")
    known, _ = await changes([1, 2], read_timeout_s=0.3)
    assert [c.node for c in known.nodes] == ["rac1"]
    assert known.unread["rac2"].reason.startswith("rac2 did not answer within 0.3 s")


async def test_a_peer_with_an_unexpected_answer_is_reported(peer):
    peer("echo 'cat: /proc/net/snmp: Permission denied'")
    known, _ = await changes([2])
    assert known.nodes == ()
    assert known.unread["rac2"].reason.startswith("No counter could be parsed from /proc/net/snmp")


async def test_without_nodes_there_is_nothing_to_compare():
    known, _ = await changes([])
    assert isinstance(known, Unknown)


async def test_progress_is_reported_every_second_and_cancelling_ends_the_reading_at_once():
    reports: list[tuple[str, str, int, int]] = []
    first = asyncio.Event()

    def progress(*words):
        reports.append(words)
        first.set()

    opened = session(progress)
    task = asyncio.create_task(read_counter_changes(opened, [node(1)], 600))
    await asyncio.wait_for(first.wait(), 30)
    task.cancel()
    async with asyncio.timeout(30):
        await asyncio.gather(task, return_exceptions=True)
        await opened.close()
    assert task.cancelled()
    assert reports[0] == ("counters", "watching the kernels' counters", 0, 600)


@pytest.mark.parametrize(
    ("line", "expected"),
    [("FRAG: inuse 3 memory 12288", 12_288), ("FRAG: inuse 0 memory 0", 0), ("FRAG: inuse x memory", None), ("", None)],
)
def test_the_memory_of_packets_in_reassembly_is_the_larger_of_both_readings(line, expected):
    sockstat = f"sockets: used 121\nTCP: inuse 5 orphan 0 tw 0 alloc 6 mem 1\nUDP: inuse 3 mem 2\n{line}\n"
    after = parse_reading(f"{text(dropped=10)}\n{sockstat}")
    assert after.fragment_memory_bytes == expected
    grown = difference(parse_reading(text(dropped=10)), after)
    assert grown.fragment_memory_bytes == expected
