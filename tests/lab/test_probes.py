"""Every fault that a path can have, made for real in the practice cluster, must get its own name and no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import Leg, PathProbe, Verdict
from racwire_lab import Lab, LabError, down, up
from tests.lab.node_operator import Operator

pytestmark = pytest.mark.lab

# Run inside rac1, as racwire itself is: the gatherers that the engine uses, up to the probes.
PROBE = """
import asyncio, sys
import msgspec
from checks.model.facts import Cluster, Port
from checks.run.gathering import GATHERERS
from checks.model.journal import Journal
from checks.sources.nodes.session import Session
from checks.run.settings_file import load_settings

# A node that cannot be read has no known ports; its addresses are known here.
def with_all_ports(network):
    number = int(network.interface[-1])
    lacking = [n for n in ("rac1", "rac2") if network.port(n) is None]
    ports = tuple(Port(n, network.interface, f"192.168.{9 + number}.{n[-1]}") for n in lacking)
    return msgspec.structs.replace(network, ports=(*network.ports, *ports))

async def main():
    session = Session(load_settings(None), Journal())
    cluster = Cluster(local_node=session.local_node, taken_at="")
    for gatherer in (g for g in GATHERERS if g.group in ("clusterware", "nodes", "networks", "paths")):
        found = await gatherer.gather(session, cluster)
        cluster = msgspec.structs.replace(cluster, **{gatherer.group: found})
        cluster = msgspec.structs.replace(cluster, local_node=session.local_node)
        if gatherer.group == "networks":
            cluster = msgspec.structs.replace(cluster, networks=tuple(map(with_all_ports, cluster.networks)))
    await session.close()
    for entry in session.journal.entries:
        if entry.topic.startswith("path "):
            print(entry.topic, entry.action, entry.text, sep="\\n", file=sys.stderr)
    sys.stdout.buffer.write(msgspec.json.encode(cluster.paths))

