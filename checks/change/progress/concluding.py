"""The result of a step's verification: findings and facts in, events for the journal out. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.gates import GATES, GateContext, watched
from checks.change.gates.built_in_checks import stood_before, weighed
from checks.change.gates.mtu_gates import DANGERS
from checks.change.plan.change_plan import Gate, Step
from checks.change.plan.planning import look_of
from checks.change.progress.change_events import (
    AnyEvent,
    GateResult,
    ObservedState,
    Reopened,
    Surprise,
    Surprised,
    Verified,
)
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change
from checks.change.progress.surprises import surprises
from checks.model.facts import (
    Activity,
    BeforeAfter,
    Cluster,
    Database,
    InstanceActivity,
    PredictedFigure,
    RecordingsCompared,
    Unknown,
)
from checks.model.finding import Finding, NextStep, Status
from checks.model.report import Report
from checks.model.wording import counted, listed
from checks.rules.cache_fusion import BLOCKS_LOST, CR_RECEIVED, CURRENT_RECEIVED


def figures_of(cluster: Cluster) -> dict[str, str | BeforeAfter]:
    """Return the measured figures with their units, by name. A comparison has figures of before and after."""
    found: dict[str, str | BeforeAfter] = dict(_of_kernels(cluster))
    if isinstance(cluster.activity, Activity):
        found |= dict(_of_instances(cluster, cluster.activity))
    compared = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.compared
    if isinstance(compared, RecordingsCompared):
        found |= compared.figures
    return found


def _predicted(cluster: Cluster) -> tuple[PredictedFigure, ...]:
    compared = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.compared
    return compared.predicted if isinstance(compared, RecordingsCompared) else ()


def _of_kernels(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if isinstance(cluster.counters, Unknown):
        return
    for change in cluster.counters.nodes:
        failed, fragments = (change.counters.value("Ip", name) for name in ("ReasmFails", "ReasmReqds"))
        if failed is not None and fragments is not None:
            yield f"reassemblies failed {change.node}", f"{failed:,} of {counted(fragments, 'fragment')}"


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
_OF_MTU = (Surprise.LIVE_CHANGE, Surprise.MTU_LOST, Surprise.REBOOTED)
_SET_MTU, _SURVIVES, _PROVE = "set-mtu", "survives-boot", "prove-paths"


def conclude(change: Change, step: Step, report: Report) -> tuple[AnyEvent, ...]:
    """Return the journal events of a step's verification: unexpected changes, gate results, reopened steps.

    Unexpected changes come first: if the run ends after the first line, the next verification reports them again, and
    none is lost.
    """
    context = GateContext(change, step)
    look = _carried_over(change.look, look_of(report.cluster, change.plan))
    own = _results(context, step.gates, report.findings)
    held = [(earlier, gate, _verified(context, gate, report.findings)) for earlier, gate in change.held(step)]
    ours = {(r.check, r.node) for r in own}
    broken = [(earlier, gate, [r for r in results if not r.holds]) for earlier, gate, results in held]
    earlier_failures = [r for _, _, results in broken for r in results if (r.check, r.node) not in ours]
    alarms = [r for r in _results(context, watched(change, step), report.findings) if r.status is Status.FAIL]
    results = (*own, *_each_once([*earlier_failures, *alarms]))
    verified = Verified(
        step=step.id,
        passed=all(r.holds for r in results),
        results=results,
        look=look,
        figures=figures_of(report.cluster),
        predicted=_predicted(report.cluster),
    )
    noticed = tuple(surprises(context, look, report))
    seen = tuple(event for event in noticed if isinstance(event, Surprised))
    return (*noticed, *_other_surprises(change, look, broken, seen), verified, *_reopened(context, broken, seen))


def results_of(
    gate: Gate, findings: Iterable[Finding], step: Step | None = None, change: Change | None = None
) -> tuple[GateResult, ...]:
    """Return the results of a gate on its nodes: one for each finding and node; none before the check has concluded.

    The screens also call this while a verification runs. `step` and `change` decide which warnings of built-in checks
    allow the next step.
    """
    context = GateContext(change, step) if change is not None and step is not None else None
    results = (r for f in findings if f.check == gate.check for r in _of_finding(context, f))
    return tuple(r for r in results if not r.node or not gate.nodes or r.node in gate.nodes)


def _results(context: GateContext, gates: Iterable[Gate], findings: Iterable[Finding]) -> tuple[GateResult, ...]:
    found = tuple(findings)
    return tuple(_each_once(r for gate in gates for r in _verified(context, gate, found)))


def _verified(context: GateContext, gate: Gate, findings: tuple[Finding, ...]) -> tuple[GateResult, ...]:
    """Return `results_of`, or an UNKNOWN result for a gate without any finding."""
    return results_of(gate, findings, context.step, context.change) or (
        GateResult(
            check=gate.check,
            status=Status.UNKNOWN,
            text="not verified",
            sentence=f"The gate {gate.check} was not verified: this version of racwire does not know it, or could not "
            "run it.",
            next=(NextStep("Use the version of racwire that opened the change, or a newer one."),),
        ),
    )


def _each_once(results: Iterable[GateResult]) -> list[GateResult]:
    return list(dict.fromkeys(results))


def _of_finding(context: GateContext | None, finding: Finding) -> Iterator[GateResult]:
    """Yield the results of a finding. A built-in check's finding about several nodes or paths gives one result."""
    is_own = finding.check in _OWN
    status = finding.status if is_own else weighed(context, finding)
    before = not is_own and stood_before(context, finding)
    together = not is_own and len(finding.nodes) != 1
    for node in ("",) if together else finding.nodes or ("",):
        yield GateResult(
            check=finding.check,
            status=status,
            text=_without(finding.subject or finding.title, node) + (", as before the change" if before else ""),
            node=node,
            sentence=finding.title + (" The same warning existed before the change." if before else ""),
            next=() if status in (Status.PASS, Status.INFO) else finding.next,
            is_danger=finding.code in DANGERS,
        )


