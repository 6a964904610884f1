"""Rows of datagrams: their pace, how others' datagrams are told from them, and the memory that fragments may hold."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import pytest

from checks.model.facts import Port, PrivateNetwork
from checks.sources.entries import Program
from checks.sources.kernel_files import UDP_ENDS
from checks.sources.nodes.framing import Completed
from checks.sources.nodes.shell import Shell
from checks.sources.probes import counted_rows
from checks.sources.probes.counted_rows import (
    CUT_AT_ONCE,
    CUT_PER_SECOND,
    MOST_AT_ONCE,
    PER_SECOND,
    CannotCountError,
    CountedRows,
    FragmentsStoppedError,
    Row,
    cut_payload,
)
from checks.sources.probes.path import Path
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.udp_sender import COUNTED, CUT_COUNTED, parse_datagrams

PORTS = Port("rac1", "eth1", "192.168.10.1"), Port("rac2", "eth1", "192.168.10.2")
WAY = Path(PrivateNetwork("net", "eth1", "192.168.10.0/24", "oifcfg", PORTS), *PORTS, 1500)
WHOLE = 4_194_304


@dataclass
class Nodes:
    """A sender and a receiver: what is sent, what of it arrives, and what others send."""

    local_node: str = "rac1"
    loses: int = 0
    """Of each row, so many."""
    strangers: list[int] = field(default_factory=list)
    """Datagrams of others before each reading."""
    memory: int = 0
    busy: int = 0
    """So many rows find the lock of the sender held."""
    no_ports: int = 1000
    rows: list[tuple[float, list[list[int]]]] = field(default_factory=list)

    async def shell(self, node: str) -> Nodes:
        return self

    async def run(self, program: Program) -> Completed:
        self.no_ports += self.strangers.pop(0) if self.strangers else 0
        text = f"Udp: InDatagrams NoPorts\nUdp: 0 {self.no_ports}\nFRAG: inuse 0 memory {self.memory}\n"
        if program is UDP_ENDS:
            text += f"range: 9000\t65500\ntable: sl\n/usr/bin/python3\nmost: {WHOLE}\n"
        return Completed(0, text)

    async def sent(self, session: object, shell: Shell, node: str, python: str, words: list[str], *, run_s: float):
        if self.busy:
            self.busy -= 1
            return "busy\n", ""
        assert words[0] == "0:0:0:1", "nothing is sent beside another racwire of the node"
        datagrams = parse_datagrams(words[1])
        self.rows.append((time.monotonic(), datagrams))
        most = int(words[1].rsplit(",", 1)[1].split(":")[1])
        left = [d for n, d in enumerate(datagrams) if d[4] == COUNTED or n < most]
        self.no_ports += max(0, len(left) - self.loses)
        return "".join(f"0 {slot} {40_000 + slot} {size} sent -\n" for _, slot, _, size, _ in left), ""


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Nodes:
    nodes = Nodes()
    monkeypatch.setattr(counted_rows, "sent", lambda *of, **more: nodes.sent(*of, **more))
    for name in ("CONTROL_S", "_SETTLE_S"):
        monkeypatch.setattr(counted_rows, name, 0.001)
    monkeypatch.setattr(counted_rows, "_JITTER_S", (0.001, 0.002))
    return nodes


def rows(nodes: Nodes, fragment_s: float = 30.0) -> CountedRows:
    return CountedRows(cast("ProbeSession", nodes), fragment_s)


async def test_a_row_is_at_the_pace_that_holds_for_all_senders_and_lasts_half_a_second(nodes: Nodes) -> None:
    found = await rows(nodes).count(Row(WAY, 1472, MOST_AT_ONCE))
    ((_, datagrams),) = nodes.rows
    assert (found.sent, found.arrived, found.lost) == (250, 250, 0)
    assert {b[0] - a[0] for a, b in pairwise(datagrams)} == {1000 // PER_SECOND}
    assert datagrams[-1][0] < 500
    assert {d[4] for d in datagrams} == {COUNTED}


async def test_what_does_not_arrive_is_lost(nodes: Nodes) -> None:
    nodes.loses = 3
    assert (await rows(nodes).count(Row(WAY, 1472, 50))).lost == 3


@pytest.mark.parametrize("strangers", [[0, 0, 5], [0, 0, 0, 5]], ids=["among the row", "in the interval after it"])
async def test_a_row_that_others_disturb_is_sent_again(nodes: Nodes, strangers: list[int]) -> None:
    nodes.strangers = strangers
    found = await rows(nodes).count(Row(WAY, 1472, 50))
    assert len(nodes.rows) == 2
    assert (found.sent, found.arrived) == (50, 50)


async def test_where_others_never_stop_nothing_is_said_of_the_path(nodes: Nodes) -> None:
    nodes.strangers = [1] * 100
    with pytest.raises(CannotCountError, match="rac2 counts datagrams of others to closed ports"):
        await rows(nodes).count(Row(WAY, 1472, 50))
    assert len(nodes.rows) == 5


async def test_another_racwire_of_the_sender_is_waited_for(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes.busy = 3
    assert (await rows(nodes).count(Row(WAY, 1472, 50))).arrived == 50
    nodes.busy = 1000
    monkeypatch.setattr(counted_rows, "_BUSY_S", 0.05)
    with pytest.raises(CannotCountError, match="another racwire of rac1 sends"):
        await rows(nodes).count(Row(WAY, 1472, 50))
    assert len(nodes.rows) == 1


async def test_datagrams_in_fragments_are_few_a_second(nodes: Nodes) -> None:
    counted, sent = rows(nodes), 0
    while sent < 3 * CUT_AT_ONCE:
        sent += (await counted.count(Row(WAY, cut_payload(WAY), 100, is_cut=True))).sent
    starts = [at for at, _ in nodes.rows]
    assert [len(datagrams) for _, datagrams in nodes.rows] == [CUT_AT_ONCE] * 3
    assert all(b - a >= 0.95 * CUT_AT_ONCE / CUT_PER_SECOND for a, b in pairwise(starts))
    for _, datagrams in nodes.rows:
        assert all(b[0] - a[0] >= 1000 // CUT_PER_SECOND for a, b in pairwise(datagrams))
        assert {d[4] for d in datagrams} == {CUT_COUNTED}
    assert counted.incomplete_until() < time.monotonic() + 30


async def test_no_more_are_incomplete_than_fill_a_twentieth_of_the_memory_until_they_give_it_back(nodes: Nodes) -> None:
    nodes.loses = CUT_AT_ONCE
    counted, sent = rows(nodes, fragment_s=1.0), 0
    row, stopped = Row(WAY, cut_payload(WAY), 100, is_cut=True), ""
    while not stopped:
        try:
            sent += (await counted.count(row)).sent
        except FragmentsStoppedError as error:
            stopped = str(error)
    assert "hold 5% of its memory for reassembly" in stopped
    assert sent == WHOLE // 20 // (12 * 1024)
    assert 0 < counted.incomplete_until() - time.monotonic() <= 1.0
    await asyncio.sleep(1.0)
    assert (await counted.count(row)).sent == CUT_AT_ONCE


async def test_nothing_in_fragments_is_sent_where_a_quarter_of_the_memory_is_in_use(nodes: Nodes) -> None:
    nodes.memory = WHOLE // 4 + 1
    counted = rows(nodes)
    with pytest.raises(FragmentsStoppedError, match=r"25% of the memory for reassembly of rac2 is in use"):
        await counted.count(Row(WAY, cut_payload(WAY), 4, is_cut=True))
    assert nodes.rows == []
    assert (await counted.count(Row(WAY, 1472, 50))).arrived == 50


async def test_a_memory_that_cannot_be_read_in_time_lets_no_fragment_go(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted_rows, "MEMORY_AGE_S", 0.0)
    with pytest.raises(FragmentsStoppedError, match="could not be read within"):
        await rows(nodes).count(Row(WAY, cut_payload(WAY), 4, is_cut=True))
    assert nodes.rows == []
