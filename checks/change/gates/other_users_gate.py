"""Gate: storage and copies on the interfaces of a change."""

from __future__ import annotations

from checks.change.gates.gate import GatePlace, node_gate
from checks.change.plan.change_plan import PlannedUse
from checks.change.plan.other_users import uses_on
from checks.model.check import Kind
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
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


@node_gate(
    "other-users",
    question="Do storage and copying use the changed interfaces as planned?",
    needs=("nodes", "setups"),
    kinds=(AS_PLANNED, CAME, GONE, USES_NOT_KNOWN),
    read=lambda at: uses_on(at.cluster, at.node, at.plan.layers),
    unread=(USES_NOT_KNOWN, "Other users of the changed interfaces of {} are not known"),
    must_be_known=False,
)
def other_users(at: GatePlace, now: tuple[PlannedUse, ...]) -> Finding:
    """Compares NFS, SMB, iSCSI and other known services on the interfaces of the plan with those when it was made.

    Before the MTU is set there may be no others. After the restart, each mount and iSCSI target must be back;
    connections of dNFS and of copies come and go, and are not missed.
    """
    before = [use for use in at.plan.uses if use.node == at.node]
    is_after = at.context.step.id == _AFTER
    if is_after and (gone := [use for use in before if use.stays and use not in now]):
        return at.fails(
            GONE,
            f"{gone[0].service} missing",
            f"{at.node} used {listed(map(_named, gone))} before the change, and does not now.",
            at.as_root("Mount the file systems, or log in to the targets.", *map(_again, gone)),
        )
    if not is_after and (came := [use for use in now if use not in before]):
        return at.fails(
            CAME,
            f"{came[0].service} uses {came[0].interface}",
            f"{listed(map(_named, came))} {'uses' if len(came) == 1 else 'use'} changed interfaces of {at.node}, and "
            f"{'is' if len(came) == 1 else 'are'} not in the plan.",
            NextStep(
                "Look at mounts and connections.",
                ("findmnt -t nfs,nfs4,cifs", "ss -Htn state established"),
                f"root on {at.node}",
            ),
            NextStep("Stop it for the change, or ask its operators about the new MTU."),
        )
    if not now:
        sentence = f"No storage and no copying was seen on the changed interfaces of {at.node}."
        return at.holds(AS_PLANNED, "no other users", sentence)
    report = at.holds if is_after else at.remarks
    use = "uses" if len(now) == 1 else "use"
    sentence = f"{listed(map(_named, now))} {use} changed interfaces of {at.node}, as when the plan was made."
    return report(AS_PLANNED, f"{now[0].service} as planned", sentence)


def _named(use: PlannedUse) -> str:
    return f"{use.service} at {use.mount}" if use.mount else f"{use.service} with {use.remote}"


def _again(use: PlannedUse) -> str:
    return shell("mount {mount}", mount=use.mount) if use.mount else "iscsiadm -m node -L all"
