"""A change of three nodes from 1500 to 9000: its plan, its journal lines, and the cluster at any moment."""

from __future__ import annotations

from collections.abc import Iterable

from checks.change.gates import gate_checks
from checks.change.plan.change_plan import ChangeKind, Gate, Layer, Plan, PlannedDatabase, PlannedNetwork, Step
from checks.change.plan.planning import look_of
from checks.change.progress.change_events import (
    AnyEvent,
    Attested,
    GateResult,
    JournalLine,
    ObservedState,
    Opened,
    Verified,
)
from checks.change.progress.state import Change, fold
from checks.change.session.verifying import conclude
from checks.model.facts import (
    Cluster,
    Interface,
    KeptMtu,
    NetworkService,
    Node,
    NodeSetup,
    PathProbe,
    PingSeries,
    Unknown,
    UnreadNode,
    Verdict,
)
from checks.model.finding import Finding, Status
from checks.model.networks import private_networks
from checks.model.report import Report, make_report
from checks.run.check_discovery import discover
from tests.fixtures.clusters import interface

NODES = ("rac1", "rac2", "rac3")
SUBNET = "192.168.10.0/24"
MADE_AT = "2026-11-20T18:00:00.000+01:00"
HOME = "/u01/app/19.0.0/grid"
DAEMONS = ("crsd.bin", "ocssd.bin", "ohasd.bin")
ONLINE = (
    "CRS-4638: Oracle High Availability Services is online",
    "CRS-4537: Cluster Ready Services is online",
    "CRS-4529: Cluster Synchronization Services is online",
    "CRS-4533: Event Manager is online",
)
STEPS = (
    Step(id="agree", title="agree", what="Agree.", why="", attest="The window is agreed."),
    Step(id="baseline", title="baseline", what="Record.", why="", gates=(Gate("baseline-recording"),)),
    Step(
        id="stack-down",
        title="stack down",
        what="Stop.",
        why="",
        gates=(
            Gate("stack-down", until="first-node"),
            Gate("autostart-off", until="first-node"),
            Gate("mtu-untouched"),
        ),
    ),
    Step(
        id="set-mtu",
        title="set MTU",
        what="Set.",
        why="",
        gates=(Gate("running-mtu", until="end"), Gate("kept-mtu", until="end")),
    ),
    Step(id="survives-boot", title="survives boot", what="Boot.", why="", gates=(Gate("rebooted"),)),
    Step(id="prove-paths", title="prove paths", what="Prove.", why="", gates=(Gate("df-ping"), Gate("one-byte-more"))),
    Step(
        id="first-node",
        title="first node",
        what="Start.",
        why="",
        gates=(Gate("stack-up", nodes=("rac1",)), Gate("stack-down", nodes=("rac2", "rac3")), Gate("autostart-off")),
    ),
    Step(
        id="other-nodes",
        title="other nodes",
        what="Start.",
        why="",
        gates=(Gate("stack-up", until="end"), Gate("autostart-on", until="end"), Gate("instances-up")),
    ),
    Step(id="sign-off", title="sign off", what="Sign.", why="", attest="The report was read."),
)


def layer(node: str, name: str = "eth1", **more: object) -> Layer:
    """Return the only private interface of a node."""
    facts: dict[str, object] = {
        "node": node,
        "interface": name,
        "role": "port",
        "level": 0,
        "networks": (SUBNET,),
        "mtu_before": 1500,
        "mtu_after": 9000,
        "kind": "ethernet",
        "network_service": str(NetworkService.NETWORK_MANAGER),
    }
    return Layer(**{**facts, **more})  # type: ignore[arg-type]


def plan(**more: object) -> Plan:
    """Return the plan; `more` replaces its fields."""
    facts: dict[str, object] = {
        "id": "2026-11-20-a",
        "cluster": "prodrac",
        "kind": ChangeKind.RAISE,
        "made_at": MADE_AT,
        "made_by": "oracle@rac1",
        "nodes": NODES,
        "networks": (
            PlannedNetwork(
                name=SUBNET,
                subnet=SUBNET,
                mtu_before=1500,
                mtu_after=9000,
                addresses={node: f"192.168.10.{n}" for n, node in enumerate(NODES, 1)},
            ),
        ),
        "layers": tuple(layer(node) for node in NODES),
        "grid_homes": dict.fromkeys(NODES, HOME),
        "databases": (PlannedDatabase(name="prod", instances={"rac1": "prod1", "rac2": "prod2"}),),
        "record_s": 600,
        "baseline_file": "/changes/before.rec",
        "after_file": "/changes/after.rec",
        "steps": STEPS,
    }
    return Plan(**{**facts, **more})  # type: ignore[arg-type]


def change(*events: AnyEvent, opened: Plan | None = None, look: ObservedState | None = None) -> Change:
    """Return the change after these events."""
    first = Opened(opened or plan(), look or look_of(cluster(), opened or plan()))
    return fold(lines(first, *events))


def lines(*events: AnyEvent) -> tuple[JournalLine, ...]:
    """Return lines of a journal, a minute apart."""
    return tuple(
        JournalLine(
            number=n, at=f"2026-11-20T18:{n:02}:00.000+01:00", who="oracle@rac1", racwire="1", after="", event=event
        )
        for n, event in enumerate(events, 1)
    )


def passed(step: str, now: Cluster | None = None) -> Verified:
    """Return a passed verification of a step."""
    result = GateResult(check="stack-down", status=Status.PASS, text="down", node="rac1")
    return Verified(step, True, (result,), look_of(now, plan()) if now else ObservedState())


