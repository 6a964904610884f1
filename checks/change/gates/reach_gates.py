"""Gates: do ssh logins avoid the private networks, and is this the only journal in use?"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from checks.change.gates.gate import GatePlace, gate, node_gate
from checks.change.plan.change_plan import Plan
from checks.change.progress.state import Change
from checks.model.check import Kind
from checks.model.facts import JournalCopy, StoredHash, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.own_command import VERIFY, OwnCommand
from checks.model.shell_command import shell
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


@node_gate(
    "ssh-apart",
    question="Do ssh logins avoid the private networks?",
    needs=("setups", "changing"),
    kinds=(APART, OVER_PRIVATE, NAME_IS_PRIVATE, LOGINS_NOT_KNOWN),
    read=lambda at: at.changing.addresses.get(at.node, ()),
    unread=(LOGINS_NOT_KNOWN, "The addresses of ssh logins to {} are not known"),
)
def ssh_apart(at: GatePlace, addresses: tuple[str, ...]) -> Finding | Unknown:
    """Checks the local addresses of each node's open ssh logins, racwire's own logins included, and the addresses that
    the nodes' names resolve to on this node. None of them may be a private address.
    """
    if named := _private(at.plan, addresses):
        return at.fails(
            NAME_IS_PRIVATE,
            f"is {named[0]}",
            f"The name {at.node} resolves to {listed(named)} on this node, a private address.",
            NextStep(
                "Find the source of the address.",
                (shell("getent hosts {node}", node=at.node),),
                "any user on this node",
            ),
        )
    setup = at.setup()
    if isinstance(setup, Unknown):
        return setup
    if private := _private(at.plan, setup.clients_by):
        return at.fails(
            OVER_PRIVATE,
            f"ssh on {private[0]}",
            f"ssh logins to {at.node} use {listed(private)}, on a private network.",
            NextStep(
                f"Log in to {at.node} by its public address, or by its console. Then end the ssh sessions over the "
                "private network."
            ),
        )
    if setup.clients_by:
        sentence = f"ssh logins to {at.node} use {listed(setup.clients_by)}, not a private network."
    else:
        sentence = f"No ssh login to {at.node} uses a private network."
    return at.holds(APART, "apart", sentence)


def _private(plan: Plan, addresses: Iterable[str]) -> tuple[str, ...]:
    return tuple(address for address in addresses if any(_lies_in(address, n.subnet) for n in plan.networks))


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
def only_journal(at: GatePlace) -> Iterator[Finding]:
    """Searches the same directory of every peer for journals of this cluster's changes.

    An open journal must be of the same change and not longer than this one; otherwise two people continue changes
    separately. If people stored the hash of a line on a peer, as the report of the change proposes, that line must be
    in this journal. Every step verifies this gate. A peer that cannot be queried does not prevent the next step.
    """
    copies = [_of_copy(at.on(node, "setup"), copy) for node, found in at.changing.copies.items() for copy in found]
    hashes = [_of_hashes(at.on(node, "setup"), stored) for node, stored in at.changing.hashes.items()]
    found = [finding for finding in (*copies, *hashes) if finding is not None]
    yield from found
    if not found:
        sentence = "No other node has a longer copy of this journal, or another open change of this cluster."
        yield at.holds(ONLY_COPY, "only journal", sentence)


def _of_copy(at: GatePlace, copy: JournalCopy) -> Finding | None:
    """Return the finding for a journal on a peer; None if the journal is no problem."""
    own = len(at.change.lines)
    if _is_copy(at.change, copy):
        if not isinstance(copy.lines, int) or copy.lines <= own:
            return None
        return at.fails(
            LONGER_COPY,
            f"{copy.lines} lines there",
            f"{at.node} has a longer copy of this journal: {counted(copy.lines, 'line')} there, "
            f"{counted(own, 'line')} here.",
            NextStep(
                f"Continue on {at.node}; or replace this journal by the longer copy.",
                (shell("scp {source} {path}", source=f"{at.node}:{copy.path}", path=copy.path),),
                own=(VERIFY,),
            ),
        )
    if copy.outcome:
        return None
    return at.fails(
        ANOTHER_CHANGE,
        "another change",
        f"Another change of {at.plan.cluster} is open on {at.node}: {copy.path}.",
        NextStep(
            "Ask the operator of the other change. Close or abandon one of the two changes.",
            where=at.node,
            own=(OwnCommand("list"),),
        ),
    )


def _of_hashes(at: GatePlace, hashes: Iterable[StoredHash]) -> Finding | None:
    """Return the finding for a stored hash that no line of the journal has; None if all are there."""
    own = len(at.change.lines)
    stored = next((one for one in hashes if not _holds(at.change, one)), None)
    if stored is None:
        return None
    what = (
        f"this journal ends with line {own}: its end is missing"
        if stored.line > own
        else "that line of this journal has another hash"
    )
    return at.fails(
        END_MISSING,
        f"hash of line {stored.line} there",
        f"{at.node} has the hash of line {stored.line} of this journal, but {what}.",
        NextStep(
            "Look for the journal with that line: a copy on another node, or a backup. Continue with that journal.",
            where="any node",
            own=(OwnCommand("list"),),
        ),
        NextStep(
            f"If there is none, keep {stored.path} as evidence under another name, and write a note with the reason.",
            own=(OwnCommand("note", "TEXT"), VERIFY),
        ),
    )


def _holds(change: Change, stored: StoredHash) -> bool:
    """Whether the journal has the line with this hash. The hash of its last line is in no line yet."""
    lines = change.lines
    return stored.line == len(lines) or (stored.line < len(lines) and lines[stored.line].after == stored.sha256)


def _is_copy(change: Change, copy: JournalCopy) -> bool:
    """Whether a journal on another node is a copy of this change's journal: the same first line, by time and author."""
    first = change.lines[0]
    return f'"at":"{first.at}","who":"{first.who}"' in copy.begins and f'"{change.opened.id}"' in copy.begins
