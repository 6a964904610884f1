"""What the change brought: Clusterware and the instances on the private networks, and the same load again."""

from __future__ import annotations

from checks.change.change_plan import ChangeKind, Commands, Gate, Step
from checks.change.steps import recording_commands
from checks.change.steps.before import cluvfy
from checks.change.steps.draft import Draft

_OF_THE_CLUSTER = (
    "clusterware",
    "oifcfg-unchanged",
    "members-unchanged",
    "reassembly",
    "udp-receive-buffers",
    "mtu-consistency",
    "df-ping",
)
_OF_THE_DATABASE = ("interconnect-in-use", "instance-ping", "gc-blocks-lost")
_ALERT_LOG = "Cluster communication is configured to use"


def interconnect(draft: Draft) -> Step:
    """Blocks travel over the private networks, and none is lost."""
    gates = (*_OF_THE_CLUSTER, *(_OF_THE_DATABASE if draft.has_database else ()))
    return Step(
        id="interconnect",
        title="interconnect",
        what="Let the applications in, and have racwire look at the interconnect under load: HAIP, the networks that "
        "oifcfg names, those that the instances use, their pings, lost blocks, and broken packets."
        + ("" if draft.has_database else " No database is asked (--connect), so lost blocks cannot be seen here."),
        why="HAIP and the instances choose their interconnect when they start. oifcfg names interfaces and subnets, "
        "not MTUs, so it must say what it said before.",
        commands=(
            Commands(
                "On each node, as the owner of the database: what an instance says of its interconnect",
                (f"grep -h -A4 '{_ALERT_LOG}' \"$ORACLE_BASE\"/diag/rdbms/*/*/trace/alert_*.log | tail -n 20",),
                note="Below that line stand the addresses in use: HAIP (169.254.x.x) or those of the private networks, "
                "never public ones.",
            ),
            cluvfy(draft, "after"),
        ),
        expected="No lost block and no failed reassembly since Clusterware was started; every instance on the private "
        "networks; oifcfg as before.",
        gates=tuple(Gate(check) for check in gates),
        if_rolled_back=""
        if draft.kind is ChangeKind.ROLLBACK
        else "Everything is stopped again, the MTU set back on all nodes, and started: another full outage.",
    )


def compare(draft: Draft) -> Step:
    """The same load again, and what differs."""
    return Step(
        id="compare",
        title="compare",
        what=f"Record {recording_commands.for_time(draft.record_s)} of the same load as before, now at MTU "
        f"{draft.after}, and compare.",
        why="What was promised is to be seen: fewer packets and fragments for the same blocks, no loss, receive times "
        "no worse. A load that differs makes the comparison say so.",
        commands=(
            *recording_commands.begun(draft.databases, draft.has_pack),
            Commands(
                f"As {draft.made_by.partition('@')[0] or 'the user of racwire'} on {draft.first}, while the same load "
                "runs:",
                (
                    recording_commands.record(draft.after_file, f"mtu{draft.after}", draft.record_s, draft.options),
                    recording_commands.compare(draft.baseline_file, draft.after_file, draft.record_s),
                ),
                draft.first,
                "A recording that is there already and not good enough: add --force.",
            ),
            *recording_commands.over(draft.databases, draft.has_pack),
        ),
        expected="The comparison finds nothing worse in losses, reassembly, errors and receive times.",
        gates=(Gate("after-recording"), Gate("comparison")),
        if_rolled_back="Everything is stopped again, the MTU set back on all nodes, and started: another full outage.",
    )
