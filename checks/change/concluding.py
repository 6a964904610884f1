"""What comes of a look at a step: findings and facts in, events for the journal out. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.change_events import AnyEvent, GateResult, ObservedState, Reopened, Surprise, Surprised, Verified
from checks.change.change_plan import Gate, Step
from checks.change.gates import GATES, GateContext, watched
from checks.change.gates.built_in_checks import stood_before, weighed
from checks.change.planning import look_of
from checks.change.state import Change
from checks.change.surprises import surprises
from checks.change.written_steps import written
from checks.model.facts import Activity, BeforeAfter, Cluster, Database, InstanceActivity, RecordingsCompared, Unknown
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.wording import counted
from checks.rules.cache_fusion import BLOCKS_LOST, CR_RECEIVED, CURRENT_RECEIVED


def figures_of(cluster: Cluster) -> dict[str, str | BeforeAfter]:
    """Each by its name, with its unit; what was not measured is not there. A comparison has both times at once."""
    found: dict[str, str | BeforeAfter] = dict(_of_kernels(cluster))
    if isinstance(cluster.activity, Activity):
        found |= dict(_of_instances(cluster, cluster.activity))
    compared = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.compared
    if isinstance(compared, RecordingsCompared):
        found |= compared.figures
    return found


def _of_kernels(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if isinstance(cluster.counters, Unknown):
        return
    for change in cluster.counters.nodes:
        failed, asked = (change.counters.value("Ip", name) for name in ("ReasmFails", "ReasmReqds"))
        if failed is not None and asked is not None:
            yield f"reassemblies failed {change.node}", f"{failed:,} of {counted(asked, 'fragment')}"


def _of_instances(cluster: Cluster, activity: Activity) -> Iterator[tuple[str, str]]:
    def name(number: int) -> str:
        database = cluster.database
        return database.instance_name(number) if isinstance(database, Database) else f"instance {number}"

    for own in activity.instances:
        if isinstance(own, InstanceActivity) and BLOCKS_LOST in own.statistics:
            received = sum(own.statistics.get(statistic, 0) for statistic in (CR_RECEIVED, CURRENT_RECEIVED))
            yield (
                f"gc blocks lost {name(own.instance)}",
                f"{own.statistics[BLOCKS_LOST]:,} of {counted(received, 'block')} in {own.seconds:.0f} s",
            )
    for ping in () if isinstance(activity.pings, Unknown) else activity.pings:
        if ping.instance == ping.target:
            continue
        for size, average_us in (("500 B", ping.average_500b_us), ("8 KB", ping.average_8k_us)):
            if average_us is not None:
                yield f"IC ping {size} {name(ping.instance)} -> {name(ping.target)}", f"{average_us / 1000:.2f} ms"


_OWN = frozenset(gate.id for gate in GATES)
_SET_MTU, _SURVIVES, _PROVE = "set-mtu", "survives-boot", "prove-paths"


def conclude(change: Change, step: Step, report: Report) -> tuple[AnyEvent, ...]:
    """What the journal is to hold of a look at that step, in its order: how the cluster changed under the change, what
    the gates said, which earlier steps have to be done again.

    Surprises stand first: were the run to end after the first line, the next look would tell them once more, and
    none is lost.
    """
    scene = GateContext(change, step)
    look = _carried_over(change.look, look_of(report.cluster, change.plan))
    own = _results(scene, step.gates, report.findings)
    held = [(earlier, gate, _looked_at(scene, gate, report.findings)) for earlier, gate in change.held(step)]
    ours = {(r.check, r.node) for r in own}
    broken = [(earlier, gate, [r for r in results if not r.holds]) for earlier, gate, results in held]
    told = [r for _, _, results in broken for r in results if (r.check, r.node) not in ours]
    alarms = [r for r in _results(scene, watched(change, step), report.findings) if r.status is Status.FAIL]
    results = (*own, *_each_once([*told, *alarms]))
    verified = Verified(
        step=step.id,
        passed=all(r.holds for r in results),
        results=results,
        look=look,
        figures=figures_of(report.cluster),
    )
    seen = tuple(surprises(scene, look, report))
    return (*seen, *_other_surprises(broken, seen), verified, *_reopened(scene, broken, seen))


def results_of(
    gate: Gate, findings: Iterable[Finding], step: Step | None = None, change: Change | None = None
) -> tuple[GateResult, ...]:
    """What the check of a gate found, on the nodes that the gate is about: one result for each finding and node.

    For what is shown while a look goes on, too; nothing where the check has not concluded. The step that is looked at
    and the change decide which warnings of built-in checks hold.
    """
    scene = GateContext(change, step) if change is not None and step is not None else None
    results = (r for f in findings if f.check == gate.check for r in _of_finding(scene, f))
    return tuple(r for r in results if not r.node or not gate.nodes or r.node in gate.nodes)


def _results(scene: GateContext, gates: Iterable[Gate], findings: Iterable[Finding]) -> tuple[GateResult, ...]:
    found = tuple(findings)
    return tuple(_each_once(r for gate in gates for r in _looked_at(scene, gate, found)))


def _looked_at(scene: GateContext, gate: Gate, findings: tuple[Finding, ...]) -> tuple[GateResult, ...]:
    """As `results_of`; a gate of which nothing was said was not proved."""
    return results_of(gate, findings, scene.step, scene.change) or (
        GateResult(
            check=gate.check,
            status=Status.UNKNOWN,
            text="not looked at",
            sentence=f"The gate {gate.check} was not looked at: this racwire does not know it, or it could not be run.",
            next=("Use the racwire that the change was begun with, or a newer one.",),
        ),
    )


def _each_once(results: Iterable[GateResult]) -> list[GateResult]:
    return list(dict.fromkeys(results))


def _of_finding(scene: GateContext | None, finding: Finding) -> Iterator[GateResult]:
    """A built-in check tells several nodes together where one thing is so of them all, or of the paths between them:
    so does its result."""
    is_own = finding.check in _OWN
    status = finding.status if is_own else weighed(scene, finding)
    before = not is_own and stood_before(scene, finding)
    together = not is_own and len(finding.nodes) != 1
    for node in ("",) if together else finding.nodes or ("",):
        yield GateResult(
            check=finding.check,
            status=status,
            text=_without(finding.subject or finding.title, node) + (", as before the change" if before else ""),
            node=node,
            sentence=finding.title + (" It was so before the change." if before else ""),
            next=() if status in (Status.PASS, Status.INFO) else tuple(written(finding.next)),
        )


def _without(text: str, node: str) -> str:
    """The few words for a list that has the node's name before them."""
    for beginning in (f"{node}: ", f"{node} "):
        if node and text.startswith(beginning):
            return text[len(beginning) :]
    return text


