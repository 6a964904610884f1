"""Gates: do ssh logins avoid the private networks, and is this the only journal in use?"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from checks.change.gates.gate import GateContext, gate, not_known, of_node, setups
from checks.model.check import Kind
from checks.model.facts import Cluster, JournalCopy, StoredHash, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY, OwnCommand
from checks.model.wording import counted, listed

_CUT_OFF = (
    "A session over the interface that is being changed is cut off in the middle of the change, with Clusterware down."
)

APART = Kind("CH-REACH-001", "No ssh login to a node uses a private network")
OVER_PRIVATE = Kind("CH-REACH-002", "An ssh login to a node uses a private network", _CUT_OFF)
NAME_IS_PRIVATE = Kind("CH-REACH-003", "A node's name resolves to a private address", _CUT_OFF)
LOGINS_NOT_KNOWN = Kind("CH-REACH-004", "The addresses of ssh logins to a node are not known", _CUT_OFF)
ONLY_COPY = Kind("CH-COPY-001", "No other node has a longer copy of this change's journal")
LONGER_COPY = Kind(
    "CH-COPY-002",
    "Another node has a longer copy of this change's journal",
    "Two copies that continue separately cannot be merged, and neither has the events of the other.",
)
END_MISSING = Kind(
    "CH-COPY-004",
    "The journal of this change lacks a line whose hash another node has, or has another one",
    "Lines were removed from the end of the journal, or changed; a restored older copy has the same effect.",
)
ANOTHER_CHANGE = Kind("CH-COPY-003", "Another change of this cluster is open on another node")


@gate(
    "ssh-apart",
    question="Do ssh logins avoid the private networks?",
    needs=("setups", "changing"),
    kinds=(APART, OVER_PRIVATE, NAME_IS_PRIVATE, LOGINS_NOT_KNOWN),
)
def ssh_apart(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks the local addresses of each node's open ssh logins, racwire's own logins included, and the addresses that
    the nodes' names resolve to on this node. None of them may be a private address.
    """
    changing = cluster.changing
    addresses = {} if isinstance(changing, Unknown) else changing.addresses
    for node, setup in setups(context, cluster):
        named = _private(context, addresses.get(node, ()))
        if named:
            yield of_node(
                NAME_IS_PRIVATE,
                Status.FAIL,
                node,
                f"is {named[0]}",
                f"The name {node} resolves to {listed(named)} on this node, a private address.",
                then=[NextStep("Find the source of the address.", (f"getent hosts {node}",), "any user on this node")],
            )
        elif isinstance(setup, Unknown):
            yield not_known(
                LOGINS_NOT_KNOWN, node, f"The addresses of ssh logins to {node} are not known", setup.reason
            )
        elif private := _private(context, setup.clients_by):
            yield of_node(
                OVER_PRIVATE,
                Status.FAIL,
                node,
                f"ssh on {private[0]}",
                f"ssh logins to {node} use {listed(private)}, on a private network.",
                then=[
                    NextStep(
                        f"Log in to {node} by its public address, or by its console. Then end the ssh sessions over "
                        "the private network."
                    )
                ],
            )
        else:
            on = listed(setup.clients_by)
            yield of_node(
                APART,
                Status.PASS,
                node,
                "apart",
                f"ssh logins to {node} use {on}, not a private network."
                if on
                else f"No ssh login to {node} uses a private network.",
            )


def _private(context: GateContext, addresses: Iterable[str]) -> tuple[str, ...]:
    return tuple(address for address in addresses if any(_lies_in(address, n.subnet) for n in context.plan.networks))


def _lies_in(address: str, subnet: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]) in ipaddress.ip_network(subnet, strict=False)
    except ValueError:
        return False


@gate(
    "only-journal",
    question="Is this the only journal of this cluster in use?",
    needs=("changing",),
    kinds=(ONLY_COPY, LONGER_COPY, ANOTHER_CHANGE, END_MISSING),
)
def only_journal(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Searches the same directory of every peer for journals of this cluster's changes.

    An open journal must be of the same change and not longer than this one; otherwise two people continue changes
    separately. If people stored the hash of a line on a peer, as the report of the change proposes, that line must be
    in this journal. Every step verifies this gate. A peer that cannot be queried does not prevent the next step.
    """
    copies = {} if isinstance(cluster.changing, Unknown) else cluster.changing.copies
    own = len(context.change.lines)
    concluded = False
    for node, found in copies.items():
        for copy in found:
            finding = _judged(context, node, copy, own)
            if finding is not None:
                concluded = True
                yield finding
    for node, stored in ({} if isinstance(cluster.changing, Unknown) else cluster.changing.hashes).items():
        if lacking := next((one for one in stored if not _holds(context, one)), None):
            concluded = True
            yield _end_missing(node, lacking, own)
    if not concluded:
        yield ONLY_COPY.finding(
            Status.PASS,
            "No other node has a longer copy of this journal, or another open change of this cluster.",
            subject="only journal",
        )


def _judged(context: GateContext, node: str, copy: JournalCopy, own: int) -> Finding | None:
    """Return the finding for a journal on a peer; None if the journal is no problem."""
    if is_copy_of(context, copy):
        if isinstance(copy.lines, int) and copy.lines > own:
            return of_node(
                LONGER_COPY,
                Status.FAIL,
                node,
                f"{copy.lines} lines there",
                f"{node} has a longer copy of this journal: {counted(copy.lines, 'line')} there, "
                f"{counted(own, 'line')} here.",
                then=[
                    NextStep(
                        f"Continue on {node}; or replace this journal by the longer copy.",
                        (f"scp {node}:{copy.path} {copy.path}",),
                        own=(VERIFY,),
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
        f"Another change of {context.plan.cluster} is open on {node}: {copy.path}.",
        then=[
            NextStep(
                "Ask the operator of the other change. Close or abandon one of the two changes.",
                where=node,
                own=(OwnCommand("list"),),
            )
        ],
    )


def _holds(context: GateContext, stored: StoredHash) -> bool:
    """Whether the journal has the line with this hash. The hash of its last line is in no line yet."""
    lines = context.change.lines
    return stored.line == len(lines) or (stored.line < len(lines) and lines[stored.line].after == stored.sha256)


def _end_missing(node: str, stored: StoredHash, own: int) -> Finding:
    what = (
        f"this journal ends with line {own}: its end is missing"
        if stored.line > own
        else "that line of this journal has another hash"
    )
    return of_node(
        END_MISSING,
        Status.FAIL,
        node,
        f"hash of line {stored.line} there",
        f"{node} has the hash of line {stored.line} of this journal, but {what}.",
        then=[
            NextStep(
                "Look for the journal with that line: a copy on another node, or a backup. Continue with that journal.",
                where="any node",
                own=(OwnCommand("list"),),
            ),
            NextStep(
                f"If there is none, keep {stored.path} as evidence under another name, and write a note with the "
                "reason.",
                own=(OwnCommand("note", "TEXT"), VERIFY),
            ),
        ],
    )


def is_copy_of(context: GateContext, copy: JournalCopy) -> bool:
    """Whether a journal on another node is a copy of this change's journal: the same first line, by time and author."""
    first = context.change.lines[0]
    return f'"at":"{first.at}","who":"{first.who}"' in copy.begins and f'"{context.change.opened.id}"' in copy.begins
