"""A small change of two nodes, and its journals, for tests of the texts and screens of a change."""

from __future__ import annotations

from pathlib import Path

from checks.change.plan.change_plan import ChangeKind, Gate, Layer, Plan, PlannedNetwork, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.progress.change_events import AnyEvent, GateResult, ObservedState, Verified
from checks.change.record.change_journal import ChangeJournal
from checks.model.facts import BeforeAfter
from checks.model.finding import NextStep, Status

WHO = "oracle@rac1"
OBSERVED = ObservedState(
    boot_ids={"rac1": "b1", "rac2": "b2"}, mtus={"rac1": {"eth1": 1500}, "rac2": {"eth1": 1500}}, running={"rac1": True}
)


def layer(node: str) -> Layer:
    return Layer(
        node=node,
        interface="eth1",
        role="port",
        level=0,
        networks=("192.168.10.0/24",),
        mtu_before=1500,
        mtu_after=9000,
    )


def on(node: str) -> Commands:
    return Commands(
        Who.ROOT,
        lines=("ip link set dev eth1 mtu 9000", f"nmcli connection modify 'private of {node}' 802-3-ethernet.mtu 9000"),
        node=node,
    )


STEPS = (
    Step(id="agree", title="agree", what="Agree on a full outage.", why="All nodes stop.", attest="All have agreed."),
    Step(
        id="switch", title="switch", what="Raise the ports.", why="They drop jumbo frames.", attest="They are at 9216.",
        commands=(Commands(Who.OPERATOR, ("mtu 9216",), place="On each switch port"),),
    ),
    Step(
        id="set-mtu", title="set MTU", what="Set eth1 on both nodes.", why="MTU is not in the OCR.",
        commands=(on("rac1"), on("rac2"), Commands(Who.RACWIRE_USER, ("true",), name="oracle", place="any node")),
        expected="eth1 has 9000 on both.", gates=(Gate("running-mtu"), Gate("kept-mtu")),
        if_rolled_back="Both get 1500 back.",
    ),
    Step(id="sign-off", title="sign off", what="Sign.", why="It is over.", attest="All is well."),
)  # fmt: skip


def plan(id: str = "2026-11-20-a", cluster: str = "prodrac") -> Plan:  # noqa: A002
    return Plan(
        id=id, cluster=cluster, kind=ChangeKind.RAISE, made_at="2026-11-20T18:02:00+01:00", made_by=WHO,
        nodes=("rac1", "rac2"),
        networks=(
            PlannedNetwork(
                name="192.168.10.0/24", subnet="192.168.10.0/24", mtu_before=1500, mtu_after=9000,
                addresses={"rac1": "192.168.10.1", "rac2": "192.168.10.2"},
            ),
        ),
        layers=(layer("rac1"), layer("rac2")),
        grid_homes={"rac1": "/u01/grid", "rac2": "/u01/grid"},
        remarks=("A block of 8 KB goes in 1 packet instead of 6.",),
        steps=STEPS,
    )  # fmt: skip


def verification(
    *statuses: Status, rac2_mtu: int = 9000, figures: dict[str, str | BeforeAfter] | None = None
) -> Verified:
    """Return a verification of `set MTU`, with a result of that status for rac1, rac2, ..."""
    texts = {Status.PASS: "9000 kept", Status.FAIL: "1500", Status.UNKNOWN: "not read"}
    results = tuple(
        GateResult(
            check="kept-mtu", status=status, text=texts[status], node=f"rac{number}",
            sentence="" if status is Status.PASS else f"eth1 of rac{number} would come up at 1500.",
            next=() if status is Status.PASS else (NextStep("Set it in its connection, too."),),
        )
        for number, status in enumerate(statuses, 1)
    )  # fmt: skip
    look = ObservedState(mtus={"rac1": {"eth1": 9000}, "rac2": {"eth1": rac2_mtu}})
    return Verified("set-mtu", all(result.holds for result in results), results, look, figures or {})


def journal(directory: Path, *events: AnyEvent, of: Plan | None = None) -> ChangeJournal:
    """Return the journal of a change with these events."""
    opened = ChangeJournal.open_new(directory, of or plan(), OBSERVED, who=WHO, version="0.1.0")
    for event in events:
        opened.append(event, who=WHO, version="0.1.0")
    return opened
