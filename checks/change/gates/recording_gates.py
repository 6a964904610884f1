"""Gates: what was recorded before and after the change, and what the two say side by side."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.change_events import RolledBack, Verified
from checks.change.change_plan import Plan
from checks.change.change_text import minute
from checks.change.gates.gate import LOOK_AGAIN, GateContext, gate, whole
from checks.change.steps.recording_commands import RECORD
from checks.change.steps.recording_commands import compare as compare_line
from checks.model.check import Kind
from checks.model.facts import Cluster, NoRecording, SeenRecording, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import lasting, listed

WHOLE = Kind("CH-RECORD-001", "A recording covers what the plan asks for")
NOT_THERE = Kind("CH-RECORD-002", "A recording that the plan asks for is not there")
LACKING = Kind(
    "CH-RECORD-003",
    "A recording does not cover what the plan asks for",
    "What the change did can only be told from two recordings of the same load, of all nodes, each long enough.",
)
UNREADABLE = Kind("CH-RECORD-004", "A recording cannot be read")
IDLE = Kind(
    "CH-RECORD-005",
    "Hardly anything went over the private networks while it was recorded",
    "An idle interconnect shows neither what jumbo frames gain nor what a fault costs.",
)
NO_HARM = Kind("CH-COMPARE-001", "Nothing that a change of MTU must not harm got worse")
HARM = Kind(
    "CH-COMPARE-002",
    "After the change more is lost, fails, or takes longer",
    "Losses, failed reassemblies, errors and longer receive times are what jumbo frames are to mend.",
    ("MOS 563566.1",),
)
CANNOT_COMPARE = Kind("CH-COMPARE-003", "The two recordings do not tell what the change did")
SAID = Kind("CH-COMPARE-004", "What the comparison says besides")

_OLDEST_BASELINE = timedelta(days=7)
"""So old a baseline may be when the plan is made: the same hour of the week before. Ours."""
_SAMPLED = 0.9
_STARTING_S = 3.0
"""So long it may take until a peer is found and sampled: in a short recording that is more than a tenth. Ours."""
_IDLE_BYTES_PER_S = 100_000
"""Under this all nodes together are called idle: 100 KB/s is some 12 blocks a second. Ours."""


@gate(
    "baseline-recording",
    question="Is there a recording of before the change?",
    needs=("changing",),
    kinds=(WHOLE, NOT_THERE, LACKING, UNREADABLE, IDLE),
)
def baseline_recording(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Looks whether the recording that the plan names is there: of all nodes, long enough, not older than a week
    before the plan, and made at the MTU of before.
    """
    if isinstance(cluster.changing, Unknown):
        return
    since = datetime.fromisoformat(scene.change.opened.made_at) - _OLDEST_BASELINE
    opened = scene.change.opened
    # Nodes that disagree are what a change may be for: each had what it had.
    mtus = {n.mtu_before for n in opened.networks} | {one.mtu_before for one in opened.layers if one.role == "port"}
    yield from _judged(scene, cluster.changing.before, since, mtus, "before")


