"""The steps of a change of kernel settings, one node after the other: nothing is stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.change.plan.change_plan import ChangeKind, Gate, Minutes, PlannedValue, Step
from checks.change.plan.command_block import REPORT, VERIFY_AND_READ
from checks.change.steps import settings_commands
from checks.change.steps.draft import Draft, briefly
from checks.change.steps.restarts import without_other_instances
from checks.model.own_command import VERIFY
from checks.model.wording import listed

SET_FIRST, SET_OTHERS = "set-first", "set-others"
"""The ids of the steps that change nodes."""
_NOT_YET = "None: nothing is changed yet."
_ANY_TIME = "None: the old values and files can be set back at any time, without a stop."
_IN_TURN = ", one node after the other"
_BACK = "The old values and files are set back, one node after the other. Nothing is stopped."


@dataclass(frozen=True)
class SettingsTexts:
    """What differs between the kinds of settings."""

    what: str
    """What is set, for a sentence: `rp_filter of the private interfaces`."""
    why: str
    risk: str
    """What can happen, for those who agree."""
    check: str
    """The built-in check that shows the result."""


RP_FILTER = SettingsTexts(
    what="rp_filter of the private interfaces to 2 (loose)",
    why="Strict filtering (1) drops packets that arrive on another private interface than the answer would leave by "
    "(MOS 1286796.1). Loose filtering (2) accepts them.",
    risk="The private interfaces then accept packets whose sender can be reached over any interface.",
    check="rp-filter",
)
RECEIVE_BUFFERS = SettingsTexts(
    what="the socket buffers of the kernel to larger sizes",
    why="Blocks that arrive at a full receive buffer are dropped, and the instance counts them as lost "
    "(MOS 563566.1, cause 2).",
    risk="Each socket may use more memory of the kernel, and only while datagrams wait in it.",
    check="udp-receive-buffers",
)


def values_of(draft: Draft, node: str) -> tuple[PlannedValue, ...]:
    """Return the planned values of a node."""
    return tuple(value for value in draft.values if value.node == node)


def changed_nodes(draft: Draft) -> tuple[str, ...]:
    """Return the nodes whose settings change: the first node first, if it is one of them."""
    there = [node for node in draft.nodes if values_of(draft, node)]
    return tuple(sorted(there, key=lambda node: node != draft.first))


def agree(draft: Draft, texts: SettingsTexts, *, restarts: bool) -> Step:
    """Return the step that agrees on the change: no outage, and who has to know."""
    stopped = "The instances are restarted one after the other." if restarts else "Nothing is stopped."
    alone = without_other_instances(draft) if restarts else ()
    outage = f" A database with a single instance is down while it restarts: {listed(alone)}." if alone else ""
    nodes = changed_nodes(draft)
    return Step(
        id="agree",
        title="agree",
        what="Tell the DBAs, the owners of the applications and the administrators of the nodes: the change sets "
        f"{texts.what} on {briefly(nodes)}{_IN_TURN if nodes[1:] else ''}. {stopped}{outage}",
        why=f"{texts.why} {texts.risk}",
        expected="Every person who can veto the change has agreed to it.",
        attest="The DBAs, the owners of the applications and the administrators of the nodes agreed to the change.",
        attest_asks="who agreed, and when the change is made",
        if_rolled_back="Nothing has been changed: abandon the change.",
        no_return=_NOT_YET,
    )


def backups(draft: Draft) -> Step:
    """Return the step that saves the sysctl files."""
    nodes = changed_nodes(draft)
    return Step(
        id="backups",
        title="backups",
        what="On every node that is changed, save the files of sysctl and of tuned, and the present settings.",
        why="The backups let you restore a node by hand after a mistake.",
        commands=tuple(settings_commands.save_files(node, draft.id) for node in nodes),
        expected=f"{listed(settings_commands.backup_paths(draft.id))} on {briefly(nodes)}.",
        gates=(Gate("settings-saved", nodes=nodes),),
        if_rolled_back="Nothing has been changed: abandon the change. The backups may stay.",
        minutes=Minutes(1, 2 + len(nodes), "the number of nodes"),
        no_return=_NOT_YET,
    )


def set_first(draft: Draft, proofs: Iterable[str]) -> Step:
    """Return the step that changes one node. `proofs` are the gates that prove its paths afterwards."""
    first, *others = changed_nodes(draft)
    return Step(
        id=SET_FIRST,
        title="set one node",
        what=f"Set the new values on {first}{' only' if others else ''}: now, and for the next boot. The file of the "
        "change sorts after the usual names, so its values apply last at boot. No file of others is removed.",
        why="If the new values do harm, only one node has them." if others else f"Only {first} has other values.",
        commands=(settings_commands.set_values(first, values_of(draft, first), draft.id),),
        expected=f"{_expected(values_of(draft, first))} on {first}, now and for the next boot. Every path still "
        "passes.",
        gates=(*_set(draft, (first,)), *map(Gate, proofs), Gate("stack-up")),
        if_rolled_back=_BACK,
        minutes=Minutes(1, 5, "the number of paths between the nodes"),
        no_return=_ANY_TIME,
    )


def set_others(draft: Draft, proofs: Iterable[str]) -> Iterator[Step]:
    """Yield the step that changes the other nodes, one after the other; nothing where no other node is changed."""
    nodes = changed_nodes(draft)[1:]
    if not nodes:
        return
    each = "one node after the other; watch the alert logs in between" if nodes[1:] else "the last node"
    yield Step(
        id=SET_OTHERS,
        title="set the others",
        what=f"Set the new values on {briefly(nodes)}: {each}.",
        why="All nodes of a cluster need the same values.",
        commands=tuple(settings_commands.set_values(node, values_of(draft, node), draft.id) for node in nodes),
        expected=f"The new values on {briefly(nodes)}, now and for the next boot. Every path still passes.",
        gates=(*_set(draft, nodes), *map(Gate, proofs), Gate("stack-up")),
        if_rolled_back=_BACK,
        minutes=Minutes(len(nodes), 5 * len(nodes), "the number of nodes"),
        no_return=_ANY_TIME,
    )


def sign_off(draft: Draft, proofs: Iterable[str]) -> Step:
    """Return the step that verifies everything once more and signs the change off."""
    back = draft.kind is ChangeKind.ROLLBACK
    values = "The values and files are as before the change." if back else "The new values are set on every node."
    return Step(
        id="sign-off",
        title="sign off",
        what=VERIFY_AND_READ,
        why="Another person may have undone a part of the change since the last verification.",
        commands=(REPORT,),
        expected=f"{values} Clusterware is up on every node. The report is filed with the change.",
        gates=(*_once(draft), *map(Gate, proofs), Gate("stack-up")),
        attest="The report was read and filed." + (" The cluster is as it was before the change." if back else ""),
        attest_asks="where the report is filed",
        if_rolled_back="" if back else _BACK,
        minutes=Minutes(3, 10, "the reading of the report"),
        no_return="" if back else "None: a change of its own can set the old values.",
    )


def untouched(draft: Draft) -> Step:
    """Return the step of a rollback from a change that set nothing yet: it verifies exactly that."""
    return Step(
        id="untouched",
        title="untouched",
        what=(
            "So far, no step of the plan changes anything. Run ",
            VERIFY,
            " to confirm that nothing was changed. No command needs to be typed on the nodes.",
        ),
        why="Another person may have started without the plan.",
        expected="Every value is as before, now and for the next boot.",
        gates=(*_set(draft, changed_nodes(draft)), Gate("stack-up")),
        minutes=Minutes(1, 3, "the number of nodes"),
    )


def set_back(draft: Draft) -> Step:
    """Return the step of a rollback that restores the values and files, one node after the other."""
    nodes = changed_nodes(draft)
    return Step(
        id="set-back",
        title="set back",
        what=f"Set the old values on {briefly(nodes)}, one node after the other, and remove the file of racwire. On a "
        "node that was not changed, the commands change nothing.",
        why="The values and files from before the change are in the plan.",
        commands=tuple(settings_commands.set_back(node, values_of(draft, node), draft.id) for node in nodes),
        expected=f"The old values on {briefly(nodes)}, and the files as before.",
        gates=(*_set(draft, nodes), Gate("stack-up")),
        minutes=Minutes(len(nodes), 5 * len(nodes), "the number of nodes"),
    )


def _set(draft: Draft, nodes: Sequence[str]) -> tuple[Gate, ...]:
    named = () if set(nodes) == set(draft.nodes) else tuple(nodes)
    return tuple(Gate(check, nodes=named, until="end") for check in ("running-settings", "kept-settings"))


def _once(draft: Draft) -> tuple[Gate, ...]:
    return tuple(Gate(gate.check, nodes=gate.nodes) for gate in _set(draft, changed_nodes(draft)))


def _expected(values: Sequence[PlannedValue]) -> str:
    return listed(f"{value.key} {value.after}" for value in values)