def _carried_over(before: ObservedState, now: ObservedState) -> ObservedState:
    """What of a node could not be read now stands as it was: else it would be news the next time."""
    return ObservedState(
        boot_ids={**before.boot_ids, **now.boot_ids},
        mtus={**before.mtus, **now.mtus},
        running={**before.running, **now.running},
    )


Broken = list[tuple[Step, Gate, list[GateResult]]]
"""The gates of earlier steps that must still hold, each with what does not."""


def _other_surprises(broken: Broken, seen: Iterable[Surprised]) -> Iterator[Surprised]:
    """What was proved and is no more, beyond what is told of the node already."""
    told = {event.node for event in seen}
    for _, gate, results in broken:
        for result in (r for r in results if r.status is not Status.UNKNOWN):
            if result.node in told and gate.check in ("running-mtu", "stack-down"):
                continue
            what = {"stack-down": Surprise.STACK_STARTED, "running-mtu": Surprise.MTU_LOST}.get(gate.check)
            yield Surprised(what or Surprise.OTHER, result.node, result.sentence)


def _reopened(scene: GateContext, broken: Broken, seen: Iterable[Surprised]) -> Iterator[Reopened]:
    """The steps whose proof is gone, the earliest first. Not knowing takes no proof away.

    Where the MTU has to be set again, every path has to be proved again; and where it was a boot that lost it, a boot
    has to show again that it is kept.
    """
    change, plan = scene.change, scene.plan
    why: dict[str, str] = {}
    for earlier, _, results in broken:
        for result in results:
            if result.status is not Status.UNKNOWN:
                why.setdefault(earlier.id, result.sentence)
    if _SET_MTU in why:
        again = [_PROVE]
        if any(event.what is Surprise.REBOOTED for event in seen):
            again.append(_SURVIVES)
        for id_ in again:
            if plan.position(id_) < plan.position(scene.step.id) and change.standing(plan.step(id_)).is_behind:
                why.setdefault(id_, "The MTU has to be set again; then this has to be proved again.")
    for step in plan.steps:
        if step.id in why:
            yield Reopened(step.id, why[step.id])
