"""Gates of an experiment about its runs: the recordings, the change between them, and the result."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.gates.gate import THEN_VERIFY, GatePlace, gate
from checks.change.gates.load_database_gates import planned_of
from checks.change.gates.recording_gates import OF_A_RECORDING, mtus_before, of_recording, why_not
from checks.change.progress.change_events import ChangeOutcome
from checks.change.progress.change_text import minute
from checks.change.steps.experiment_steps import compare_line
from checks.model.check import Kind
from checks.model.facts import JournalSeen, NoRecording, SeenRecording, Unknown
from checks.model.finding import Finding, NextStep
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
_MOST = 4


@gate("run-a-recording", question="Is run A recorded?", needs=("changing",), kinds=OF_A_RECORDING)
def run_a_recording(at: GatePlace) -> Iterator[Finding]:
    """Checks the recording of run A: it has all nodes of this cluster, is long enough, started after the experiment was
    opened, and was made at the old MTU.
    """
    opened = at.change.opened
    since = datetime.fromisoformat(opened.made_at)
    yield from of_recording(at, at.changing.before, since, mtus_before(opened), "the recording of run A")


@gate(
    "run-again-recording",
    question="Is run A recorded again, with nothing changed since?",
    needs=("changing",),
    kinds=(*OF_A_RECORDING, ALIKE, UNLIKE, ALIKE_NOT_KNOWN),
)
def run_again_recording(at: GatePlace) -> Iterator[Finding]:
    """Checks the recording of the second run before the change as that of run A; it starts after run A ended.

    It also compares the environments of the two recordings (MTUs, kernels, kernel settings, versions, parameters of the
    instances), and looks for changes of the cluster that were open meanwhile.
    """
    opened, before, again = at.change.opened, at.changing.before, at.changing.again
    since = _end(before) if isinstance(before, SeenRecording) else datetime.fromisoformat(opened.made_at)
    yield from of_recording(at, again, since, mtus_before(opened), "the recording of run A again")
    if isinstance(again, SeenRecording) and isinstance(before, SeenRecording):
        yield _alike(at, before, again)


def _alike(at: GatePlace, first: SeenRecording, second: SeenRecording) -> Finding:
    unlike, changes = at.changing.unlike, at.changing.changes
    if unknown := [fact for fact in (unlike, changes) if isinstance(fact, Unknown)]:
        what = "Whether the cluster was changed between the two runs is not known"
        return at.not_known(ALIKE_NOT_KNOWN, what, unknown[0])
    begun, end = datetime.fromisoformat(first.begun_at), _end(second)
    differences = [*unlike[:_MOST]] if isinstance(unlike, tuple) else []
    differences += [
        f"the change {one.id} ({one.headline}) was open" for one in _changes(at) if _was_open(one, begun, end)
    ]
    if not differences:
        sentence = "The environments of the two runs are alike, and no change of this cluster was open on this node."
        return at.holds(ALIKE, "nothing changed", sentence)
    return at.fails(
        UNLIKE,
        differences[0],
        f"The two runs before the change differ in more than noise: {listed(differences)}.",
        NextStep("Undo it, or accept it for all runs; then repeat both runs, and replace their recordings."),
        THEN_VERIFY,
    )


def _changes(at: GatePlace) -> list[JournalSeen]:
    """Return the changes of this cluster whose journals are on this node, as far as they are known."""
    found = at.changing.changes
    return [] if isinstance(found, Unknown) else [one for one in found if one.cluster == at.plan.cluster]


def _was_open(one: JournalSeen, begun: datetime, end: datetime) -> bool:
    closed = datetime.fromisoformat(one.closed_at) if one.closed_at else None
    return datetime.fromisoformat(one.opened_at) <= end and (closed is None or closed >= begun)


def _end(found: SeenRecording) -> datetime:
    return datetime.fromisoformat(found.begun_at) + timedelta(seconds=found.seconds)


@gate("run-b-recording", question="Is run B recorded?", needs=("changing",), kinds=OF_A_RECORDING)
def run_b_recording(at: GatePlace) -> Iterator[Finding]:
    """Checks the recording of run B: it has all nodes of this cluster, is long enough, started after the change of the
    MTU was signed off, and was made at the new MTU, which differs from that of run A.
    """
    made = _signed_off(at)
    since = datetime.fromisoformat(made[-1].closed_at if made else at.change.opened.made_at)
    mtus = {n.mtu_after for n in at.change.opened.networks}
    yield from of_recording(at, at.changing.after, since, mtus, "the recording of run B")


def _signed_off(at: GatePlace) -> list[JournalSeen]:
    """Return the changes to the planned MTU that were opened and signed off during the experiment."""
    opened = at.change.opened
    since = datetime.fromisoformat(opened.made_at)
    return [
        one
        for one in _changes(at)
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
def mtu_changed(at: GatePlace) -> Iterator[Finding]:
    """Reads the journals of changes on this node: one to the planned MTU must be signed off, which was opened after the
    experiment.
    """
    target, changes = at.change.opened.mtu_after, at.changing.changes
    elsewhere = NextStep("If its journal is on another node, copy it to this node first. Then verify again.")
    if isinstance(changes, Unknown):
        yield at.not_known(CHANGES_NOT_KNOWN, "The changes of this node are not known", changes)
    elif made := _signed_off(at):
        last = made[-1]
        sentence = f"The change {last.id} ({last.headline}) was signed off at {minute(last.closed_at)}."
        yield at.holds(CHANGED, last.id, sentence)
    elif still_open := [one for one in _changes(at) if not one.outcome]:
        last = still_open[-1]
        proceed = NextStep("Continue it to its signature.", own=(OwnCommand("status", program=CHANGE),))
        sentence = f"The change {last.id} ({last.headline}) is not signed off yet."
        yield at.fails(NOT_CHANGED, "still open", sentence, proceed, elsewhere)
    else:
        begin = NextStep("Change the MTU, with its own gates.", own=(OwnCommand("new", f"--to {target}", CHANGE),))
        sentence = f"No change to MTU {target} was opened on this node during the experiment, and signed off."
        yield at.fails(NOT_CHANGED, "no change", sentence, begin, elsewhere)


@gate(
    "experiment-result",
    question="Do the runs show what the change did?",
    needs=("changing",),
    kinds=(HAS_RESULT, NO_RESULT, RESULT),
)
def experiment_result(at: GatePlace) -> Iterator[Finding]:
    """Compares run B with run A as `racwire compare` does, with run A again as the noise.

    The gate passes where the comparison has verdicts, whichever they are: a run that shows no gain is a result. It is
    UNKNOWN if the load or the environment was different, or if there are too few samples.
    """
    opened, found = at.change.opened, at.changing.compared
    if isinstance(found, Unknown | NoRecording):
        yield at.undecided(NO_RESULT, "not compared", f"The runs could not be compared: {why_not(found)}")
        return
    line = compare_line(opened.baseline_file, opened.after_file, planned_of(at).again_file, opened.record_s)
    compare = NextStep("Read the whole comparison.", (line,))
    if found.open:
        yield at.undecided(
            NO_RESULT,
            "not comparable",
            f"The runs do not show what the change did: {' '.join(found.open)}",
            compare,
            NextStep(
                "Judge the comparison yourself, and override this gate with your reason; or start a new experiment "
                "with longer runs.",
                own=(OwnCommand("override", "--by NAME --reason TEXT"),),
            ),
        )
    else:
        yield at.holds(HAS_RESULT, "compared", "The comparison has verdicts.", compare)
    for sentence in (*(f"Worse: {text}." for text in (*found.harm, *found.worse)), *found.summary):
        yield at.remarks(RESULT, "compared", sentence)
