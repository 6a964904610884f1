"""Values of private interfaces that changed during the run: what was read first says nothing about the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

import msgspec

from checks.model.facts import Cluster, CounterChanges, Unknown
from checks.model.finding import FAULTS, Finding, Status
from checks.model.networks import layers_below
from checks.model.observation import Fate

_OUTDATED = "value_changed_during_run"
"""The datum of a finding about a value that had changed at the end of the run."""


class ReadAgain(Enum):
    """A value that is read at the beginning of a run, and again with the second counters."""

    MTU = "MTU"
    LINK = "link"


_STATED_BY = {ReadAgain.MTU: "IC-RUN-001", ReadAgain.LINK: "IC-RUN-002"}
CHANGED_CODES = tuple(_STATED_BY.values())
"""The findings that a value changed."""
_ABOUT = {ReadAgain.MTU: ("IC-MTU-", "IC-EROUTE-", "IC-BOOT-"), ReadAgain.LINK: ("IC-IFACE-",)}
"""The findings that judge the value as it was read first."""


@dataclass(frozen=True)
class ChangedValue:
    """One value of one private interface, or of a layer below it."""

    node: str
    network: str
    nic: str
    what: ReadAgain
    before: str
    after: str
    least: int = 0
    """The smaller of two MTUs, in bytes."""


def changed_values(cluster: Cluster) -> Iterator[ChangedValue]:
    """Yield the values that differ between the first reading of a node and the second of its counters."""
    changes = cluster.counters
    for network in () if isinstance(cluster.networks, Unknown) else cluster.networks:
        for port in network.ports:
            node, top = cluster.node(port.node), cluster.interface(port)
            change = changes.of(port.node) if isinstance(changes, CounterChanges) else None
            if node is None or top is None or change is None or isinstance(change.machine.states, Unknown):
                continue
            now = {state.name: state for state in change.machine.states}
            for nic in (top, *(lower for _, lower, _ in layers_below(node, top))):
                state = now.get(nic.name)
                if state is None:
                    continue
                at = (port.node, network.name, nic.name)
                if state.mtu is not None and state.mtu != nic.mtu:
                    least = min(nic.mtu, state.mtu)
                    yield ChangedValue(*at, ReadAgain.MTU, f"MTU {nic.mtu}", f"MTU {state.mtu}", least)
                if state.operational_state and nic.administratively_up and state.is_up != nic.is_up:
                    yield ChangedValue(*at, ReadAgain.LINK, _link(up=nic.is_up), _link(up=state.is_up))


def _link(*, up: bool) -> str:
    return "a link" if up else "no link"


def is_outdated(finding: Finding) -> bool:
    """Return whether a finding is about a value that had changed at the end of the run: then it proves nothing."""
    return finding.data.get(_OUTDATED) is True


def is_of_change(finding: Finding, changes: Iterable[Finding]) -> bool:
    """Return whether a finding is about a value that one of these findings states to have changed."""
    codes = {change.code for change in changes}
    own = [what for what, code in _STATED_BY.items() if code in codes]
    return is_outdated(finding) and any(finding.code.startswith(_ABOUT[what]) for what in own)


def without_outdated(cluster: Cluster, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings; those about values that changed meanwhile are no PASS, prove nothing, and lead to no change
    of the cluster."""
    changed = tuple(changed_values(cluster))
    return tuple(_marked(finding, changed) for finding in findings)


def _marked(finding: Finding, changed: Iterable[ChangedValue]) -> Finding:
    own = [c for c in changed if finding.code.startswith(_ABOUT[c.what]) and _is_at(finding, c)]
    if not own or finding.status not in (Status.PASS, *FAULTS):
        return finding
    lines = (f"{c.node}: {c.nic} had {c.before} at first, and {c.after} at the end of this run" for c in own)
    return msgspec.structs.replace(
        finding,
        status=Status.INFO if finding.status is Status.PASS else finding.status,
        data={**finding.data, _OUTDATED: True},
        seen=(*lines, *finding.seen),
        next=tuple(step for step in finding.next if not step.is_change),
    )


def _is_at(finding: Finding, changed: ChangedValue) -> bool:
    """Return whether a finding read the value of this interface, or of its node on this network."""
    return any(
        one.fate is Fate.STATE
        and one.network in ("", changed.network)
        and (changed.node in one.nodes or not one.nodes)
        and one.nic in ("", changed.nic)
        for one in finding.observed
    )