asyncio.run(main())
"""

FIRST, SECOND = "192.168.10.0/24", "192.168.11.0/24"
Paths = dict[tuple[str, str, str], PathProbe]
Break = Callable[..., Paths]


def probe(rac1: Operator) -> Paths:
    """Probe all paths from rac1; by network, from and to."""
    result = rac1.run(PROBE)
    assert result.code == 0, result.err
    print(result.err)
    paths = msgspec.json.decode(result.out, type=tuple[PathProbe, ...])
    return {(p.network, p.from_node, p.to_node): p for p in paths}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch:
        place: Path = tmp_path_factory.mktemp("lab") / "cluster"
        patch.setenv("RACWIRE_LAB_DIR", str(place))
        try:
            cluster = up(nodes=2, database=False)
        except LabError as error:
            pytest.skip(f"no practice cluster here: {error}")
        yield cluster
        down()


@pytest.fixture(scope="module")
def rac1(lab: Lab) -> Iterator[Operator]:
    operator = Operator(lab, "rac1", {})
    yield operator
    operator.leave()


@pytest.fixture
def broken(lab: Lab, rac1: Operator) -> Iterator[Break]:
    """Break something and probe; fix it afterwards."""

    def break_and_probe(fault: str, **where: str | int) -> Paths:
        lab.break_(fault, **where)
        return probe(rac1)

    try:
        yield break_and_probe
    finally:
        lab.mend()


def test_a_healthy_cluster_passes_with_few_packets(rac1: Operator) -> None:
    paths = probe(rac1)
    assert len(paths) == 4
    assert {p.verdict for p in paths.values()} == {Verdict.PASSES}
    assert {p.hops for p in paths.values()} == {0}
    assert all(p.packets_sent <= 41 for p in paths.values())
    assert {(p.from_node, p.sent_by) for p in paths.values()} == {("rac1", "icmp socket"), ("rac2", "ping")}


def test_a_switch_without_jumbo_frames_is_reported_with_its_exact_size(broken: Break) -> None:
    paths = broken("switch-mtu")
    there, back = paths[SECOND, "rac1", "rac2"], paths[SECOND, "rac2", "rac1"]
    for path in (there, back):
        assert (path.verdict, path.path_mtu, path.lost_leg) == (Verdict.BLACK_HOLE, 1500, Leg.BOTH)
        assert path.packets_sent <= 120
    assert paths[FIRST, "rac1", "rac2"].verdict is Verdict.PASSES


def test_a_fault_in_one_direction_is_found_from_both_ends(broken: Break) -> None:
    paths = broken("switch-mtu-one-way", node="rac2")
    there, back = paths[SECOND, "rac1", "rac2"], paths[SECOND, "rac2", "rac1"]
    assert (there.verdict, there.path_mtu, there.lost_leg) == (Verdict.BLACK_HOLE, 1500, Leg.REQUEST)
    assert (back.verdict, back.path_mtu, back.lost_leg) == (Verdict.BLACK_HOLE, 1500, Leg.REPLY)


def test_a_node_with_a_small_mtu_refuses_its_own_packets_and_drops_received_ones(broken: Break) -> None:
    paths = broken("node-mtu", node="rac2")
    out, inward = paths[SECOND, "rac2", "rac1"], paths[SECOND, "rac1", "rac2"]
    assert (out.verdict, out.path_mtu) == (Verdict.LOCAL_MTU, 1500)
    assert (inward.verdict, inward.path_mtu, inward.lost_leg) == (Verdict.BLACK_HOLE, 1500, Leg.REQUEST)


def test_the_local_node_has_a_small_mtu(broken: Break) -> None:
    paths = broken("node-mtu", node="rac1")
    assert paths[SECOND, "rac1", "rac2"].verdict is Verdict.LOCAL_MTU
    assert paths[SECOND, "rac1", "rac2"].path_mtu == 1500


def test_loss_is_never_reported_as_a_black_hole(broken: Break) -> None:
    paths = broken("loss", network=2)
    verdicts = {p.verdict for (network, _, _), p in paths.items() if network == SECOND}
    assert Verdict.LOSS in verdicts
    assert verdicts <= {Verdict.LOSS, Verdict.PASSES}


def test_filtered_pings_are_not_a_black_hole(broken: Break) -> None:
    paths = broken("icmp-filtered")
    assert {p.verdict for p in paths.values()} == {Verdict.FILTERED}
    assert all(p.reason for p in paths.values())


def test_a_router_is_reported_with_its_mtu(broken: Break) -> None:
    paths = broken("routed")
    for pair in (("rac1", "rac2"), ("rac2", "rac1")):
        path = paths[SECOND, *pair]
        assert (path.verdict, path.path_mtu, path.hops) == (Verdict.TOO_BIG, 1500, 1)
        full = next(s for s in path.series if s.payload == 8972)
        assert (full.too_big_mtu, full.too_big_from) == (1500, "192.168.11.254")


def test_a_pulled_cable_is_unreachable(broken: Break) -> None:
    paths = broken("link-down")
    path = paths[SECOND, "rac1", "rac2"]
    assert path.verdict is Verdict.UNREACHABLE
    assert "eth2 on rac2 is down" in path.reason
    assert paths[FIRST, "rac2", "rac1"].verdict is Verdict.PASSES


def test_a_dead_peer_is_unreachable_and_its_own_results_are_unknown(broken: Break) -> None:
    paths = broken("peer-down", node="rac2")
    assert len(paths) == 4
    for (_, sender, _), path in paths.items():
        assert path.verdict is (Verdict.UNREACHABLE if sender == "rac1" else Verdict.UNKNOWN)
        assert path.reason


def test_two_networks_in_one_subnet_are_distinguished_or_unknown(broken: Break) -> None:
    paths = broken("duplicate-subnet")
    assert {p.verdict for p in paths.values()} <= {Verdict.PASSES, Verdict.UNKNOWN}


def test_without_ssh_the_direction_from_the_peer_is_unknown(broken: Break) -> None:
    paths = broken("no-ssh", node="rac2")
    assert all(p.verdict is Verdict.PASSES for (_, sender, _), p in paths.items() if sender == "rac1")
    assert all(p.verdict is Verdict.UNKNOWN and p.reason for (_, sender, _), p in paths.items() if sender == "rac2")