@gate(
    "after-recording",
    question="Is there a recording of after the change?",
    needs=("changing",),
    kinds=(WHOLE, NOT_THERE, LACKING, UNREADABLE, IDLE),
)
def after_recording(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Looks whether the second recording is there: of all nodes, long enough, begun when the cluster was up again, and
    made at the new MTU.
    """
    if isinstance(cluster.changing, Unknown):
        return
    since = datetime.fromisoformat(_up_again_at(scene))
    yield from _judged(scene, cluster.changing.after, since, {n.mtu_after for n in scene.plan.networks}, "after")


def _up_again_at(scene: GateContext) -> str:
    """When all paths had been proved: what runs since then runs with the new MTU."""
    for line in reversed(scene.change.lines):
        if isinstance(line.event, RolledBack):
            break
        if isinstance(line.event, Verified) and line.event.step == "prove-paths":
            return line.at
    return scene.plan.made_at


def _judged(
    scene: GateContext, found: SeenRecording | NoRecording | Unknown, since: datetime, mtus: set[int], when: str
) -> Iterator[Finding]:
    then = Remedy("Then look again.", (LOOK_AGAIN,))
    if isinstance(found, NoRecording):
        yield NOT_THERE.finding(
            Status.FAIL,
            f"There is no recording {found.path} on this node yet.",
            subject="not recorded",
            next=[Remedy("Record it under the usual load, as this step says.", ("racwire change next",)), then],
        )
        return
    again = [Remedy("Record it again under the usual load, over the one that is there.", _over_again(scene)), then]
    if isinstance(found, Unknown):
        yield UNREADABLE.finding(
            Status.UNKNOWN,
            f"The recording of {when} the change cannot be read: {whole(found.reason)}",
            subject="not readable",
            next=again,
        )
        return
    lacking = list(_lacking(scene.plan, found, since, mtus))
    if lacking:
        yield LACKING.finding(
            Status.FAIL,
            f"The recording of {when} the change does not do: {listed(said for _, said in lacking)}.",
            subject=lacking[0][0],
            next=again,
        )
        return
    yield WHOLE.finding(
        Status.PASS,
        f"{found.path} holds {lasting(found.seconds)} of {listed(scene.plan.nodes)}, begun {minute(found.begun_at)}.",
        subject=lasting(found.seconds),
    )
    moved = sum(found.private_bytes_per_s.values())
    if moved < _IDLE_BYTES_PER_S:
        yield IDLE.finding(
            Status.INFO,
            f"The private networks were nearly idle then: {moved / 1000:,.0f} KB/s on all nodes together.",
            subject="idle",
            next=[Remedy("Record under load, best the same load before and after.")],
        )


def _lacking(plan: Plan, found: SeenRecording, since: datetime, mtus: set[int]) -> Iterator[tuple[str, str]]:
    """What speaks against it: a few words, and the end of a sentence."""
    if datetime.fromisoformat(found.begun_at) < since:
        yield "too old", f"it was begun {minute(found.begun_at)}, and must be begun after {minute(since.isoformat())}"
    # Samples are a second or more apart: what was asked for, less one of them, is all that `--for` records.
    if found.seconds < 0.95 * plan.record_s - 1:
        yield lasting(found.seconds), f"it holds {lasting(found.seconds)}, and {lasting(plan.record_s)} are asked for"
    for node in plan.nodes:
        share = found.sampled.get(node, 0.0)
        if share < _SAMPLED and (1 - share) * found.seconds > _STARTING_S:
            yield f"{node} missing", f"{node} was sampled during {100 * share:.0f} % of it"
    for node in plan.nodes:
        seen = sorted({mtu for values in found.mtus.get(node, {}).values() for mtu in values})
        if node in found.sampled and not seen:
            yield "MTU not told", f"which MTU {node} had does not stand in it"
        elif wrong := [mtu for mtu in seen if mtu not in mtus]:
            yield f"{node} at {wrong[0]}", f"{node} had MTU {listed(map(str, wrong))} in it"


@gate(
    "comparison",
    question="Is nothing lost, failing or slower than before?",
    needs=("changing",),
    kinds=(NO_HARM, HARM, CANNOT_COMPARE, SAID),
)
def comparison(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the two recordings as `racwire compare` does. Losses, lost blocks, failed reassemblies, errors and
    receive times that got worse by more than noise are a failure; what else got worse, CPU time, is told. Where the
    load or the environment was not the same, or the samples are too few, that is said: then nothing is proved.
    """
    found = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.compared
    if isinstance(found, Unknown | NoRecording):
        why = whole(found.reason) if isinstance(found, Unknown) else f"{found.path} is not on this node."
        yield CANNOT_COMPARE.finding(
            Status.UNKNOWN, f"The recordings could not be compared: {why}", subject="not compared"
        )
        return
    compare = Remedy(
        "See the whole comparison.",
        (compare_line(scene.change.opened.baseline_file, scene.plan.after_file, scene.plan.record_s),),
    )
    again = [
        Remedy(
            "Record the second one again, under the same load as the first, over the one that is there.",
            _over_again(scene),
        ),
        Remedy(
            "If it stays so, weigh what the comparison shows, and go past this gate with the reason: the first one "
            "cannot be made again.",
            ("racwire change override --by NAME --reason TEXT",),
        ),
    ]
    if found.harm:
        yield HARM.finding(
            Status.FAIL,
            f"Worse than before the change: {listed(found.harm)}.",
            subject=found.harm[0],
            next=[compare, Remedy("Find the cause, or go back: the way back leads from here.")],
        )
    elif found.open:
        yield CANNOT_COMPARE.finding(
            Status.UNKNOWN,
            f"The recordings do not tell what the change did: {' '.join(found.open)}",
            subject="cannot tell",
            next=[compare, *again],
        )
    else:
        yield NO_HARM.finding(
            Status.PASS,
            "Nothing that a change of MTU must not harm got worse by more than noise.",
            subject="no harm",
            next=[compare],
        )
    said = [*(f"Worse: {text}." for text in found.worse), *found.summary]
    for sentence in said:
        yield SAID.finding(Status.INFO, sentence, subject="compared")


def _over_again(scene: GateContext) -> tuple[str, ...]:
    """The step's own line that records, for a file that is there already."""
    lines = [line for block in scene.step.commands for line in block.lines if line.startswith(f"{RECORD} ")]
    return tuple(line.replace(RECORD, f"{RECORD} --force", 1) for line in lines)
