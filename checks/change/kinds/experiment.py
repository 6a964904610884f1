"""The experiment: one load on a test database, before and after a change of the MTU. Its request, and its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from checks.change.kinds.mtu import default_target
from checks.change.kinds.mtu_obstacles import mtu_obstacles
from checks.change.plan import codes
from checks.change.plan.change_plan import ChangeKind, Plan, PlannedDatabase, PlannedExperiment
from checks.change.plan.layers import layers_of
from checks.change.plan.obstacles import Obstacle, obstacle
from checks.change.plan.planning import PlanContext, accept, databases_of, draft_of, plan_of
from checks.change.plan.preflight import in_order
from checks.change.progress.state import ChangeError
from checks.change.steps import experiment_steps
from checks.change.steps.load_tools import LOADS
from checks.model.facts import Cluster, Database, Unknown
from checks.model.finding import NextStep
from checks.model.wording import listed


class NeedsTestDatabase:
    """A request whose plan needs the restore points of the connected database."""


@dataclass(frozen=True)
class ExperimentRequest(NeedsTestDatabase):
    """A load shall run on a test database, twice before a change of the MTU to `target` and once after it.

    `database` is the name that the operator typed. `target` is the default target of a change if it is None.
    """

    load: str
    database: str
    users: int
    think_time: str
    target: int | None = None

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan. Raises PlanError with the obstacles, ChangeError for a request that fits no cluster."""
        if self.load not in LOADS:
            raise ChangeError(f"racwire knows no load {self.load!r}: the loads are {listed(LOADS)}.")
        report = context.report
        cluster = report.cluster
        target = default_target(report) if self.target is None else self.target
        if target is None:
            raise ChangeError("racwire has no default target MTU for this cluster: specify the MTU with --to.")
        outweighed = accept(
            context, in_order((*_database_obstacles(cluster, self.database), *mtu_obstacles(report, target)))
        )
        database = next(one for one in databases_of(cluster) if _same(one.name, self.database))
        layers = layers_of(cluster, target)
        draft = draft_of(context, ChangeKind.EXPERIMENT, layers, outweighed)
        draft = replace(draft, databases=(database,), uses=())
        planned = PlannedExperiment(
            load=self.load,
            users=self.users,
            think_time=self.think_time,
            database=database.name,
            restore_point=f"RACWIRE_{context.id.replace('-', '_').upper()}",
            reads_restore_points=_reads(cluster),
            again_file=draft.baseline_file.removesuffix("-before.rec") + "-again.rec",
        )
        steps = tuple(experiment_steps.steps(draft, planned))
        goal = f"{LOADS[self.load].name} at MTU {draft.before} and {draft.after}, on {database.name}"
        plan = plan_of(context, draft, steps, outweighed, _remarks(cluster, database, planned), goal=goal)
        return msgspec.structs.replace(plan, experiment=planned)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.strip().casefold()


def _database_obstacles(cluster: Cluster, typed: str) -> Iterator[Obstacle]:
    """Yield what is wrong with the typed name of the database: this obstacle cannot be accepted."""
    known = [one.name for one in databases_of(cluster)]
    if not any(_same(name, typed) for name in known):
        found = f"the running databases are {listed(known)}" if known else "Clusterware lists no running database"
        yield obstacle(
            codes.OTHER_DATABASE,
            f"No running database of this cluster has the unique name {typed.strip()!r}: {found}.",
            NextStep("Type the DB_UNIQUE_NAME of the test database.", ("srvctl config database",)),
            title="No running database has the typed name",
        )
        return
    connected = cluster.database
    if isinstance(connected, Database) and not _same(connected.name, typed):
        yield obstacle(
            codes.OTHER_DATABASE,
            f"The connected database is {connected.name}, and the typed name is {typed.strip()!r}.",
            "Connect to the test database: --connect, or [database] of the settings file.",
            title="The connected database has another name",
        )
    if isinstance(connected, Database) and connected.role != "PRIMARY":
        yield obstacle(
            codes.NOT_PRIMARY,
            f"{connected.name} has the role {connected.role}: no load that writes can run on it.",
            "Choose a primary test database.",
            title="The database is no primary database",
        )


def _reads(cluster: Cluster) -> bool:
    """Whether both views that an experiment needs could be read."""
    changing = cluster.changing
    return not isinstance(changing, Unknown) and not any(
        isinstance(fact, Unknown) for fact in (changing.restore_points, changing.recovery_area)
    )


def _remarks(cluster: Cluster, database: PlannedDatabase, planned: PlannedExperiment) -> Iterator[str]:
    name = planned.database
    yield (
        f"For test databases only: what is written into {name} after the restore point {planned.restore_point} is "
        "lost, with each of the three flashbacks."
    )
    if not planned.reads_restore_points:
        changing = cluster.changing
        facts = [changing] if isinstance(changing, Unknown) else [changing.restore_points, changing.recovery_area]
        why = dict.fromkeys(fact.reason.rstrip(".") for fact in facts if isinstance(fact, Unknown))
        yield (
            f"The restore points and the recovery area of {name} could not be read ({listed(why)}): what they show is "
            "attested."
        )
    if len(database.instances) < 2:
        yield f"{name} has a single instance: its load sends no blocks over the interconnect, and shows no difference."
    others = [one.name for one in databases_of(cluster) if one.name != name]
    if others:
        yield (
            f"{listed(others)} also {'runs' if len(others) == 1 else 'run'} on this cluster: stop "
            f"{'it' if len(others) == 1 else 'them'}, or its load changes the result. The change of the MTU stops "
            "every database."
        )
    yield (
        "Kundersma's first experiment ran 30 minutes by its text, and 60 by its figures: 4,910,834 transactions at "
        "1,364 a second are 3,600 seconds. Record the length of each run."
    )