AGREED = Attested("agree", "A. Lee")


def until(step: str, now: Cluster | None = None, opened: Plan | None = None) -> Change:
    """Return the change when that step is the next one; the cluster was last observed as `now`."""
    followed = opened or plan()
    events: list[AnyEvent] = [AGREED]
    for one in followed.steps[1:]:
        if one.id == step:
            break
        events.append(passed(one.id, now))
    return change(*events, opened=followed, look=look_of(now, followed) if now else None)


def boot_config(mtu: int | None, name: str = "eth1", **more: object) -> KeptMtu:
    """Return NetworkManager's configuration of an interface."""
    file = f"/etc/NetworkManager/system-connections/{name}.nmconnection"
    return KeptMtu(name, NetworkService.NETWORK_MANAGER, file, name, mtu, **more)  # type: ignore[arg-type]


def setup(node: str, *, runs: bool = True, mtu: int | None = None, boot: str = "first", **more: object) -> NodeSetup:
    """Return a node's setup: whether Clusterware runs, and the MTU in its file."""
    number = NODES.index(node) + 1
    facts: dict[str, object] = {
        "name": node,
        "boot_id": f"{node}-{boot}",
        "booted_at": "2026-11-20T18:30:00+00:00",
        "grid_home": HOME,
        "daemons": DAEMONS if runs else (),
        "instances": ((f"+ASM{number}", f"prod{number}") if number < 3 else (f"+ASM{number}",)) if runs else (),
        "services": ONLINE if runs else ("CRS-4639: Could not contact Oracle High Availability Services",),
        "autostart": runs,
        "network_services": (NetworkService.NETWORK_MANAGER,),
        "kept": (boot_config(mtu),),
    }
    return NodeSetup(**{**facts, **more})  # type: ignore[arg-type]


def nic(node: str, mtu: int) -> Node:
    """Return a node with one private interface."""
    eth1 = interface("eth1", f"192.168.10.{NODES.index(node) + 1}", mtu)
    return Node(name=node, read_by="ssh", interfaces=(eth1,))


def cluster(mtu: int = 1500, *, runs: bool = True, boot_mtu: int | None = None, **differing: object) -> Cluster:
    """Return a cluster of equal nodes: this MTU, running or not, this MTU in their files.

    `differing` has by node another MTU, setup, node or unread node.
    """
    nodes: dict[str, Node | UnreadNode] = {node: nic(node, mtu) for node in NODES}
    setups: dict[str, NodeSetup | UnreadNode] = {node: setup(node, runs=runs, mtu=boot_mtu) for node in NODES}
    for key, other in differing.items():
        name = key.partition("_")[0]
        if isinstance(other, int):
            nodes[name] = nic(name, other)
        if isinstance(other, Node | UnreadNode):
            nodes[name] = other
        if isinstance(other, NodeSetup | UnreadNode):
            setups[name] = other
    read = [node for node in nodes.values() if isinstance(node, Node)]
    networks = private_networks(Unknown("not asked"), (SUBNET,), read)
    assert isinstance(networks, tuple)
    return Cluster(
        local_node="rac1",
        taken_at="2026-11-20T19:00:00.000+01:00",
        nodes=tuple(nodes.values()),
        networks=networks,
        setups=tuple(setups.values()),
        paths=tuple(_paths(mtu)),
    )


def _paths(mtu: int) -> Iterable[PathProbe]:
    for n, one in enumerate(NODES, 1):
        for m, other in enumerate(NODES, 1):
            if n != m:
                yield PathProbe(
                    network=SUBNET,
                    from_node=one,
                    to_node=other,
                    source_ip=f"192.168.10.{n}",
                    destination_ip=f"192.168.10.{m}",
                    expected_mtu=mtu,
                    verdict=Verdict.PASSES,
                    path_mtu=mtu,
                    series=(
                        PingSeries(56, 20, 20),
                        PingSeries(mtu - 28, 20, 20),
                        PingSeries(mtu - 27, 1, 0, refused_locally=1, local_mtu=mtu),
                    ),
                )


def down(mtu: int = 1500, **more: object) -> Cluster:
    """Return a cluster in which nothing runs, nothing starts automatically, and the files have that MTU."""
    return cluster(mtu, runs=False, boot_mtu=mtu, **more)


def findings(of: Change, now: Cluster) -> tuple[Finding, ...]:
    """Return the findings of the current step's gates on a cluster."""
    return tuple(finding for check in gate_checks(of, None, discover).values() for finding in check.run(now))


def report(of: Change, now: Cluster) -> Report:
    """Return the report of a verification of the current step."""
    return make_report(
        version="1", started_at=now.taken_at, duration_s=1.0, cluster=now, findings=findings(of, now), journal=()
    )


def verification_events(of: Change, now: Cluster) -> tuple[AnyEvent, ...]:
    """Return the events of a verification of the current step."""
    assert of.current is not None
    return conclude(of, of.current, report(of, now))


def after(of: Change, *events: AnyEvent) -> Change:
    """Return the change after further events."""
    return fold(lines(*(line.event for line in of.lines), *events))


def bond(node: str) -> tuple[Interface, ...]:
    """Return a bond of two members, with the private address on a VLAN on the bond."""
    address = f"192.168.10.{NODES.index(node) + 1}"
    return (
        interface("eth4", "", 9000, master="bond1"),
        interface("eth5", "", 9000, master="bond1"),
        interface("bond1", "", 9000, kind="bond", members=("eth4", "eth5")),
        interface("bond1.200", address, 9000, kind="vlan", parent="bond1"),
    )
