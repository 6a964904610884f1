"""Gates of an experiment about its runs: the recordings, the change between them, and the result."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.gates.gate import THEN_VERIFY, GateContext, gate, whole
from checks.change.gates.load_database_gates import planned_of
from checks.change.gates.recording_gates import IDLE, LACKING, NOT_THERE, UNREADABLE, WHOLE, judged
from checks.change.progress.change_events import ChangeOutcome
from checks.change.progress.change_text import minute
from checks.change.steps.experiment_steps import compare_line
from checks.model.check import Kind
from checks.model.facts import (
    Changing,
    Cluster,
    JournalSeen,
    NoRecording,
    NotGathered,
    RecordingsCompared,
    SeenRecording,
    Unknown,
)
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import CHANGE, OwnCommand
from checks.model.wording import listed

ALIKE = Kind("CH-RUN-001", "Nothing but the load ran between the two runs before the change")
UNLIKE = Kind(
    "CH-RUN-002",
    "The cluster was changed between the two runs before the change",
    "The two runs at the same MTU show the noise. A change between them would be taken for noise.",
)
ALIKE_NOT_KNOWN = Kind("CH-RUN-003", "Whether the cluster was changed between two runs is not known")
CHANGED = Kind("CH-RUN-004", "The change of the MTU is signed off")
NOT_CHANGED = Kind(
    "CH-RUN-005",
    "The change of the MTU is not signed off",
    "A run after a change that is not proved measures something else: a path that drops large packets, or an MTU that "
    "only some nodes have.",
)
CHANGES_NOT_KNOWN = Kind("CH-RUN-006", "The changes of this node are not known")
HAS_RESULT = Kind("CH-RUN-007", "The runs show what the change of the MTU did")
NO_RESULT = Kind("CH-RUN-008", "The runs do not show what the change of the MTU did")
RESULT = Kind("CH-RUN-009", "The results of the comparison of the runs")
_OF_A_RECORDING = (WHOLE, NOT_THERE, LACKING, UNREADABLE, IDLE)
_MOST = 4


@gate("run-a-recording", question="Is run A recorded?", needs=("changing",), kinds=_OF_A_RECORDING)
def run_a_recording(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks the recording of run A: it has all nodes of this cluster, is long enough, started after the experiment was
    opened, and was made at the old MTU.
    """
    if not isinstance(cluster.changing, Unknown):
        opened = datetime.fromisoformat(context.change.opened.made_at)
        yield from judged(context, cluster.changing.before, opened, _mtus_before(context), "the recording of run A")


