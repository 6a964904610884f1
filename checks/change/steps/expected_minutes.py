"""The expected minutes and the point of no return of each step: data, and the outage that they add up to.

The minutes are estimates of racwire: they come from no measurement on this cluster, and no vendor states them. A plan
says so wherever it prints them, with what they depend on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from checks.change.plan.change_plan import ChangeKind, Minutes, Step
from checks.change.steps.draft import Draft


class _Expected(NamedTuple):
    """The minutes of a step: once, and in addition for each node."""

    once: tuple[int, int]
    each_node: tuple[int, int]
    depends_on: str
    records: bool = False
    """Whether the step records the load: the length of a recording is added."""


_EXPECTED = {
    "baseline": _Expected((2, 10), (0, 0), "the length of the recording, and cluvfy if you run it", records=True),
    "backups": _Expected((2, 5), (1, 3), "the number of nodes"),
    "console-access": _Expected((0, 5), (1, 3), "the number of nodes, and how fast their consoles open"),
    "switch": _Expected((10, 60), (0, 0), "the network team, the number of switches, and whether they reload"),
    "hypervisor": _Expected((10, 60), (0, 0), "the number of hosts"),
    "stack-down": _Expected((3, 15), (1, 5), "open transactions and changed blocks at the stop, and ACFS in use"),
    "set-mtu": _Expected((1, 5), (1, 4), "the number of nodes and of interfaces on each"),
    "survives-boot": _Expected((5, 25), (0, 0), "how long a node boots: the firmware may check a large memory"),
    "prove-paths": _Expected((1, 5), (0, 2), "the number of nodes, and bonds whose members are taken down in turn"),
    "first-node": _Expected((4, 15), (0, 0), "the number of disks that ASM finds and of resources"),
    "other-nodes": _Expected((0, 0), (3, 10), "the number of nodes, which start one after the other"),
    "databases": _Expected((3, 20), (0, 0), "the number of databases, their memory, and recovery at the start"),
    "interconnect": _Expected((5, 20), (0, 0), "when the applications connect again"),
    "compare": _Expected((2, 10), (0, 0), "the length of the recording", records=True),
    "sign-off": _Expected((5, 15), (0, 0), "the reading of the report"),
    "network-ready": _Expected((2, 10), (1, 3), "the number of nodes, and how fast the network team answers"),
    "register": _Expected((1, 5), (0, 0), "whether the listeners of Flex ASM start at once"),
    "old-network-down": _Expected((1, 3), (1, 3), "the number of nodes"),
    "networks-back": _Expected((1, 3), (1, 3), "the number of nodes"),
    "deregister": _Expected((1, 5), (0, 0), "the number of nodes"),
    "services-elsewhere": _Expected((1, 30), (0, 0), "how long the sessions take to leave"),
    "node-up": _Expected((4, 15), (0, 0), "the number of disks that ASM finds and of resources"),
    "instances": _Expected((3, 20), (0, 0), "the number of instances, their memory, and recovery at the start"),
    "untouched": _Expected((1, 5), (0, 0), "the number of nodes"),
}
"""By the id of the step. The step agree is missing: an agreement takes days, not minutes."""

_NOT_YET = "None: nothing is stopped or changed yet."
_PASSED = "Passed: going back is another full outage."
_NO_RETURN = {
    "agree": _NOT_YET,
    "baseline": _NOT_YET,
    "backups": _NOT_YET,
    "console-access": _NOT_YET,
    "switch": "None: the ports can be set back.",
    "hypervisor": "None: the hosts can be set back.",
    "stack-down": "The stop of the first database: users are disconnected from there on, and to go back is to start "
    "everything again.",
    "set-mtu": "The first `ip link` line: from there on every node must be set back before Clusterware is started. "
    "Going back prolongs this outage and needs no second one.",
    "survives-boot": "None beyond that of set the MTU: going back prolongs this outage.",
    "network-ready": _NOT_YET,
    "register": "None: nothing is stopped yet, and the new line can be deleted without an outage.",
    "old-network-down": "None: the old interfaces can be brought up again. Going back prolongs this outage and needs "
    "no second one.",
    "deregister": _PASSED,
    "prove-paths": "None beyond that of set the MTU: going back prolongs this outage.",
    "first-node": "None beyond that of set the MTU: going back stops Clusterware on one node again.",
    "other-nodes": "The start of the second node, where Clusterware starts databases itself (AUTO_START=always). Else "
    "none: the databases are still down.",
    "databases": "The start of the first database: from there on, going back is another full outage.",
    "interconnect": _PASSED,
    "compare": _PASSED,
    "sign-off": "The signature: after it, going back is a change of its own, with another full outage.",
}

_FIRST, _LAST, _LAST_OF_NODE = "stack-down", ("databases", "other-nodes"), ("instances", "node-up")
"""The steps from the stop of the first instance to the start of the databases; of one node, to that of its instances.
"""


def estimated(step: Step, draft: Draft) -> Step:
    """Return the step with its expected minutes and its point of no return, if it does not state its own.

    A rollback cannot be rolled back.
    """
    no_return = "" if draft.kind is ChangeKind.ROLLBACK else step.no_return or _NO_RETURN.get(step.id, "")
    return msgspec.structs.replace(step, minutes=step.minutes or _minutes(step, draft), no_return=no_return)


def _minutes(step: Step, draft: Draft) -> Minutes | None:
    expected = _EXPECTED.get(step.id)
    if expected is None:
        return None
    recorded = round(draft.record_s / 60) if expected.records else 0
    least, most = (
        once + each * (1 if draft.node else len(draft.nodes)) + recorded
        for once, each in zip(expected.once, expected.each_node, strict=True)
    )
    return Minutes(least, most, expected.depends_on)


def outage_remarks(steps: Sequence[Step]) -> Iterable[str]:
    """Yield the sentence about the planned outage; nothing for a plan that stops nothing."""
    if (of_node := _from_the_stop(steps, _LAST_OF_NODE)) is not None:
        yield (
            f"The node is out of the cluster for {of_node.least} to {of_node.most} min: the sum of the estimated "
            f"minutes of the steps {of_node.depends_on}. The other nodes keep running."
        )
    planned = planned_outage(steps)
    if planned is None:
        return
    yield (
        f"Planned outage, from the stop of the first instance to the start of the databases: {planned.least} to "
        f"{planned.most} min. It is the sum of the estimated minutes of the steps {planned.depends_on}."
    )


def planned_outage(steps: Sequence[Step]) -> Minutes | None:
    """Return the sum of the minutes from the stop of the first instance to the start of the databases.

    Without a step that starts databases, to the start of the last node. None if the plan stops nothing. `depends_on`
    has the titles of the first and the last of these steps.
    """
    return _from_the_stop(steps, _LAST)


def _from_the_stop(steps: Sequence[Step], ends: Sequence[str]) -> Minutes | None:
    ids = [step.id for step in steps]
    last = next((name for name in ends if name in ids), None)
    if _FIRST not in ids or last is None:
        return None
    during = steps[ids.index(_FIRST) : ids.index(last) + 1]
    known = [step.minutes for step in during if step.minutes]
    if not known:
        return None
    return Minutes(
        sum(one.least for one in known),
        sum(one.most for one in known),
        f"{during[0].title} to {during[-1].title}",
    )
