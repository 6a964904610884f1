"""A run of datagrams: what is sent to which nodes, and when."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from checks.model.facts import FlowPort, FlowProbe, Flows, Node, PathProbe, Verdict
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.rules.fragment_verdicts import networks_that_lose_fragments
from checks.sources.kernel_files import UDP_ENDS
from checks.sources.nodes.read_only.allow_list import SENDER_TEXT
from checks.sources.nodes.shell import Completed, Shell
from checks.sources.probes.udp_flows import send_flows
from tests.fixtures.clusters import path as pinged_path
from tests.unit.test_udp_flows import ENDS, network

# --- a run ------------------------------------------------------------------------------------------------------------


class FakeShell(Shell):
    """A peer with tables and a Python, which loses large datagrams from odd slots."""

    def __init__(self, node: str, ends: str, *, loses: bool) -> None:
        self.node = node
        self.ends = ends
        self.loses = loses
        self.commands: list[list[str]] = []

    async def run(self, program, *arguments, timeout_s=None):
        assert program is UDP_ENDS
        return Completed(0, self.ends)

    def start(self, command):
        self.commands.append(list(command))
        lines = []
        for number, one in enumerate(command[command.index(SENDER_TEXT) + 2 :]):
            for datagram in one.split(",")[3].split("/"):
                _, slot, source_port, size, _ = map(int, datagram.split(":"))
                lost = self.loses and slot % 2 and size > 56
                what = "silence -" if lost else "refused 192.168.11.1"
                lines.append(f"{number} {slot} {source_port or 40000 + slot} {size} {what}")
        future = asyncio.get_running_loop().create_future()
        future.set_result(Completed(0, "\n".join(lines)))
        return future


class FakeSession:
    local_node = "elsewhere"
    settings = Settings()

    def __init__(self, ends: str = ENDS, *, loses: bool = False) -> None:
        self.journal = Journal()
        self.shells = {n: FakeShell(n, ends, loses=loses) for n in ("rac1", "rac2")}

    async def shell(self, node):
        return self.shells[node]

    def progress(self, *_):
        pass


NODES = (Node("rac1", "ssh"), Node("rac2", "ssh"))


async def no_pings() -> tuple[PathProbe, ...]:
    return ()


async def test_a_healthy_run_sends_one_datagram_for_each_source_port() -> None:
    session = FakeSession()
    flows = await send_flows([network()], NODES, no_pings, session, interval_s=30)
    assert [p.datagrams for p in flows.probes] == [12, 12]
    assert {p.destination_port for p in flows.probes} == {6947}
    assert [len(shell.commands) for shell in session.shells.values()] == [2, 2]  # the second one sends small datagrams
    assert {e.topic for e in session.journal.entries} == {"udp ends", "udp datagrams"}


@pytest.mark.parametrize(("oldest_ms", "limits"), [(60_000, "1000:30000:60000"), (0, "1000:30000:0")])
async def test_a_change_uses_no_results_of_another_racwire(oldest_ms: int, limits: str) -> None:
    session = FakeSession()
    await send_flows([network()], NODES, no_pings, session, interval_s=5, oldest_ms=oldest_ms)
    command = session.shells["rac1"].commands[0]
    assert command[command.index(SENDER_TEXT) + 1] == limits


async def test_silent_ports_are_examined_and_the_arrivals_counted() -> None:
    flows = await send_flows([network()], NODES, no_pings, FakeSession(loses=True), interval_s=30)
    silent = [p for p in flows.probes[0].ports if p.small_sent]
    assert len(silent) == 6
    assert all((p.sent, p.answered, p.small_sent, p.small_answered) == (3, 0, 1, 1) for p in silent)
    assert flows.arrived("rac2").counted == 0


async def test_a_peer_without_python_is_not_examined_with_the_reason() -> None:
    session = FakeSession(ENDS.replace("/usr/bin/python3\n", ""))
    flows = await send_flows([network()], NODES, no_pings, session, interval_s=5)
    assert flows.probes[0].reason == "rac1 has no Python in /usr/bin, so it cannot send datagrams"
    assert all(not shell.commands for shell in session.shells.values())


async def test_two_networks_in_one_subnet_get_no_datagram() -> None:
    twin = msgspec.structs.replace(network(), name="eth1 192.168.11.0/24", interface="eth1")
    session = FakeSession()
    flows = await send_flows([network(), twin], NODES, no_pings, session, interval_s=5)
    assert all("share 192.168.11.0/24" in p.reason for p in flows.probes)
    assert all(not shell.commands for shell in session.shells.values())


async def test_nothing_is_sent_where_a_public_network_overlaps() -> None:
    session = FakeSession()
    flows = await send_flows([network()], NODES, no_pings, session, interval_s=5, public_subnets=["192.168.0.0/16"])
    assert all("overlaps the public network" in p.reason for p in flows.probes)
    assert all(not shell.commands for shell in session.shells.values())


@pytest.mark.parametrize("loses", [True, False])
async def test_datagrams_pause_before_a_missing_answer_is_examined(loses: bool) -> None:
    session, sent = FakeSession(loses=loses), []

    async def pause() -> None:
        sent.append([len(shell.commands) for shell in session.shells.values()])

    await send_flows([network()], NODES, no_pings, session, interval_s=30, pause=pause)
    assert sent == ([[1, 1]] if loses else [])


async def test_no_missing_answer_is_examined_before_the_pings_are_known() -> None:
    session, pings = FakeSession(loses=True), asyncio.get_running_loop().create_future()

    async def pinged() -> tuple[PathProbe, ...]:
        assert [len(shell.commands) for shell in session.shells.values()] == [1, 1]
        return await pings

    run = asyncio.create_task(send_flows([network()], NODES, pinged, session, interval_s=5))
    pings.set_result(
        [
            pinged_path(network(), "rac1", "rac2", Verdict.UNREACHABLE),
            pinged_path(network(), "rac2", "rac1", Verdict.BLACK_HOLE),
        ]
    )
    there, back = (await run).probes
    assert (there.reason, {p.small_sent for p in there.ports}) == ("no ping of any size passes", {0})
    assert (back.reason, {p.small_sent for p in back.ports}) == ("", {0, 1})
    assert [len(shell.commands) for shell in session.shells.values()] == [1, 2]


def test_a_network_loses_fragments_where_another_one_answers_all() -> None:
    def flows(*counts: tuple[str, int, int]) -> Flows:
        return Flows(tuple(blocks(*one) for one in counts))

    def blocks(network: str, lost: int, sent: int) -> FlowProbe:
        port = FlowPort(40000, 8192, whole=False, sent=sent, answered=sent - lost)
        return FlowProbe(network, "rac1", "rac2", "", "", 1500, ports=(port,))

    assert networks_that_lose_fragments(flows(("eth1", 0, 6), ("eth2", 2, 9))) == {"eth2": (2, 9)}
    assert networks_that_lose_fragments(flows(("eth1", 0, 6), ("eth2", 1, 9))) == {}, "a kernel limits its answers"
    assert networks_that_lose_fragments(flows(("eth1", 3, 6), ("eth2", 2, 9))) == {}, "the networks do not differ"
    assert networks_that_lose_fragments(flows(("eth2", 2, 9))) == {}
