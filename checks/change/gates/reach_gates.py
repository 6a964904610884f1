"""Gates: can every node still be reached when its private network is down; is this the only journal that goes on?"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from checks.change.gates.gate import LOOK_AGAIN, GateContext, gate, not_known, of_node, setups
from checks.model.check import Kind
from checks.model.facts import Cluster, JournalCopy, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

_CUT_OFF = (
    "Whoever works over the interface that is being changed is cut off in the middle of it, with Clusterware down."
)

APART = Kind("CH-REACH-001", "Nobody is logged in to a node over a private network")
OVER_PRIVATE = Kind("CH-REACH-002", "Logins to a node come in over a private network", _CUT_OFF)
NAME_IS_PRIVATE = Kind("CH-REACH-003", "A node's name resolves to a private address", _CUT_OFF)
LOGINS_NOT_KNOWN = Kind("CH-REACH-004", "How people are logged in to a node is not known", _CUT_OFF)
ONLY_COPY = Kind("CH-COPY-001", "No other node has a longer copy of this change's journal")
LONGER_COPY = Kind(
    "CH-COPY-002",
    "Another node has a copy of this change's journal that went on",
    "Two copies that go on apart cannot be put together again, and neither knows what the other did.",
)
ANOTHER_CHANGE = Kind("CH-COPY-003", "Another change of this cluster is open on another node")


@gate(
    "ssh-apart",
    question="Do logins stay off the private networks?",
    needs=("setups", "changing"),
    kinds=(APART, OVER_PRIVATE, NAME_IS_PRIVATE, LOGINS_NOT_KNOWN),
)
def ssh_apart(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Looks at which of its own addresses each node's ssh logins are on now, racwire's own among them, and what the
    nodes' names resolve to here. None of them may be a private address.
    """
    changing = cluster.changing
    addresses = {} if isinstance(changing, Unknown) else changing.addresses
    for node, setup in setups(scene, cluster):
        named = _private(scene, addresses.get(node, ()))
        if named:
            yield of_node(
                NAME_IS_PRIVATE,
                Status.FAIL,
                node,
                f"is {named[0]}",
                f"{node} resolves to {listed(named)} here, on a private network.",
                then=[Remedy("See where the name comes from.", (f"getent hosts {node}",), f"any user on {node}")],
            )
        elif isinstance(setup, Unknown):
            yield not_known(LOGINS_NOT_KNOWN, node, f"How people are logged in to {node} is not known", setup.reason)
        elif private := _private(scene, setup.clients_by):
            yield of_node(
                OVER_PRIVATE,
                Status.FAIL,
                node,
                f"ssh on {private[0]}",
                f"Logins to {node} are on {listed(private)}, a private network.",
                then=[Remedy(f"Log in to {node} by its public address, or by its console.")],
            )
        else:
            on = listed(setup.clients_by)
            yield of_node(
                APART,
                Status.PASS,
                node,
                "apart",
                f"Logins to {node} are on {on}, apart from the private networks."
                if on
                else f"No login to {node} is on a private network.",
            )


def _private(scene: GateContext, addresses: Iterable[str]) -> tuple[str, ...]:
    return tuple(address for address in addresses if any(_lies_in(address, n.subnet) for n in scene.plan.networks))


def _lies_in(address: str, subnet: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]) in ipaddress.ip_network(subnet, strict=False)
    except ValueError:
        return False


@gate(
    "only-journal",
    question="Is this the only journal that goes on?",
    needs=("changing",),
    kinds=(ONLY_COPY, LONGER_COPY, ANOTHER_CHANGE),
)
def only_journal(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Looks in the same directory of every peer for journals of this cluster's changes. One of them that is open is
    the same change, and no longer than this one; anything else means that two people go on apart. Looked at with
    every step; a peer that cannot be asked does not hold it up.
    """
    copies = {} if isinstance(cluster.changing, Unknown) else cluster.changing.copies
    own = len(scene.change.lines)
    concluded = False
    for node, found in copies.items():
        for copy in found:
            finding = _judged(scene, node, copy, own)
            if finding is not None:
                concluded = True
                yield finding
    if not concluded:
        yield ONLY_COPY.finding(
            Status.PASS, "No other node has a journal of this cluster that went further.", subject="only journal"
        )


def _judged(scene: GateContext, node: str, copy: JournalCopy, own: int) -> Finding | None:
    """What is wrong with a journal on a peer; nothing where nothing is."""
    if is_copy_of(scene, copy):
        if isinstance(copy.lines, int) and copy.lines > own:
            return of_node(
                LONGER_COPY,
                Status.FAIL,
                node,
                f"{copy.lines} lines there",
                f"{node} has a copy of this journal that went on: {copy.lines} lines there, {own} here.",
                then=[
                    Remedy(
                        "Go on there; or copy it here first, in place of this one.",
                        (f"scp {node}:{copy.path} {copy.path}", LOOK_AGAIN),
                    )
                ],
            )
        return None
    if copy.outcome:
        return None
    return of_node(
        ANOTHER_CHANGE,
        Status.FAIL,
        node,
        "another change",
        f"Another change of {scene.plan.cluster} is open on {node}: {copy.path}.",
        then=[Remedy("Ask who began it: finish one of the two, or give it up.", ("racwire change list",), node)],
    )


def is_copy_of(scene: GateContext, copy: JournalCopy) -> bool:
    """Whether a journal elsewhere is of this very change: its first line was written in the same moment."""
    first = scene.change.lines[0]
    return f'"at":"{first.at}","who":"{first.who}"' in copy.begins and f'"{scene.change.opened.id}"' in copy.begins
