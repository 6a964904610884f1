"""An instance that does not answer: the one that hangs is among those that a query of all instances did not return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import WarnKind
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep
from checks.model.known_instances import database_of, nodes_of
from checks.model.observation import Fate, Observation
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.shared.grouping import named
from checks.plugins.shared.instance_text import statement_topics

HANGS = WarnKind(
    "IC-PING-008",
    "An instance does not answer",
    "An instance that hangs holds its blocks and locks: sessions of the other instances wait for it, until they time "
    "out, or it is evicted.",
    ("MOS 452358.1",),
)


def hung_instance_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding where a query of all instances did not end in time: one of those that it did not return hangs."""
    database = database_of(cluster)
    late = [one for one in database.unasked if one.is_late] if database else []
    if database is None or not late:
        return
    names = [database.instance_name(one.number) for one in late]
    one_of = listed(names, "or")
    nodes = nodes_of(cluster, [one.number for one in late])
    yield HANGS.finding(
        f"{one_of} does not answer: GV$ queries end at their time limit, and "
        f"{database.instance_name(database.connected_instance)} answers alone.",
        subject=f"{one_of} does not answer",
        data={"instances": ", ".join(names), "number_of_instances": len(names)},
        seen=(late[0].reason,),
        expected=("Every instance answers a query of GV$INSTANCE",),
        next=[
            NextStep(
                "Query v$instance as SYSDBA in each of these instances, on its own node. The one whose query does not "
                "end hangs; where each answers at once, free parallel query processes are lacking.",
                (shell("srvctl status database -d {database} -v", database=database.name),),
                f"the owner of the database's home on {named(nodes, 'node') or 'each node'}",
            ),
            NextStep(
                "If one hangs: collect what Oracle Support needs (MOS 452358.1) before the instance is restarted, and "
                "read its alert log and the CPU and memory of its node.",
                ("racwire check log-lines cpu-pressure memory-pressure",),
            ),
        ],
        evidence=statement_topics(cluster, "instances"),
        nodes=nodes,
        extent=(len(names), "instances"),
        observed=[_observed(names, nodes)],
    )


def _observed(names: Sequence[str], nodes: tuple[str, ...]) -> Observation:
    """Return the instance that hangs; the query of all instances, where it is not known which one does."""
    is_one = len(names) == 1
    return Observation(
        fate=Fate.STATE,
        what=HANGS.code,
        nodes=nodes,
        value=names[0] if is_one else None,
        condition=ConditionKind.INSTANCE if is_one else ConditionKind.DATABASE,
    )
