"""Datagrams that are counted by source port: the ports of a bad link, and none by chance."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from types import SimpleNamespace

import msgspec
import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.facts import (
    FlowArrivals,
    FlowPort,
    FlowProbe,
    Flows,
    HaipPath,
    HaipPaths,
    Neighbour,
    PortTurn,
    Unknown,
)
from checks.model.hypothesis import Certainty
from checks.plugins.df_ping import df_ping
from checks.plugins.haip_path import haip_path
from checks.plugins.udp_path import udp_path
from checks.rules.flow_verdicts import FlowVerdict, judge_flow
from checks.rules.port_shares import MOST_PATHS, lossy_ports
from checks.sources.probes import port_turns
from checks.sources.probes.udp_plan import UdpEnds
from tests.fixtures.clusters import cluster, path, with_paths
from tests.fixtures.databases import counters
from tests.unit.test_udp_flows import path as path_of_datagrams

NETWORK = "192.168.11.0/24"
SENT = 16
PORTS = [*[FlowPort(40000 + n, 8972, answered=1) for n in range(7)], FlowPort(40007, 8972, sent=3, answered=1)]


def counted(*rows: Sequence[int]) -> FlowProbe:
    """A path whose source ports lost so many of each row, a turn after the other."""
    turns = [
        PortTurn(40000 + port, turn, SENT, SENT - lost)
        for turn, row in enumerate(rows)
        for port, lost in enumerate(row)
    ]
    ends = ("rac1", "rac2", "192.168.11.1", "192.168.11.2")
    return FlowProbe(NETWORK, *ends, 9000, 6947, tuple(PORTS), turns=tuple(turns))


def numbers(probe: FlowProbe) -> list[int]:
    return [port.source_port - 40000 for port in lossy_ports(probe)]


@pytest.mark.parametrize(
    ("rows", "lossy"),
    [
        (([0, 0, 3, 0, 0, 0, 0, 4], [0, 0, 4, 0, 0, 0, 0, 3]), [2, 7]),
        (([0, 0, 0, 0, 0, 0, 0, 6], [0, 1, 0, 0, 0, 0, 0, 5]), [7]),
        (([0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 2]), []),  # chance can do that
        (([3, 2, 4, 3, 1, 5, 3, 2],), []),  # alike: one turn is enough
        (([0, 0, 16, 16, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]), []),  # some seconds in which nothing passed
        (([0, 0, 0, 0, 0, 0, -1, 6], [0, 0, 0, 0, 0, 0, 0, 6]), []),  # others sent as well
        ((), []),
    ],
)
def test_ports_of_a_bad_link_lose_in_each_turn(rows: Sequence[Sequence[int]], lossy: list[int]) -> None:
    assert numbers(counted(*rows)) == lossy


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6])
def test_a_loss_of_all_ports_alike_is_taken_for_a_link_less_than_once_in_a_thousand_runs(share: float) -> None:
    rng = random.Random(share)
    rows = [[[sum(rng.random() < share for _ in range(SENT)) for _ in range(8)] for _ in range(2)] for _ in range(400)]
    assert sum(bool(numbers(counted(*row))) for row in rows) <= 1


def flows(probe: FlowProbe) -> Flows:
    back = msgspec.structs.replace(
        probe, from_node="rac2", to_node="rac1", source_ip="192.168.11.2", destination_ip="192.168.11.1",
        ports=tuple(FlowPort(41000 + n, 8972, answered=1) for n in range(8)), turns=(),
    )  # fmt: skip
    return Flows(
        (probe, back), (FlowArrivals("rac2", probe.datagrams, probe.datagrams - 2), FlowArrivals("rac1", 8, 8))
    )


def told(probe: FlowProbe, *haip: HaipPath, **facts: object) -> list[str]:
    """The causes of the first entry."""
    eth2 = next(n for n in cluster().networks if n.interface == "eth2")
    pinged = [path(eth2, a, b) for a, b in (("rac1", "rac2"), ("rac2", "rac1"))]
    known = msgspec.structs.replace(with_paths(cluster(), *pinged), flows=flows(probe), haip_paths=HaipPaths(haip))
    known = msgspec.structs.replace(known, **{"counters": counters(2), **facts})
    said = diagnose(known, [*df_ping.run(known), *udp_path.run(known), *haip_path.run(known)])
    return [h.cause for h in said.with_standing(Certainty.PROVED, Certainty.SUPPORTED) if h.entry == 1]


def test_source_ports_that_differ_are_a_link_and_no_limit_of_the_rate() -> None:
    probe = counted([0, 0, 3, 0, 0, 0, 0, 4], [0, 0, 4, 0, 0, 0, 0, 3])
    assert judge_flow(probe, flows(probe)).verdict is FlowVerdict.LOSSY_MEMBER
    assert told(probe) == ["CAUSE-71"]


FEW = counted([0, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 0])


def test_few_losses_leave_a_lossy_link_a_limit_and_a_link_of_an_aggregation() -> None:
    assert {"CAUSE-01", "CAUSE-71", "CAUSE-73"} <= set(told(FEW))


def test_rings_and_arp_are_causes_of_a_share_only_where_nothing_that_was_read_rules_them_out() -> None:
    assert not {"CAUSE-16", "CAUSE-64"} & set(told(FEW))
    assert "CAUSE-16" in told(FEW, counters=Unknown("The counters could not be read."))
    rac1, rac2 = cluster().read_nodes()
    entries = (Neighbour("192.168.11.2", "eth2", "", "failed"),)
    unsettled = msgspec.structs.replace(rac1, neighbours=entries)
    assert "CAUSE-64" in told(FEW, nodes=(unsettled, rac2))


def haip(answered: int) -> HaipPath:
    return HaipPath(
        NETWORK, "rac1", "rac2", "169.254.128.1", "169.254.128.2", 9000,
        small_sent=1, small_answered=min(1, answered), full_sent=3, full_answered=max(0, answered - 1),
    )  # fmt: skip


def test_one_ping_of_four_is_no_fault_of_haip() -> None:
    assert "CAUSE-74" not in told(counted(), haip(3))
    assert {"CAUSE-69", "CAUSE-74"} & set(told(msgspec.structs.replace(counted(), ports=tuple(PORTS[:7])), haip(0)))


class Target:
    """A target that counts what its sender says it sent, without those from one port."""

    def __init__(self, *, bad: int = 0, share: int = 1) -> None:
        self.bad, self.share, self.number, self.taken = bad, share, 0, frozenset[int]()
        self.rows: list[int] = []

    async def ends(self) -> UdpEnds:
        return UdpEnds("python3", 9000, self.taken, True, self.number)

    async def sent(
        self, session: object, shell: object, node: str, python: str, words: Sequence[str]
    ) -> tuple[str, str]:
        datagrams = [one.split(":") for one in words[1].split(",")[3].split("/")]
        lines = []
        for _, slot, wanted, size, how in datagrams:
            port = int(wanted) or 50000 + int(slot)
            lines.append(f"0 {slot} {port} {size} sent -")
            assert how == "2"
        self.rows.append(port)
        self.number += len(lines) - (self.share if port == self.bad else 0)
        return "\n".join(lines), ""


def turns(target: Target, monkeypatch: pytest.MonkeyPatch) -> tuple[PortTurn, ...]:
    monkeypatch.setattr(port_turns, "sent", target.sent)
    chosen = port_turns.ports_to_count(PORTS[3:])
    made = path_of_datagrams()
    return asyncio.run(
        port_turns.take_turns(made, 8737, chosen, target.ends, SimpleNamespace(), SimpleNamespace(), "python3")  # type: ignore[arg-type]
    )


def test_each_port_has_its_row_and_the_second_turn_is_the_other_way_round(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(bad=40007, share=5)
    found = turns(target, monkeypatch)
    assert target.rows == target.rows[::-1]  # and the lossy port comes first
    assert target.rows[0] == 40007
    assert {(one.source_port, one.sent - one.counted) for one in found if one.counted < one.sent} == {(40007, 5)}


def test_one_turn_is_enough_where_no_port_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(turns(Target(), monkeypatch)) == port_turns.PORTS


def test_nothing_is_sent_to_a_port_that_a_socket_has_by_now(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target()
    target.taken = frozenset({8737})
    assert turns(target, monkeypatch) == ()
    assert not target.rows


def test_the_paths_that_lost_a_part_are_counted_and_no_others() -> None:
    probe = counted()
    assert [p.to_node for p in port_turns.paths_to_count(flows(probe))] == ["rac2"]
    names = [f"rac{n}" for n in range(3, 9)]
    arrivals = [FlowArrivals(name, probe.datagrams, probe.datagrams - 2) for name in names]
    many = Flows(tuple([msgspec.structs.replace(probe, to_node=name) for name in names]), tuple(arrivals))
    assert len(port_turns.paths_to_count(many)) == MOST_PATHS