@gate(
    "run-again-recording",
    question="Is run A recorded again, with nothing changed since?",
    needs=("changing",),
    kinds=(*_OF_A_RECORDING, ALIKE, UNLIKE, ALIKE_NOT_KNOWN),
)
def run_again_recording(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks the recording of the second run before the change as that of run A; it starts after run A ended.

    It also compares the environments of the two recordings (MTUs, kernels, kernel settings, versions, parameters of the
    instances), and looks for changes of the cluster that were open meanwhile.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    since = _end(changing.before) or datetime.fromisoformat(context.change.opened.made_at)
    yield from judged(context, changing.again, since, _mtus_before(context), "the recording of run A again")
    if isinstance(changing.again, SeenRecording) and isinstance(changing.before, SeenRecording):
        yield from _alike(context, changing, changing.before, changing.again)


def _alike(context: GateContext, changing: Changing, first: SeenRecording, second: SeenRecording) -> Iterator[Finding]:
    unknown = [fact for fact in (changing.unlike, changing.changes) if isinstance(fact, Unknown)]
    if unknown:
        yield ALIKE_NOT_KNOWN.finding(
            Status.UNKNOWN,
            f"Whether the cluster was changed between the two runs is not known: {whole(unknown[0].reason)}",
            subject="not known",
        )
        return
    unlike = changing.unlike if isinstance(changing.unlike, tuple) else ()
    begun, end = datetime.fromisoformat(first.begun_at), _end(second) or datetime.fromisoformat(second.begun_at)
    meanwhile = [one for one in _changes(context, changing) if _was_open(one, begun, end)]
    if unlike or meanwhile:
        what = [*unlike[:_MOST], *(f"the change {one.id} ({one.headline}) was open" for one in meanwhile)]
        yield UNLIKE.finding(
            Status.FAIL,
            f"The two runs before the change differ in more than noise: {listed(what)}.",
            subject=what[0],
            next=[
                NextStep("Undo it, or accept it for all runs; then repeat both runs, and replace their recordings."),
                THEN_VERIFY,
            ],
        )
    else:
        yield ALIKE.finding(
            Status.PASS,
            "The environments of the two runs are alike, and no change of this cluster was open on this node.",
            subject="nothing changed",
        )


def _changes(context: GateContext, changing: Changing) -> tuple[JournalSeen, ...]:
    found = changing.changes if isinstance(changing.changes, tuple) else ()
    return tuple(one for one in found if one.cluster == context.plan.cluster)


def _was_open(one: JournalSeen, begun: datetime, end: datetime) -> bool:
    closed = datetime.fromisoformat(one.closed_at) if one.closed_at else None
    return datetime.fromisoformat(one.opened_at) <= end and (closed is None or closed >= begun)


def _end(found: SeenRecording | NoRecording | Unknown | NotGathered) -> datetime | None:
    """Return the end of a recording; None where there is none."""
    if not isinstance(found, SeenRecording):
        return None
    return datetime.fromisoformat(found.begun_at) + timedelta(seconds=found.seconds)


def _mtus_before(context: GateContext) -> set[int]:
    opened = context.change.opened
    return {n.mtu_before for n in opened.networks} | {one.mtu_before for one in opened.layers if one.role == "port"}


@gate("run-b-recording", question="Is run B recorded?", needs=("changing",), kinds=_OF_A_RECORDING)
def run_b_recording(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks the recording of run B: it has all nodes of this cluster, is long enough, started after the change of the
    MTU was signed off, and was made at the new MTU, which differs from that of run A.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    made = _signed_off(context, changing)
    since = datetime.fromisoformat(made[-1].closed_at if made else context.change.opened.made_at)
    mtus = {n.mtu_after for n in context.change.opened.networks}
    yield from judged(context, changing.after, since, mtus, "the recording of run B")


def _signed_off(context: GateContext, changing: Changing) -> list[JournalSeen]:
    """Return the changes to the planned MTU that were opened and signed off during the experiment."""
    opened = context.change.opened
    since = datetime.fromisoformat(opened.made_at)
    return [
        one
        for one in _changes(context, changing)
        if one.outcome == ChangeOutcome.SIGNED_OFF
        and one.mtu_after == opened.mtu_after
        and datetime.fromisoformat(one.opened_at) >= since
    ]


@gate(
    "mtu-changed",
    question="Is the change of the MTU signed off?",
    needs=("changing",),
    kinds=(CHANGED, NOT_CHANGED, CHANGES_NOT_KNOWN),
)
def mtu_changed(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads the journals of changes on this node: one to the planned MTU must be signed off, which was opened after the
    experiment.
    """
    target = context.change.opened.mtu_after
    changing = cluster.changing
    changes = changing if isinstance(changing, Unknown) else changing.changes
    if isinstance(changing, Unknown) or isinstance(changes, Unknown):
        assert isinstance(changes, Unknown)
        yield CHANGES_NOT_KNOWN.finding(
            Status.UNKNOWN, f"The changes of this node are not known: {whole(changes.reason)}", subject="not known"
        )
        return
    if made := _signed_off(context, changing):
        last = made[-1]
        yield CHANGED.finding(
            Status.PASS,
            f"The change {last.id} ({last.headline}) was signed off at {minute(last.closed_at)}.",
            subject=last.id,
        )
        return
    is_open = [one for one in _changes(context, changing) if not one.outcome]
    if is_open:
        sentence = f"The change {is_open[-1].id} ({is_open[-1].headline}) is not signed off yet."
        remedy = NextStep("Continue it to its signature.", own=(OwnCommand("status", program=CHANGE),))
    else:
        sentence = f"No change to MTU {target} was opened on this node during the experiment, and signed off."
        remedy = NextStep("Change the MTU, with its own gates.", own=(OwnCommand("new", f"--to {target}", CHANGE),))
    yield NOT_CHANGED.finding(
        Status.FAIL,
        sentence,
        subject="still open" if is_open else "no change",
        next=[
            remedy,
            NextStep("If its journal is on another node, copy it to this node first. Then verify again."),
        ],
    )


@gate(
    "experiment-result",
    question="Do the runs show what the change did?",
    needs=("changing",),
    kinds=(HAS_RESULT, NO_RESULT, RESULT),
)
def experiment_result(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares run B with run A as `racwire compare` does, with run A again as the noise.

    The gate passes where the comparison has verdicts, whichever they are: a run that shows no gain is a result. It is
    UNKNOWN if the load or the environment was different, or if there are too few samples.
    """
    opened = context.change.opened
    found = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.compared
    line = compare_line(opened.baseline_file, opened.after_file, planned_of(context).again_file, opened.record_s)
    compare = NextStep("Read the whole comparison.", (line,))
    if not isinstance(found, RecordingsCompared):
        why = f"{found.path} is not on this node." if isinstance(found, NoRecording) else whole(found.reason)
        yield NO_RESULT.finding(Status.UNKNOWN, f"The runs could not be compared: {why}", subject="not compared")
        return
    if found.open:
        yield NO_RESULT.finding(
            Status.UNKNOWN,
            f"The runs do not show what the change did: {' '.join(found.open)}",
            subject="not comparable",
            next=[
                compare,
                NextStep(
                    "Judge the comparison yourself, and override this gate with your reason; or start a new experiment "
                    "with longer runs.",
                    own=(OwnCommand("override", "--by NAME --reason TEXT"),),
                ),
            ],
        )
    else:
        yield HAS_RESULT.finding(Status.PASS, "The comparison has verdicts.", subject="compared", next=[compare])
    moved = (*(f"Worse: {text}." for text in found.harm), *(f"Worse: {text}." for text in found.worse))
    for sentence in (*moved, *found.summary):
        yield RESULT.finding(Status.INFO, sentence, subject="compared")
