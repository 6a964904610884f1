"""Is Clusterware installed, is its Grid home the one in use, and do its tools answer?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import FailKind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import ActiveVersion, Cluster, Clusterware, Unknown, release
from checks.model.finding import Finding, NextStep, Status, name_the_networks
from checks.model.networks import NO_GRID_HOME
from checks.model.shell_command import shell
from checks.model.wording import all_nodes, continued, counted, first_and_rest
from checks.rules.observed.heartbeats import heartbeats_lost
from checks.rules.observed.states import read_on, state

ANSWERS = PassKind("IC-GRID-001", "Clusterware is up on this node and its tools answer")
STALE = WarnKind(
    "IC-GRID-002",
    "A file names a Grid home that is not the one in use",
    "Scripts and administrators that follow this file run tools of the wrong release, or edit the wrong copy of the "
    "network configuration. After the rollback of an out-of-place patch, olr.loc can still name the old home.",
)
SILENT = UnknownKind(
    "IC-GRID-003", "A Clusterware tool gave no answer", "The answer is not known; checks that need it report UNKNOWN."
)
NOT_ONLINE = FailKind(
    "IC-GRID-004",
    "A service of the Clusterware stack is not online on this node",
    "Without the whole stack this node is not a member of the cluster, or is about to leave it.",
    ("Clusterware Administration Guide, crsctl check crs",),
)
UPGRADING = WarnKind(
    "IC-GRID-005",
    "The cluster is in the middle of a rolling upgrade or patch",
    "The nodes run different software. Do not change the interconnect until the upgrade or patch is finished.",
    ("Clusterware Administration Guide, crsctl query crs activeversion -f",),
)
INACTIVE = FailKind(
    "IC-GRID-006",
    "A node of the cluster is not active",
    "CSS has evicted the node, the node is shut down, or its stack did not start. CSS evicts a node that cannot "
    "exchange its network heartbeat over the private network for misscount seconds.",
    ("Clusterware Administration Guide, olsnodes -s",),
)


_NOT_QUERIED = "not asked"
"""A subject is what waivers refer to, so it stays the one of 0.1.0."""


@check(
    "clusterware",
    question="Does Clusterware answer, from the home that is in use, with all its nodes active?",
    needs=(),
    uses=("clusterware",),
    shows=(ConditionKind.STACK,),
    kinds=(ANSWERS, STALE, SILENT, NOT_ONLINE, UPGRADING, INACTIVE, NO_GRID_HOME),
)
def clusterware(cluster: Cluster) -> Iterator[Finding]:
    """Queries Grid Infrastructure on this node about its own state and about the cluster.

    racwire searches for the Grid home in the settings, the environment, olr.loc, the running ocssd.bin, oratab and the
    inventory, and reports each of them that names another home. Then it runs oifcfg, olsnodes and crsctl, by absolute
    path, with commands that only read.
    """
    facts = cluster.clusterware
    if isinstance(facts, Unknown):
        yield _no_home(cluster, facts)
        return
    not_online = list(_services(cluster, facts))
    # With the stack down no tool answers: that is one fault, not five.
    faults = [*_stale(cluster, facts), *(not_online or _silent(cluster, facts))]
    faults += [*_upgrading(cluster, facts), *_inactive(cluster, facts)]
    yield from faults
    if not faults:
        version = facts.version.version if not isinstance(facts.version, Unknown) else "of unknown version"
        members = () if isinstance(facts.members, Unknown) else facts.members
        yield ANSWERS.finding(
            f"Clusterware {version} is up on {cluster.local_node}, and {all_nodes(len(members))} "
            f"{'is' if len(members) == 1 else 'are'} active.",
            subject=f"{counted(len(members), 'node')} active",
            seen=(
                f"Grid home {facts.grid_home.path}, named by {facts.grid_home.named_by}",
                *([f"misscount {facts.misscount_s} s"] if isinstance(facts.misscount_s, int) else []),
            ),
            evidence=[(cluster.local_node, topic) for topic in ("grid home", "crsctl check crs", "olsnodes")],
            observed=read_on(ANSWERS.code, [member.name for member in members] or [cluster.local_node]),
        )


def _no_home(cluster: Cluster, facts: Unknown) -> Finding:
    named = bool(cluster.named_networks)
    without = f"{cluster.local_node} has no Clusterware to query; the private networks are those that you named."
    first, rest = first_and_rest(facts.reason)
    return NO_GRID_HOME.finding(
        without if named else f"Clusterware could not be queried on {cluster.local_node}: {continued(first)}.",
        status=Status.SKIPPED if named else Status.UNKNOWN,
        subject=_NOT_QUERIED,
        seen=(facts.reason,) if named else (),
        next=()
        if named
        else (
            NextStep(rest or "On a node of a cluster: specify its Grid home.", ("racwire check --grid-home DIR",)),
            name_the_networks(),
        ),
        evidence=[(cluster.local_node, "grid home")],
        lacks=() if named else [facts],
    )


def _alert_log(cluster: Cluster, node: str) -> str:
    """Return the command that displays the Clusterware alert log of a node; it moved to the ADR with 12.1.0.2."""
    facts = cluster.clusterware
    version = facts.version if isinstance(facts, Clusterware) else None
    if isinstance(version, ActiveVersion) and release(version.version) < (12, 1, 0, 2):
        return shell("less $GRID_HOME/log/{node}/alert{node}.log", node=node)
    return shell("less $ORACLE_BASE/diag/crs/{node}/crs/trace/alert.log", node=node)


def _stale(cluster: Cluster, facts: Clusterware) -> Iterator[Finding]:
    for home in facts.grid_home.stale:
        yield STALE.finding(
            f"{home.named_by} on {cluster.local_node} names the Grid home {home.path}, which is not the one in use.",
            subject=f"{home.named_by} is stale",
            data={"named_by": home.named_by, "path": home.path, "path_in_use": facts.grid_home.path},
            seen=(f"{home.named_by}: {home.path}", home.reason),
            expected=(f"{facts.grid_home.path}, named by {facts.grid_home.named_by}",),
            next=[
                NextStep(
                    "Find out which home the running stack uses.",
                    ("ps -eo args | grep '[o]cssd.bin'", "cat /etc/oracle/olr.loc"),
                    f"any user on {cluster.local_node}",
                )
            ],
            evidence=[(cluster.local_node, "grid home")],
            nodes=[cluster.local_node],
        )


def _silent(cluster: Cluster, facts: Clusterware) -> Iterator[Finding]:
    answers: tuple[tuple[str, object], ...] = (
        ("olsnodes", facts.members),
        ("oifcfg getif", facts.configuration),
        ("crsctl check crs", facts.services),
        ("crsctl query crs activeversion", facts.version),
        ("crsctl get css misscount", facts.misscount_s),
    )
    for tool, answer in answers:
        if isinstance(answer, Unknown):
            yield SILENT.finding(
                f"{tool} gave no answer on {cluster.local_node}.",
                subject=f"{tool}: no answer",
                seen=(answer.reason,),
                next=[
                    NextStep(
                        "Run the command by hand as the Grid owner.",
                        (shell("{program}", program=f"{facts.grid_home.path}/bin/{tool}"),),
                    )
                ],
                evidence=[(cluster.local_node, tool)],
                nodes=[cluster.local_node],
                lacks=[answer],
            )


_NO_OHASD = "CRS-4639"
"""No daemon of Clusterware runs, so that crsctl lists no resources."""
_STOPPED = (
    "Find out whether Clusterware was stopped, and whether it starts with the node.",
    ("crsctl config crs",),
)
_IN_PART = (
    "A start takes some minutes. If it takes longer, find out which resource hangs. A node that hangs in ora.cssd "
    "STARTING often has a path that loses large frames: read the findings of df-ping.",
    ("crsctl stat res -t -init",),
)


def _services(cluster: Cluster, facts: Clusterware) -> Iterator[Finding]:
    if isinstance(facts.services, Unknown):
        return
    down = [f"{m.code}: {m.text}" for m in facts.services if not m.text.rstrip(".").endswith("is online")]
    is_stopped = any(m.code == _NO_OHASD for m in facts.services)
    if down:
        yield NOT_ONLINE.finding(
            f"The Clusterware stack is not fully online on {cluster.local_node}.",
            subject=f"{cluster.local_node}: stack not online",
            data={"services_not_online": len(down)},
            seen=down,
            expected=("Four services, all online",),
            next=[NextStep(*(_STOPPED if is_stopped else _IN_PART), f"root on {cluster.local_node}")],
            evidence=[(cluster.local_node, "crsctl check crs")],
            nodes=[cluster.local_node],
            observed=[state(NOT_ONLINE.code, cluster.local_node, condition=ConditionKind.STACK)],
        )


def _upgrading(cluster: Cluster, facts: Clusterware) -> Iterator[Finding]:
    if isinstance(facts.version, Unknown) or not isinstance(facts.version.upgrade_state, str):
        return
    if facts.version.upgrade_state != "NORMAL":
        yield UPGRADING.finding(
            f"The cluster is in the upgrade state {facts.version.upgrade_state}.",
            subject=facts.version.upgrade_state.lower(),
            data={"upgrade_state": facts.version.upgrade_state, "active_version": facts.version.version},
            seen=(f"active version {facts.version.version}, upgrade state {facts.version.upgrade_state}",),
            expected=("NORMAL",),
            next=[
                NextStep("Finish the upgrade or patch before any other change.", ("crsctl query crs activeversion -f",))
            ],
            evidence=[(cluster.local_node, "crsctl query crs activeversion")],
        )


def _inactive(cluster: Cluster, facts: Clusterware) -> Iterator[Finding]:
    if isinstance(facts.members, Unknown):
        return
    for member in facts.members:
        if member.status == "Inactive":
            yield INACTIVE.finding(
                f"{member.name} is not an active member of the cluster.",
                subject=f"{member.name} inactive",
                data={"member_status": member.status},
                seen=(f"olsnodes: {member.name} {member.status}",),
                expected=("Active",),
                next=[
                    NextStep(
                        "Find out whether the node is up, and whether CSS evicted it or Clusterware was stopped there.",
                        (shell("ssh {node} uptime", node=member.name),),
                    ),
                    NextStep(
                        "Read its Clusterware alert log for CRS-1609 and CRS-1656. The logs of the other nodes have "
                        "CRS-1607 or CRS-1632 of an eviction, CRS-1625 of a stop.",
                        (_alert_log(cluster, member.name),),
                        f"the Grid owner on {member.name}",
                    ),
                ],
                evidence=[(cluster.local_node, "olsnodes")],
                nodes=[member.name],
                observed=[
                    *heartbeats_lost(cluster, member.name),
                    state(INACTIVE.code, member.name, condition=ConditionKind.STACK),
                ],
            )