def _without(text: str, node: str) -> str:
    """Return the short text without the node's name, for a list that has the name before it."""
    for beginning in (f"{node}: ", f"{node} "):
        if node and text.startswith(beginning):
            return text[len(beginning) :]
    return text


def _carried_over(before: ObservedState, now: ObservedState) -> ObservedState:
    """Return the new state; values that could not be read stay as before, or they would look new the next time."""
    return ObservedState(
        boot_ids={**before.boot_ids, **now.boot_ids},
        mtus={**before.mtus, **now.mtus},
        running={**before.running, **now.running},
        instances={**before.instances, **now.instances},
        carried=tuple(sorted(before.running.keys() - now.running.keys())),
        values={
            node: {**before.values.get(node, {}), **now.values.get(node, {})} for node in (*before.values, *now.values)
        },
        buffers={**before.buffers, **now.buffers},
        interconnects=now.interconnects or before.interconnects,
    )


Broken = list[tuple[Step, Gate, list[GateResult]]]
"""The gates of earlier steps that must still hold, each with its results that do not."""


def _other_surprises(
    change: Change, look: ObservedState, broken: Broken, seen: Iterable[Surprised]
) -> Iterator[Surprised]:
    """Yield an event for each gate that no longer passes, unless another event reports the same node already.

    What an earlier verification reported, and what has not changed since, is no news.
    """
    told = {event.node for event in seen}
    alarms = standing_alarms(change)
    started = {a.node for a in alarms if a.what is Surprise.STACK_STARTED and change.look.running.get(a.node)}
    lost = {a.node for a in alarms if a.what in _OF_MTU and change.look.mtus.get(a.node) == look.mtus.get(a.node)}
    reported = {"stack-down": told | started, "running-mtu": told | lost}
    for _, gate, results in broken:
        for result in (r for r in results if r.status is not Status.UNKNOWN):
            if result.node in reported.get(gate.check, ()):
                continue
            what = {"stack-down": Surprise.STACK_STARTED, "running-mtu": Surprise.MTU_LOST}.get(gate.check)
            yield Surprised(what or Surprise.OTHER, result.node, result.sentence)


def _reopened(context: GateContext, broken: Broken, seen: Iterable[Surprised]) -> Iterator[Reopened]:
    """Yield the steps whose gates do not pass any more, the earliest first. An UNKNOWN result reopens no step.

    If the MTU must be set again, prove-paths is reopened, too; if a boot lost the MTU, also survives-boot.
    """
    change, plan = context.change, context.plan
    why: dict[str, str] = {}
    for earlier, _, results in broken:
        for result in results:
            if result.status is not Status.UNKNOWN:
                why.setdefault(earlier.id, result.sentence)
    if _SET_MTU in why:
        again = {_PROVE: "The MTU must be set again; then this step must be verified again."}
        lost = {result.node for earlier, _, results in broken if earlier.id == _SET_MTU for result in results}
        if booted := [event.node for event in seen if event.what is Surprise.REBOOTED and event.node in lost]:
            again[_SURVIVES] = (
                f"After a boot, {listed(booted)} did not come back as planned: when the files are right, boot "
                f"{'it' if len(booted) == 1 else 'them'} again. A proved boot of another node need not be repeated."
            )
        for id_, reason in again.items():
            if plan.position(id_) < plan.position(context.step.id) and change.standing(plan.step(id_)).is_behind:
                why.setdefault(id_, reason)
    for step in plan.steps:
        if step.id in why:
            yield Reopened(step.id, why[step.id])
