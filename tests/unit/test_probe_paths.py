"""The run over all paths, with made-up shells: the events when a node cannot ping, and the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest

from checks.model.facts import Interface, Leg, Node, PathProbe, Port, PrivateNetwork, Unknown, UnreadNode, Verdict
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.sources.entries import Program
from checks.sources.kernel_files import ARRIVALS, LINK, PING_TOOL
from checks.sources.nodes.shell import Completed, Shell, ShellError
from checks.sources.probes import paths, ping_command
from checks.sources.probes.paths import PathRun
from checks.sources.probes.safety import UnsafePathError

NODES = tuple(Node(name, "ssh") for name in ("rac1", "rac2", "rac3"))
TOOL = "ping from iputils 20221126\nplain: PING 127.0.0.1\ndont-fragment: PING 127.0.0.1\ntimeout: yes\n"
Link = Callable[[str, int], bool]
"""Whether a packet from this address, of this payload, is answered."""


def network(*nodes: str) -> PrivateNetwork:
    ports = tuple(Port(n, "eth2", f"192.168.11.{n[-1]}") for n in nodes)
    return PrivateNetwork("192.168.11.0/24", "eth2", "192.168.11.0/24", "oifcfg", ports, 9000)


class FakeShell(Shell):
    """A node whose pings are answered by a rule, and which counts no echo requests."""

    def __init__(self, node: str, answered: Link) -> None:
        self.node = node
        self.answered = answered
        self.payloads: list[int] = []

    async def run(self, program: Program, *arguments: str, timeout_s: float | None = None) -> Completed:
        if program is PING_TOOL:
            return Completed(0, TOOL)
        if program is LINK:
            return Completed(0, "up\n")
        return Completed(0, "Icmp: InMsgs InEchos\nIcmp: 9 5\n" if program is ARRIVALS else "")

    def start(self, command: Sequence[str]) -> asyncio.Future[Completed]:
        words = list(command)[list(command).index("ping") :]
        size, count = int(words[words.index("-s") + 1]), int(words[words.index("-c") + 1])
        self.payloads += [size] * count
        text = "PING 192.168.11.2\n"
        received = 0
        if size > 8972:
            text += "ping: local error: message too long, mtu=9000\n"
        elif self.answered(words[words.index("-I") + 1], size):
            received = count
            text += "".join(
                f"{size + 8} bytes from 192.168.11.2: icmp_seq={i} ttl=64 time=0.05 ms\n" for i in range(1, count + 1)
            )
        future: asyncio.Future[Completed] = asyncio.get_running_loop().create_future()
        future.set_result(Completed(0, text + f"{count} packets transmitted, {received} received\n"))
        return future


class FakeSession:
    """Return the shells by name. This host is not a node of the cluster, so that no socket is opened."""

    local_node = "elsewhere"

    def __init__(self, answered: Link, *, without: Sequence[str] = ()) -> None:
        self.settings = Settings()
        self.journal = Journal()
        self.without = without
        self.shells: dict[str, FakeShell] = {}
        self.answered = answered
        self.progress_reports: list[str] = []

    async def shell(self, node: str) -> Shell:
        if node in self.without:
            raise ShellError(f"{node} refused the login.")
        return self.shells.setdefault(node, FakeShell(node, self.answered))

    def progress(self, group: str, text: str, done: int, total: int) -> None:
        self.progress_reports.append(f"{group} {done}/{total}")


def by_pair(probes: Sequence[PathProbe]) -> dict[tuple[str, str], PathProbe]:
    return {(p.from_node, p.to_node): p for p in probes}


async def test_every_ordered_pair_is_probed_and_recorded_once() -> None:
    session = FakeSession(lambda _, __: True)
    probes = await PathRun([network("rac1", "rac2", "rac3")], NODES, session).run()
    assert len(probes) == 6
    assert {p.verdict for p in probes} == {Verdict.PASSES}
    assert session.progress_reports[-1] == "paths 6/6"
    entries = session.journal.entries
    assert sorted(e.topic for e in entries) == sorted(f"path {p.network} {p.from_node} {p.to_node}" for p in probes)
    assert "ping -n -M do -s 8972" in entries[0].action
    assert "packets of 9000 bytes (payload 8972): 20 sent, 20 answered" in entries[0].text


async def test_the_paths_so_far_are_reported_before_all_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checks.sources.probes.paths.REPORT_AFTER_S", 0)
    reports: list[tuple[PathProbe, ...]] = []
    reported = asyncio.Event()

    class SlowPeers(FakeSession):
        async def shell(self, node: str) -> Shell:
            if node != "rac1":
                await reported.wait()
            return await super().shell(node)

    def note(probes: tuple[PathProbe, ...]) -> None:
        reports.append(probes)
        reported.set()

    session = SlowPeers(lambda _, payload: payload <= 1472)
    probes = await PathRun([network("rac1", "rac2", "rac3")], NODES, session, so_far=note).run()
    assert {probe.from_node for probe in reports[0]} == {"rac1"}
    assert {probe.verdict for probe in reports[0]} == {Verdict.BLACK_HOLE}
    assert len(reports[0]) < len(probes) == 6


async def test_one_path_searches_the_mtu_and_the_others_only_confirm_it() -> None:
    session = FakeSession(lambda _, payload: payload <= 1472)
    probes = await PathRun([network("rac1", "rac2", "rac3")], NODES, session).run()
    assert {(p.verdict, p.path_mtu) for p in probes} == {(Verdict.BLACK_HOLE, 1500)}
    costs = sorted(p.packets_sent for p in probes)
    assert costs[-1] > costs[-2] == costs[0] == 56
    assert {p.lost_leg for p in probes} == {Leg.BOTH}


async def test_an_unmeasurable_path_is_unknown_with_its_reason() -> None:
    session = FakeSession(lambda _, __: True, without=["rac2"])
    nodes = (NODES[0], NODES[1], UnreadNode("rac3", "ssh to rac3 timed out"))
    probes = by_pair(await PathRun([network("rac1", "rac2", "rac3")], nodes, session).run())
    assert probes["rac1", "rac2"].verdict is Verdict.PASSES
    assert probes["rac2", "rac1"].reason == "rac2 refused the login."
    assert "timed out" in probes["rac3", "rac1"].reason
    assert probes["rac3", "rac1"].verdict is Verdict.UNKNOWN


async def test_unanswered_pings_in_one_direction_only_are_a_filter() -> None:
    session = FakeSession(lambda source, _: source == "192.168.11.2")
    probes = by_pair(await PathRun([network("rac1", "rac2")], NODES, session).run())
    assert probes["rac1", "rac2"].verdict is Verdict.FILTERED
    assert max(session.shells["rac1"].payloads) == 56, "no full-size packet is sent where small ones are not answered"


async def test_a_burst_delayed_by_one_lost_arp_answer_is_not_a_filter() -> None:
    queried: list[str] = []
    runs_of_the_first_burst = -(-20 // ping_command.RUN)

    def from_the_second_burst_on(source: str, _: int) -> bool:
        queried.append(source)
        return source != "192.168.11.1" or queried.count(source) > runs_of_the_first_burst

    probes = by_pair(await PathRun([network("rac1", "rac2")], NODES, FakeSession(from_the_second_burst_on)).run())
    late = probes["rac1", "rac2"]
    assert late.verdict is Verdict.PASSES
    assert late.reason.startswith("the first 20 packets got no answer, all later packets did")
    assert probes["rac2", "rac1"].reason == ""


async def test_a_path_over_a_link_that_is_down_is_not_probed_again() -> None:
    down = Interface("eth2", 9000, "ethernet", True, "down")
    session = FakeSession(lambda _, __: False)
    nodes = (NODES[0], Node("rac2", "ssh", interfaces=(down,)))
    probes = await PathRun([network("rac1", "rac2")], nodes, session).run()
    assert [p.packets_sent for p in probes] == [20, 20]


async def test_a_run_that_times_out_keeps_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(FakeSession):
        async def shell(self, node: str) -> Shell:
            if node == "rac2":
                await asyncio.sleep(60)
            return await super().shell(node)

    monkeypatch.setattr(paths, "RUN_TIMEOUT_S", 0.3)
    probes = by_pair(await PathRun([network("rac1", "rac2")], NODES, Hanging(lambda _, __: True)).run())
    assert probes["rac1", "rac2"].verdict is Verdict.PASSES
    assert probes["rac2", "rac1"].verdict is Verdict.UNKNOWN
    assert "took over" in probes["rac2", "rac1"].reason


async def test_a_cancelled_run_returns_its_results() -> None:
    class Hanging(FakeSession):
        async def shell(self, node: str) -> Shell:
            if node == "rac2":
                await asyncio.sleep(60)
            return await super().shell(node)

    run = PathRun([network("rac1", "rac2")], NODES, Hanging(lambda _, __: True))
    task = asyncio.create_task(run.run())
    while by_pair(run.results())["rac1", "rac2"].verdict is not Verdict.PASSES:  # noqa: ASYNC110 - no event announces it
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert by_pair(run.results())["rac1", "rac2"].verdict is Verdict.PASSES


async def test_nothing_is_sent_on_a_network_that_is_also_public() -> None:
    session = FakeSession(lambda _, __: True)
    probes = await PathRun([network("rac1", "rac2")], NODES, session, public_subnets=["192.168.0.0/16"]).run()
    assert {p.verdict for p in probes} == {Verdict.UNKNOWN}
    assert "overlaps the public network 192.168.0.0/16" in probes[0].reason
    assert session.shells == {}


async def test_nothing_is_sent_at_all_if_a_path_would_leave_its_network() -> None:
    session = FakeSession(lambda _, __: True)
    astray = msgspec.structs.replace(network("rac1", "rac2"), subnet="192.168.12.0/24")
    with pytest.raises(UnsafePathError):
        PathRun([astray], NODES, session)
    assert session.shells == {}


async def test_a_network_without_a_known_mtu_has_no_paths() -> None:
    unknown = PrivateNetwork(
        "n", "eth2", "192.168.11.0/24", "oifcfg", (), Unknown("no node has a port on this network")
    )
    assert await PathRun([unknown], NODES, FakeSession(lambda _, __: True)).run() == ()
