"""What depends on the cluster and that racwire does not read: the questions of a plan, with the commands to look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.change.plan.change_plan import OF_NETWORKS, ChangeKind
from checks.change.plan.command_block import Commands, Who, as_sysdba
from checks.change.steps.draft import Draft
from checks.model.shell_command import Language, shell
from checks.model.wording import listed

ANSWERED = (
    "Answered, with the commands of this step or by their operators: the blackout of the monitoring, fast-start "
    "failover with its observer, Data Guard, GoldenGate, the last good backup of each database, and "
    "cluster_interconnects of ASM."
)
"""The statement before the outage."""
BACK = (
    "The blackout has ended. Data Guard, fast-start failover with its observer, and GoldenGate run as before, where "
    "they are used."
)
"""The statement after the outage."""
_RMAN = (
    "SELECT input_type, status, start_time, end_time FROM v$rman_backup_job_details WHERE start_time > SYSDATE - 8 "
    "ORDER BY start_time;"
)
_ASM = (
    "SELECT inst_id, value FROM gv$parameter WHERE name = 'cluster_interconnects';",
    "SELECT inst_id, name, ip_address, source FROM gv$cluster_interconnects;",
)


def questions(draft: Draft) -> Iterator[Commands]:
    """Yield the commands that show what racwire does not read.

    Sources: Enterprise Manager Cloud Control Administrator's Guide, emctl blackout; Data Guard Broker, fast-start
    failover; Grid Infrastructure Agents (XAG), agctl; Database Reference, V$RMAN_BACKUP_JOB_DETAILS.
    """
    blackout = f"racwire_{re.sub('[^0-9A-Za-z]', '_', draft.id)}"
    yield Commands(
        Who.AGENT_OWNER,
        ("emctl status blackout",),
        note="Without a blackout the outage raises alerts. Before the stop: emctl start blackout "
        f"{blackout} -nodeLevel; at the end: emctl stop blackout {blackout}. Targets of several nodes, such as the "
        "cluster database, need a blackout in the console or by emcli.",
        place="each node where one runs",
        optional=True,
    )
    for database in draft.databases:
        yield Commands(
            Who.DATABASE_OWNER,
            ("dgmgrl / 'show configuration'", "dgmgrl / 'show fast_start failover'"),
            note="Where fast-start failover is enabled, ask its operators whether the observer may start a failover "
            "during the outage. To prevent it: DISABLE FAST_START FAILOVER; afterwards ENABLE FAST_START FAILOVER, and "
            "look at the observer with SHOW OBSERVER (12.2 and later).",
            name=database.name,
            place="any node",
            purpose="if it has a Data Guard broker",
            optional=True,
        )
    yield Commands(
        Who.GRID_OWNER,
        (shell("{home}/bin/crsctl stat res -t -w 'NAME co xag'", home=draft.home(draft.first)),),
        note="Its operators stop and start it: agctl stop goldengate NAME, agctl start goldengate NAME. GoldenGate "
        "outside Clusterware does not show here: INFO ALL in GGSCI or the Admin Client.",
        name=draft.grid_owner,
        place=draft.first,
        purpose="for GoldenGate and other applications under Clusterware (XAG)",
        optional=True,
    )
    for database in draft.databases:
        yield as_sysdba(
            database.name,
            (_RMAN,),
            "for its last good backup",
            "The view lists what the control file holds. Backups of other tools or by storage snapshots do not show "
            "here.",
        )
    yield asm("before", draft.kind)


def storage(draft: Draft) -> str:
    """Return what the owners of storage on the changed interfaces agree to; empty where none was seen."""
    if not draft.uses:
        return ""
    uses = dict.fromkeys(f"{use.service} with {use.remote} on {use.interface}" for use in draft.uses)
    return (
        f" The owners of {listed(uses)} agree: their servers and switch ports carry {draft.largest} bytes, and what "
        "cannot stay in use while the MTU differs is unmounted or logged out after the stop of Clusterware."
    )


_OF_MTU = "a change of the MTU leaves them as they are."
_OF_NETWORKS = "where they change, reset the parameter in the ASM instances first, for the restart of the plan."


def asm(when: str, kind: ChangeKind | None = None) -> Commands:
    """Return the statements that show the interconnect of the ASM instances, to compare before and after."""
    return Commands(
        Who.SYSASM,
        _ASM,
        note="racwire does not connect to ASM. If cluster_interconnects is set there, ASM uses these addresses and no "
        f"HAIP; {_OF_NETWORKS if kind in OF_NETWORKS else _OF_MTU}",
        place="any node where ASM runs",
        purpose=f"{when} the change",
        language=Language.SQL,
        optional=True,
    )
