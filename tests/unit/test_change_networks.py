"""Changes of the private networks: the request, the plan, the obstacles, the gates and the way back, on facts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from checks.change.gates import GateContext, looked_at
from checks.change.gates.built_in_checks import weighed
from checks.change.kinds.network_request import NetworkRequest
from checks.change.kinds.new_network import named_network
from checks.change.plan.change_plan import Accepted, ChangeKind, Plan
from checks.change.plan.obstacles import PlanError
from checks.change.plan.planning import PlanContext, look_of
from checks.change.plan.way_back import make_way_back
from checks.change.progress.change_events import Attested, ObservedState, Verified
from checks.change.progress.state import Change, ChangeError
from checks.change.progress.wanted import plan_now, registrations, stops_first
from checks.model.facts import (
    ActiveVersion,
    Address,
    AsmListener,
    Cluster,
    ConfiguredInterface,
    Interface,
    InterfaceConfiguration,
    Managed,
    NetworkService,
    Node,
    ToolMessage,
    Unknown,
)
from checks.model.facts.grid import Clusterware
from checks.model.finding import Status
from checks.model.networks import private_networks
from checks.model.own_command import written
from checks.model.settings import Settings
from checks.plugins.rp_filter import STRICT
from tests.fixtures.change_plans import to_change
from tests.fixtures.clusters import interface, node, paths, with_interface
from tests.fixtures.reports import report_of
from tests.unit.change_gate_support import found, gate_results
from tests.unit.change_support import change

NEW = "192.168.12.0/24"
ADDED = "eth3  192.168.12.0  global  asm,cluster_interconnect"


def with_spare(number: int, **more: object) -> Node:
    """racN with the unused interface eth3."""
    plain = node(number, 1500)
    spare = interface("eth3", f"192.168.12.{number}", 1500, **more)
    return msgspec.structs.replace(plain, interfaces=(*plain.interfaces, spare))


def spare_cluster(*nodes: Node, network_service: NetworkService = NetworkService.NETWORK_MANAGER) -> Cluster:
    """Return a cluster with Flex ASM whose nodes have an unused eth3."""
    built = to_change(nodes or (with_spare(1), with_spare(2)), (network_service,))
    listeners = (AsmListener("ASMNET1LSNR_ASM", "192.168.10.0"), AsmListener("ASMNET2LSNR_ASM", "192.168.11.0"))
    assert isinstance(built.managed, Managed)
    managed = msgspec.structs.replace(built.managed, asm_listeners=listeners)
    return configured(msgspec.structs.replace(built, managed=managed), asm=True)


def configured(
    built: Cluster, *more: ConfiguredInterface, asm: bool = False, messages: tuple[str, ...] = ()
) -> Cluster:
    """Return the cluster with further lines of oifcfg."""
    facts = built.clusterware
    assert isinstance(facts, Clusterware)
    assert isinstance(facts.configuration, InterfaceConfiguration)
    lines = [
        msgspec.structs.replace(line, roles=("asm", "cluster_interconnect")) if asm and line.is_private else line
        for line in facts.configuration.interfaces
    ]
    said = tuple(ToolMessage(code, "they differ") for code in messages)
    stored = msgspec.structs.replace(facts.configuration, interfaces=(*lines, *more), messages=said)
    return msgspec.structs.replace(built, clusterware=msgspec.structs.replace(facts, configuration=stored))


def as_tested(built: Cluster) -> Cluster:
    """Return the cluster as the run sees it that tests the new network."""
    networks = private_networks(Unknown("-"), ("192.168.10.0/24", "192.168.11.0/24", NEW), built.read_nodes())
    assert isinstance(networks, tuple)
    return msgspec.structs.replace(built, networks=networks, paths=paths(networks))


def plan_of(built: Cluster, interface_: str = "eth3", source: str = "", **more: object) -> Plan:
    request = NetworkRequest(named_network(interface_), named_network(source) if source else None)
    also = report_of(as_tested(built)) if request.subnets_to_test(built) else None
    return request.plan(
        PlanContext(
            report_of(built),
            Settings(),
            id="2026-11-20-a",
            made_by="oracle@rac1",
            made_at="2026-11-20T14:02:31.000+01:00",
            directory=Path("/shared/changes"),
            tested=also,
            **more,  # type: ignore[arg-type]
        )
    )


def lines_of(plan: Plan, step: str) -> list[str]:
    return [line for block in plan.step(step).commands for line in block.lines]


def obstacles(built: Cluster, interface_: str = "eth3", source: str = "") -> dict[str, str]:
    with pytest.raises(PlanError) as refused:
        plan_of(built, interface_, source)
    return {o.code: o.sentence for o in refused.value.obstacles}


ADD_STEPS = (
    *("agree", "backups", "console-access", "network-ready", "register", "stack-down", "first-node", "other-nodes"),
    *("databases", "interconnect", "sign-off"),
)


def test_a_network_is_registered_before_the_stop_and_used_after_the_restart():
    plan = plan_of(spare_cluster())
    assert tuple(step.id for step in plan.steps) == ADD_STEPS
    assert (plan.kind, plan.goal) == (ChangeKind.ADD_NETWORK, f"add network eth3 {NEW}")
    home = "/u01/app/19.0.0/grid/bin"
    assert lines_of(plan, "register")[:3] == [
        f"{home}/oifcfg setif -global eth3/192.168.12.0:cluster_interconnect,asm",
        f"{home}/oifcfg getif",
        f"{home}/srvctl add listener -listener ASMNET3LSNR_ASM -asmlistener -subnet 192.168.12.0",
    ]
    registered = plan.step("register").registered
    assert registered is not None
    assert ADDED in registered.interconnects
    assert "ASMNET3LSNR_ASM 192.168.12.0" in (registered.asm_listeners or ())
    assert {layer.interface for layer in plan.layers} == {"eth1", "eth2", "eth3"}
    assert all(layer.mtu_before == layer.mtu_after for layer in plan.layers)
    assert all(step.minutes and step.no_return for step in plan.steps[1:])


def test_the_old_network_is_taken_down_while_nothing_runs_and_deleted_after_the_restart():
    plan = plan_of(spare_cluster(), source="eth1")
    order = [step.id for step in plan.steps]
    assert order.index("stack-down") < order.index("old-network-down") < order.index("first-node")
    assert order.index("interconnect") < order.index("deregister")
    assert (
        lines_of(plan, "old-network-down")
        == [
            "nmcli connection modify eth1 connection.autoconnect no",
            "nmcli connection down eth1",
        ]
        * 2
    )
    assert "oifcfg delif -global eth1/192.168.10.0" in " ".join(lines_of(plan, "deregister"))
    assert "srvctl update listener -listener ASMNET1LSNR_ASM -asm -remove -force" in " ".join(
        lines_of(plan, "deregister")
    )
    after = plan.step("deregister").registered
    assert after is not None
    assert not any(line.startswith("eth1 ") for line in after.interconnects)


@pytest.mark.parametrize(
    ("network_service", "line"),
    [
        (NetworkService.IFCFG, "ifdown eth1"),
        (NetworkService.NETWORKD, "ip link set dev eth1 down"),
        (NetworkService.NETPLAN, "ip link set dev eth1 down"),
    ],
)
def test_each_network_service_has_its_commands(network_service, line):
    plan = plan_of(spare_cluster(network_service=network_service), source="eth1")
    block = plan.step("old-network-down").commands[0]
    assert block.lines[-1] == line
    assert ("by hand" in block.note) == (network_service is NetworkService.NETPLAN)


def test_a_move_to_another_subnet_on_the_same_nic_removes_the_address_only():
    def both(number: int) -> Node:
        return with_interface(
            node(number, 1500),
            "eth1",
            addresses=(Address(f"192.168.10.{number}", 24), Address(f"192.168.12.{number}", 24)),
        )

    built = spare_cluster(both(1), both(2))
    with pytest.raises(ChangeError, match="several subnets"):
        plan_of(built, "eth1", "eth1")
    plan = plan_of(built, "eth1/192.168.12.0", "eth1")
    assert lines_of(plan, "old-network-down") == [
        "ip address delete 192.168.10.1/24 dev eth1",
        "ip address delete 192.168.10.2/24 dev eth1",
    ]


@pytest.mark.parametrize("text", ["", "eth3/", "eth3/no", "/192.168.12.0"])
def test_a_text_that_names_no_network_is_refused(text):
    with pytest.raises(ChangeError, match="names no network"):
        named_network(text)


@pytest.mark.parametrize(("source", "why"), [("eth7", "no private network"), ("eth0", "no private network")])
def test_only_a_private_network_can_be_left(source, why):
    with pytest.raises(ChangeError, match=why):
        plan_of(spare_cluster(), source=source)


def test_a_node_without_the_interface_or_the_address_is_an_obstacle():
    assert "rac2 has no interface eth3." in obstacles(spare_cluster(with_spare(1), node(2, 1500))).values()
    bare = with_interface(with_spare(2), "eth3", addresses=())
    assert "rac2 has no address in 192.168.12.0/24 on eth3." in obstacles(spare_cluster(with_spare(1), bare)).values()
    other = msgspec.structs.replace(
        node(2, 1500), interfaces=(*node(2, 1500).interfaces, interface("ens3", "192.168.12.2", 1500))
    )
    assert "on ens3, not on eth3" in obstacles(spare_cluster(with_spare(1), other))["CH-START-042"]


def test_netmasks_and_mtus_must_agree():
    wide = with_interface(with_spare(2), "eth3", addresses=(Address("192.168.12.2", 22),))
    assert "CH-START-043" in obstacles(spare_cluster(with_spare(1), wide))
    large = with_interface(with_spare(2), "eth3", mtu=9000)
    assert "CH-START-044" in obstacles(spare_cluster(with_spare(1), large))
    jumbo = [with_interface(with_spare(n), "eth3", mtu=9000) for n in (1, 2)]
    assert "MTU 9000; the private networks have 1500" in obstacles(spare_cluster(*jumbo))["CH-START-045"]


def test_a_known_or_overlapping_subnet_is_an_obstacle():
    built = spare_cluster()
    line = ConfiguredInterface("eth3", "192.168.12.0", "global", ("public",))
    assert "CH-START-046" in obstacles(configured(built, line))
    assert "racwire does not plan a move within one subnet" in " ".join(obstacles(built, "eth1", "eth1").values())
    link = [with_interface(with_spare(n), "eth3", addresses=(Address(f"169.254.7.{n}", 24),)) for n in (1, 2)]
    assert "CH-START-042" in obstacles(spare_cluster(*link))
    inside = [with_interface(with_spare(n), "eth3", addresses=(Address(f"10.20.0.{n + 128}", 25),)) for n in (1, 2)]
    assert "overlaps 10.20.0.0/24" in obstacles(spare_cluster(*inside))["CH-START-047"]


def test_an_interface_that_carries_more_is_not_taken_down():
    def carrying(number: int) -> Node:
        own = (Address(f"192.168.10.{number}", 24), Address(f"10.9.0.{number}", 24))
        return with_interface(with_spare(number), "eth1", addresses=own)

    refused = obstacles(spare_cluster(carrying(1), carrying(2)), source="eth1")["CH-START-055"]
    assert "eth1 of rac1 also carries 10.9.0.0/24" in refused


def test_an_old_release_and_differing_registries_are_refused():
    built = spare_cluster()
    facts = built.clusterware
    assert isinstance(facts, Clusterware)
    old = msgspec.structs.replace(facts, version=ActiveVersion("11.1.0.7.0"))
    assert "CH-START-040" in obstacles(msgspec.structs.replace(built, clusterware=old))
    assert "CH-START-051" in obstacles(configured(built, messages=("PRIF-30",)))


def test_a_network_that_loses_packets_is_not_planned():
    built = spare_cluster()
    request = NetworkRequest(named_network("eth3"))
    with pytest.raises(PlanError) as refused:
        request.plan(
            PlanContext(report_of(built), Settings(), "a", "oracle@rac1", "2026-11-20T14:02:31+01:00", Path("/"))
        )
    assert "CH-START-053" in {o.code for o in refused.value.obstacles}


# --- gates ------------------------------------------------------------------------------------------------------------


def at(step: str, plan: Plan, look: ObservedState | None = None) -> Change:
    """Return the change at a step; all earlier steps are done."""
    seen = look or ObservedState(running={"rac1": True, "rac2": True})
    events: list[Attested | Verified] = []
    for one in plan.steps:
        if one.id == step:
            break
        events += [Verified(one.id, True, (), seen)] if one.gates else []
        events += [Attested(one.id, "A. Lee", "noted")] if one.attest else []
    return change(*events, opened=plan, look=look_of(spare_cluster(), plan))


def test_oifcfg_must_have_the_lines_of_the_step():
    built = spare_cluster()
    plan = plan_of(built, source="eth1")
    new = ConfiguredInterface("eth3", "192.168.12.0", "global", ("asm", "cluster_interconnect"))
    both = configured(built, new, asm=True)
    assert gate_results("oifcfg-planned", built, at("register", plan))[""].startswith("FAIL")
    assert gate_results("oifcfg-planned", both, at("register", plan))[""].startswith("PASS")
    assert gate_results("oifcfg-planned", both, at("interconnect", plan))[""].startswith("PASS")
    assert gate_results("oifcfg-planned", both, at("deregister", plan))[""].startswith("FAIL")
    (wrong,) = found("oifcfg-planned", both, at("deregister", plan))
    assert wrong.next[0].commands == ("oifcfg delif -global eth1/192.168.10.0",)
    apart = configured(both, messages=("PRIF-30",))
    assert gate_results("oifcfg-planned", apart, at("register", plan)) == {"": "FAIL OCR and GPnP differ"}
    silent = msgspec.structs.replace(both, clusterware=Unknown("Clusterware is down."))
    assert gate_results("oifcfg-planned", silent, at("register", plan)) == {"": "UNKNOWN not known"}


def test_the_listeners_of_asm_are_compared():
    built = spare_cluster()
    plan = plan_of(built)
    assert gate_results("asm-listeners", built, at("register", plan)) == {"": "FAIL 1 listener wrong"}
    assert isinstance(built.managed, Managed)
    assert isinstance(built.managed.asm_listeners, tuple)
    more = (*built.managed.asm_listeners, AsmListener("ASMNET3LSNR_ASM", "192.168.12.0"))
    now = msgspec.structs.replace(built, managed=msgspec.structs.replace(built.managed, asm_listeners=more))
    assert gate_results("asm-listeners", now, at("register", plan)) == {"": "PASS 3 listeners as planned"}


def test_each_node_must_be_on_each_network_that_is_up_now():
    plan = plan_of(spare_cluster(), source="eth1")
    gone = with_interface(with_spare(2), "eth3", addresses=())
    results = gate_results("network-in-place", spare_cluster(with_spare(1), gone), at("network-ready", plan))
    assert results == {"rac1": "PASS 3 networks up", "rac2": "FAIL 1 network missing"}
    down = [with_interface(with_spare(n), "eth1", administratively_up=False, addresses=()) for n in (1, 2)]
    later = at("old-network-down", plan)
    assert gate_results("network-in-place", spare_cluster(*down), later) == dict.fromkeys(
        ("rac1", "rac2"), "PASS 2 networks up"
    )
    assert gate_results("network-gone", spare_cluster(*down), later) == dict.fromkeys(("rac1", "rac2"), "PASS down")
    assert gate_results("network-gone", spare_cluster(), later) == dict.fromkeys(("rac1", "rac2"), "FAIL eth1 up")
    assert {layer.interface for layer in plan_now(later).layers} == {"eth2", "eth3"}


def haip(of: Node, *names: str) -> Node:
    def placed(one: Interface) -> Interface:
        extra = (Address(f"169.254.{one.name[-1]}.{of.name[-1]}", 18),) if one.name in names else ()
        return msgspec.structs.replace(one, addresses=(*one.addresses, *extra))

    return msgspec.structs.replace(of, interfaces=tuple(map(placed, of.interfaces)))


def test_haip_must_be_on_each_planned_network():
    plan = plan_of(spare_cluster(*(haip(with_spare(n), "eth1", "eth2") for n in (1, 2))))
    assert "haip-planned" in [gate.check for gate in plan.step("other-nodes").gates]
    mixed = spare_cluster(haip(with_spare(1), "eth1", "eth2", "eth3"), haip(with_spare(2), "eth1", "eth2"))
    results = gate_results("haip-planned", mixed, at("other-nodes", plan))
    assert results == {"rac1": "PASS HAIP on eth1, eth2 and eth3", "rac2": "FAIL eth3 without HAIP"}


def test_an_accepted_strict_rp_filter_does_not_prevent_the_next_step():
    strict = STRICT.finding("rp_filter is strict.", status=Status.WARN, subject="strict")
    strict = msgspec.structs.replace(strict, check="rp-filter")
    plan = plan_of(spare_cluster())
    for accepted, status in (((), Status.WARN), ((Accepted(STRICT.code, "", "loose on Monday"),), Status.INFO)):
        at_end = at("interconnect", msgspec.structs.replace(plan, accepted=accepted))
        assert weighed(GateContext(at_end, plan.step("interconnect")), strict) is status


def test_an_mtu_that_changes_before_the_stop_is_set_back_and_stops_nothing():
    plan = plan_of(spare_cluster())
    assert not stops_first(at("register", plan), "rac1")
    assert stops_first(at("stack-down", plan), "rac1")
    assert "mtu-untouched" in [gate.check for gate in looked_at(at("stack-down", plan), plan.step("stack-down"))]


# --- the way back -----------------------------------------------------------------------------------------------------


def back(at_step: str, plan: Plan, **running: bool) -> Plan:
    look = ObservedState(running={"rac1": True, "rac2": True, **running})
    return make_way_back(at(at_step, plan, look), made_by="oracle@rac1", made_at="2026-11-20T15:00:00.000+01:00")


def test_the_way_back_undoes_only_what_may_have_been_done():
    plan = plan_of(spare_cluster(), source="eth1")
    assert [step.id for step in back("network-ready", plan).steps] == ["untouched", "sign-off"]
    assert [step.id for step in back("register", plan).steps] == ["deregister", "sign-off"]
    stopped = back("old-network-down", plan, rac1=False, rac2=False)
    assert [step.id for step in stopped.steps][:3] == ["stack-down", "networks-back", "first-node"]
    late = back("sign-off", plan)
    assert [step.id for step in late.steps][:3] == ["register", "stack-down", "networks-back"]
    assert lines_of(late, "networks-back")[:3] == [
        "nmcli connection down eth3",
        "nmcli connection modify eth1 connection.autoconnect yes",
        "nmcli connection up eth1",
    ]
    assert late.step("deregister").registered is not None
    assert late.step("deregister").registered.interconnects == plan.interconnects  # type: ignore[union-attr]


def test_the_rollback_looks_at_the_old_networks_only():
    plan = plan_of(spare_cluster())
    rolled = back("interconnect", plan)
    assert [network.name for network in rolled.networks if not network.until] == ["192.168.10.0/24", "192.168.11.0/24"]
    assert "back from add network eth3" in rolled.goal
    assert any("lines of oifcfg from before" in remark for remark in map(written, rolled.remarks))


def test_what_the_plan_wants_in_the_registry_never_goes_back_to_an_earlier_step():
    plan = plan_of(spare_cluster(), source="eth1")
    assert registrations(at("backups", plan)).interconnects == plan.interconnects
    assert ADDED in registrations(at("first-node", plan)).interconnects
