"""A bond of a private network on a node, and the findings about one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.check import Kind
from checks.model.facts import Bond, BondMember, Node
from checks.model.finding import Finding, NextStep, Status
from checks.model.observation import Observation
from checks.model.shell_command import shell
from checks.model.wording import counted
from checks.plugins.shared.host_facts import HOST_TOPIC
from checks.rules.bond_states import unanswered
from checks.rules.observed.states import state

CAUSE_11 = "MOS 563566.1, cause 11"
DRIVER = "Linux kernel documentation, bonding"


@dataclass(frozen=True)
class BondPlace:
    """A bond that carries a private network on a node."""

    on: Node
    network: str
    bond: Bond

    @property
    def node(self) -> str:
        """The name of the node."""
        return self.on.name

    @property
    def name(self) -> str:
        """`bond0 of rac1`."""
        return f"{self.bond.name} of {self.node}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The bond and its members, a line each."""
        return (f"{self.node}: {self.bond.name} {self.bond.mode}", *(_line(self.node, m) for m in self.bond.members))

    @property
    def unanswered(self) -> list[BondMember]:
        """The members that ARP monitoring alone took out of use."""
        return unanswered(self.bond, {i.name for i in self.on.interfaces if i.is_up})


def finding_of(
    kind: Kind,
    place: BondPlace,
    title: str,
    subject: str,
    steps: Sequence[NextStep],
    *,
    expected: str = "",
    amount: int = 1,
    status: Status | None = None,
    observed: Iterable[Observation] = (),
) -> Finding:
    """Return a finding about one bond; `amount` is the number of its members that are concerned, and `observed` what
    was read of them."""
    return kind.finding(
        title,
        status=status,
        subject=f"{place.node} {place.bond.name}: {subject}",
        data={"bond": place.bond.name, "members": len(place.bond.members)},
        seen=place.lines,
        expected=(expected,) if expected else (),
        next=steps,
        evidence=evidence_of([place]),
        network=place.network,
        nodes=[place.node],
        extent=(amount, "members"),
        observed=[*observed_at(kind, [place]), *observed],
    )


def observed_at(kind: Kind, places: Sequence[BondPlace]) -> list[Observation]:
    """Return the bonds as observed states."""
    return [state(kind.code, place.node, place.network, place.bond.name, place.bond.mode) for place in places]


def evidence_of(places: Sequence[BondPlace]) -> list[tuple[str, str]]:
    """Return where the bonds were read."""
    return [(node, HOST_TOPIC) for node in dict.fromkeys(place.node for place in places)]


def driver_file(place: BondPlace) -> str:
    """Return the command that prints what the driver reports."""
    return shell("cat /proc/net/bonding/{bond}", bond=place.bond.name)


def speed_text(member: BondMember) -> str:
    """Return the speed of a member for a sentence."""
    return f"{member.speed_mbps:,} Mbit/s" if member.speed_mbps else "no speed"


def _line(node: str, member: BondMember) -> str:
    churn = {"node's": member.actor_churn, "switch's": member.partner_churn}
    parts = [
        f"link {member.mii_status or 'not known'}",
        *([speed_text(member)] if member.speed_mbps else []),
        *([f"aggregator {member.aggregator_id}"] if member.aggregator_id is not None else []),
        *(["no aggregator"] if member.is_in_no_aggregator else []),
        *(f"LACP of the {end} end churned" for end, churned in churn.items() if churned == "churned"),
        *([counted(member.link_failures, "failure") + " since it joined"] if member.link_failures else []),
    ]
    return f"{node}: {member.name} {', '.join(parts)}"
