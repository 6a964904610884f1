"""Clusters, plans and gates for hostile values: each field of the facts has a value in one of the clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from checks.change.gates import GATES
from checks.change.gates.gate import GateContext
from checks.change.kinds.larger_buffers import ReceiveBuffersRequest
from checks.change.kinds.loose_filter import RpFilterRequest
from checks.change.plan.change_plan import Plan
from checks.change.plan.obstacles import Obstacle, PlanError
from checks.change.plan.planning import look_of
from checks.change.progress.change_events import Opened
from checks.change.progress.state import Change, ChangeError, fold
from checks.model.facts import (
    Activity,
    Changing,
    ClientTraffic,
    Cluster,
    Clusterware,
    KeptMtu,
    ListedInterface,
    Managed,
    MtuByDhcp,
    NetworkService,
    NoRecording,
    ServiceActivity,
    SysctlFiles,
)
from checks.model.finding import Finding
from tests.cases.loading import fact_cases
from tests.fixtures.change_plans import FILES, plan_for, stacked, to_change, with_setup
from tests.fixtures.databases import asked, losing
from tests.fixtures.reports import black_hole
from tests.fixtures.setting_plans import FILTERS, LARGER, planned, set_to
from tests.support.hostile_values import CANARY
from tests.support.text_fields import TextField, filled, holds, with_text
from tests.unit.change_support import lines
from tests.unit.fact_extras import extras
from tests.unit.test_change_experiment import READ, made
from tests.unit.test_change_networks import plan_of, spare_cluster


@cache
def clusters() -> tuple[Cluster, ...]:
    """Return those of the case book, those of no case, and one with what only a change or few clusters have."""
    return (whole(), *extras(), *(case.make.cluster() for case in fact_cases()[::-1]))


@cache
def whole() -> Cluster:
    """Return three nodes with a black hole, lost blocks, and a value for each field that other clusters lack."""
    built = asked(black_hole(3), activity=losing(2, 37, {1: 37}, 3))
    facts, activity = built.clusterware, built.activity
    assert isinstance(facts, Clusterware)
    assert isinstance(activity, Activity)
    dhcp = KeptMtu("eth1", NetworkService.NETWORKD, "/etc/systemd/network/eth1.network", "eth1", MtuByDhcp())
    return with_setup(
        replace(
            built,
            clusterware=replace(facts, listed=(ListedInterface("eth1", "192.168.10.0", "PRIVATE"),)),
            activity=replace(activity, services=(filled(ServiceActivity),), clients=(filled(ClientTraffic),)),
            managed=filled(Managed),
            changing=changing(),
        ),
        "rac1",
        kept=(dhcp,),
    )


@cache
def changing(**more: Any) -> Changing:
    """Return facts for every gate, of rac1."""
    return replace(filled(Changing, "rac1"), unlike=NoRecording("/changes/unlike.rec"), **more)


def bases(of: TextField, most: int) -> list[Cluster]:
    """Return at most so many clusters in which the field can hold a text: the whole one, and of the case book."""
    found: list[Cluster] = []
    for built in clusters() if most > 1 or not has(whole(), of.kind) else clusters()[:1]:
        if has(built, of.kind) and holds(with_text(built, of, lambda _: CANARY), of, CANARY):
            found.append(built)
        if len(found) == most:
            break
    return found


Planned = tuple[Cluster, Callable[[Cluster], Plan]]


@cache
def plans() -> tuple[Planned, ...]:
    """Return for each kind of plan a cluster, and what makes the plan for it."""
    mtu = [(to_change([stacked(1), stacked(2)], (service,)), plan_for) for service in FILES]
    networks: list[Planned] = [
        (spare_cluster(network_service=service), make)
        for service in (NetworkService.NETWORK_MANAGER, NetworkService.IFCFG, NetworkService.NETWORKD)
        for make in (plan_of, lambda built: plan_of(built, "eth3", "eth1"))
    ]
    return (
        *mtu,
        *networks,
        (set_to(), lambda built: planned(ReceiveBuffersRequest(LARGER), built)),
        (set_to(FILTERS, SysctlFiles(at_boot=())), lambda built: planned(RpFilterRequest(), built)),
        (replace(to_change(), changing=READ), lambda built: made(built, seen=built.changing)),  # type: ignore[arg-type]
    )


def planned_or_refused(base: Planned, change: Callable[[Cluster], Cluster]) -> Plan | tuple[Obstacle, ...]:
    """Return the plan for the changed cluster, or what stands in its way: nothing where there is nothing to ask for."""
    cluster, make = base
    try:
        return make(change(cluster))
    except PlanError as refused:
        return tuple(refused.obstacles)
    except ChangeError:
        return ()


@cache
def _changes() -> tuple[Change, ...]:
    """Return a change of each kind at its first step."""
    made_for = [(cluster, make(cluster)) for cluster, make in plans()]
    by_kind = {plan.kind: (cluster, plan) for cluster, plan in made_for}
    return tuple(fold(lines(Opened(plan, look_of(cluster, plan)))) for cluster, plan in by_kind.values())


def gates(now: Cluster) -> Iterator[Finding]:
    """Yield what the gates of each kind of change find on the cluster."""
    for change in _changes():
        assert change.current
        wanted = {gate.check for step in change.plan.steps for gate in step.gates}
        for gate in GATES:
            if gate.id in wanted:
                yield from gate.made_for(GateContext(change, change.current)).run(now)


def has(value: object, kind: type) -> bool:
    """Whether a struct of that class is anywhere in the value."""
    if type(value) is kind:
        return True
    if isinstance(value, msgspec.Struct):
        return any(has(getattr(value, field), kind) for field in value.__struct_fields__)
    return isinstance(value, dict | tuple) and any(
        has(each, kind) for each in (value.values() if isinstance(value, dict) else value)
    )
