"""The steps that verify the result of a change: the interconnect under load, and a recording of the same load."""

from __future__ import annotations

from checks.change.plan.change_plan import ChangeKind, Gate, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.steps import other_systems, recording_commands
from checks.change.steps.before import cluvfy
from checks.change.steps.draft import Draft
from checks.model.own_command import VERIFY

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
_ALERT_LOG_LINES = (
    "grep -h -A4 'Cluster communication is configured to use' \"$ORACLE_BASE\"/diag/rdbms/*/*/trace/alert_*.log | "
    "tail -n 20"
)


def interconnect(draft: Draft) -> Step:
    """Return the step that verifies that blocks travel over the private networks without loss."""
    gates = (
        *_OF_THE_CLUSTER,
        *(("other-users",) if any(use.stays for use in draft.uses) else ()),
        *(("haip-path",) if draft.has_haip else ()),
        *(_OF_THE_DATABASE if draft.has_database else ()),
    )
    return Step(
        id="interconnect",
        title="interconnect",
        what=(
            "Allow the applications to connect. Then run ",
            VERIFY,
            ": it checks the interconnect under load. It checks HAIP, the networks in oifcfg, the networks that the "
            "instances use, the pings between instances, lost blocks, and failed reassemblies."
            + (
                ""
                if draft.has_database
                else " No database is queried (--connect), so this step cannot see lost blocks."
            ),
        ),
        why="HAIP and the instances choose their interconnect when they start. oifcfg names interfaces and subnets, "
        "not MTUs, so its output must be the same as before.",
        commands=(
            Commands(
                Who.DATABASE_OWNER,
                (_ALERT_LOG_LINES,),
                note="The lines below that message list the addresses in use: HAIP (169.254.x.x) or addresses of the "
                "private networks, never public addresses."
                + (" The gate interconnect-in-use reads them from the instances." if draft.has_database else ""),
                place="each node",
                purpose="to see the interconnect addresses in the alert log",
                optional=draft.has_database,
            ),
            other_systems.asm("after"),
            cluvfy(draft, "after"),
        ),
        expected="No lost block and no failed reassembly since Clusterware was started. Every instance uses the "
        "private networks. oifcfg prints the same as before.",
        gates=tuple(Gate(check) for check in gates),
        if_rolled_back=""
        if draft.kind is ChangeKind.ROLLBACK
        else "All nodes are stopped again, get the old MTU back, and are started: another full outage.",
    )


def compare(draft: Draft) -> Step:
    """Return the step that records the same load again and compares the two recordings."""
    compared = Commands(
        Who.RACWIRE_USER,
        (recording_commands.compare(draft.baseline_file, draft.after_file, draft.record_s),),
        draft.first,
        "The gate compares the two recordings too, and lists what is worse.",
        draft.login,
        purpose="to see the whole comparison",
        optional=True,
    )
    return Step(
        id="compare",
        title="compare",
        what=f"Record {recording_commands.for_time(draft.record_s)} of the same load as before, this time at MTU "
        f"{draft.after}. Then compare the two recordings.",
        why="The comparison shows whether the change worked: fewer packets and fragments for the same blocks, no loss, "
        "receive times no worse. The comparison reports it when the two loads differ.",
        commands=tuple(
            recording_commands.recording(
                draft, draft.databases, draft.after_file, f"mtu{draft.after}", "while the same load runs", compared
            )
        ),
        expected="The comparison finds nothing worse in losses, reassembly, errors and receive times.",
        gates=(Gate("after-recording"), Gate("comparison")),
        if_rolled_back="All nodes are stopped again, get the old MTU back, and are started: another full outage.",
    )
