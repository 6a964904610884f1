"""Gate: storage and copies on the interfaces of a change."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import GateContext, gate, of_node, whole
from checks.change.plan.change_plan import PlannedUse
from checks.change.plan.other_users import not_read, uses_of
from checks.model.check import Kind
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep, Status
from checks.model.wording import listed

AS_PLANNED = Kind("CH-USER-001", "Storage and copying use the changed interfaces as when the plan was made")
CAME = Kind(
    "CH-USER-002",
    "Storage or copying uses a changed interface, and is not in the plan",
    "Its server and every switch port on its path must carry the new MTU, and large packets can be lost while its "
    "two ends differ. Its owners may not have agreed.",
)
GONE = Kind(
    "CH-USER-003",
    "A file system or iSCSI target is missing that was there before the change",
    "Stopped for the change, it must be mounted or logged in to again before its users come back.",
)
USES_NOT_KNOWN = Kind("CH-USER-004", "Other users of the changed interfaces are not known")
_AFTER = "interconnect"


@gate(
    "other-users",
    question="Do storage and copying use the changed interfaces as planned?",
    needs=("nodes", "setups"),
    kinds=(AS_PLANNED, CAME, GONE, USES_NOT_KNOWN),
)
def other_users(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares NFS, SMB, iSCSI and other known services on the interfaces of the plan with those when it was made.

    Before the MTU is set there may be no others. After the restart, each mount and iSCSI target must be back;
    connections of dNFS and of copies come and go, and are not missed.
    """
    plan = context.plan
    unread = not_read(cluster, plan.nodes)
    found = uses_of(cluster, plan.layers)
    is_after = context.step.id == _AFTER
    for node in plan.nodes:
        now = [use for use in found if use.node == node]
        before = [use for use in plan.uses if use.node == node]
        if node in unread:
            yield of_node(
                USES_NOT_KNOWN,
                Status.INFO,
                node,
                "not known",
                f"Other users of the changed interfaces of {node} are not known: {whole(unread[node])}",
                then=[_look(node)],
            )
        elif is_after and (gone := [use for use in before if use.stays and use not in now]):
            yield of_node(
                GONE,
                Status.FAIL,
                node,
                f"{gone[0].service} missing",
                f"{node} used {listed(map(_named, gone))} before the change, and does not now.",
                then=[
                    NextStep(
                        "Mount the file systems, or log in to the targets.",
                        tuple(map(_again, gone)),
                        f"root on {node}",
                        is_change=True,
                    )
                ],
            )
        elif not is_after and (came := [use for use in now if use not in before]):
            yield of_node(
                CAME,
                Status.FAIL,
                node,
                f"{came[0].service} uses {came[0].interface}",
                f"{listed(map(_named, came))} {'uses' if len(came) == 1 else 'use'} changed interfaces of {node}, and "
                f"{'is' if len(came) == 1 else 'are'} not in the plan.",
                then=[_look(node), NextStep("Stop it for the change, or ask its operators about the new MTU.")],
            )
        else:
            text = f"{now[0].service} as planned" if now else "no other users"
            sentence = (
                f"{listed(map(_named, now))} {'uses' if len(now) == 1 else 'use'} changed interfaces of {node}, as "
                "when the plan was made."
                if now
                else f"No storage and no copying was seen on the changed interfaces of {node}."
            )
            yield of_node(AS_PLANNED, Status.INFO if now and not is_after else Status.PASS, node, text, sentence)


def _named(use: PlannedUse) -> str:
    return f"{use.service} at {use.mount}" if use.mount else f"{use.service} with {use.remote}"


def _again(use: PlannedUse) -> str:
    return f"mount {use.mount}" if use.mount else "iscsiadm -m node -L all"


def _look(node: str) -> NextStep:
    return NextStep(
        "Look at mounts and connections.", ("findmnt -t nfs,nfs4,cifs", "ss -Htn state established"), f"root on {node}"
    )
