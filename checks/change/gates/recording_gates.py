"""Gates: are the recordings before and after the change complete, and what does their comparison show?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.gates.gate import THEN_VERIFY, GatePlace, gate, whole
from checks.change.plan.change_plan import Plan
from checks.change.progress.change_events import RolledBack, Verified
from checks.change.progress.change_text import minute
from checks.change.steps.recording_commands import RECORD
from checks.change.steps.recording_commands import compare as compare_line
from checks.model.check import Kind
from checks.model.facts import NoRecording, SeenRecording, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.own_command import OwnCommand
from checks.model.wording import lasting, listed

WHOLE = Kind("CH-RECORD-001", "A recording meets the requirements of the plan")
NOT_THERE = Kind("CH-RECORD-002", "A recording that the plan requires is missing")
LACKING = Kind(
    "CH-RECORD-003",
    "A recording does not meet the requirements of the plan",
    "The effect of the change is visible only in two recordings of the same load, of all nodes, each long enough.",
)
UNREADABLE = Kind("CH-RECORD-004", "A recording cannot be read")
IDLE = Kind(
    "CH-RECORD-005",
    "The private networks were nearly idle during a recording",
    "An idle interconnect shows neither the gain of jumbo frames nor the cost of a fault.",
)
NO_HARM = Kind("CH-COMPARE-001", "Losses, errors and receive times did not get worse after the change")
HARM = Kind(
    "CH-COMPARE-002",
    "Losses, errors or receive times are worse after the change",
    "Jumbo frames must reduce losses, failed reassemblies, errors and receive times, not increase them.",
    ("MOS 563566.1",),
)
CANNOT_COMPARE = Kind("CH-COMPARE-003", "The two recordings do not show the effect of the change")
COMPARED = Kind("CH-COMPARE-004", "Other results of the comparison")

_OLDEST_BASELINE = timedelta(days=7)
"""The maximum age of a baseline when the plan is made: the same hour of the week before. Chosen by racwire."""
_SAMPLED = 0.9
_STARTING_S = 3.0
"""The accepted time until a peer is found and sampled: more than 10 % of a short recording. Chosen by racwire."""
_IDLE_BYTES_PER_S = 100_000
"""Below this sum over all nodes a recording is idle: 100 KB/s is about 12 blocks of 8 KB/s. Chosen by racwire."""
OF_A_RECORDING = (WHOLE, NOT_THERE, LACKING, UNREADABLE, IDLE)


@gate(
    "baseline-recording",
    question="Is there a recording from before the change?",
    needs=("changing",),
    kinds=OF_A_RECORDING,
)
def baseline_recording(at: GatePlace) -> Iterator[Finding]:
    """Checks the first recording of the plan: it has all nodes, is long enough, is at most a week older than the plan,
    and was made at the old MTU.
    """
    since = datetime.fromisoformat(at.change.opened.made_at) - _OLDEST_BASELINE
    mtus = mtus_before(at.change.opened)
    yield from of_recording(at, at.changing.before, since, mtus, "the recording from before the change")


def mtus_before(opened: Plan) -> set[int]:
    """Return the old MTUs that a recording may have: a change may fix nodes with different ones."""
    return {n.mtu_before for n in opened.networks} | {one.mtu_before for one in opened.layers if one.role == "port"}


@gate(
    "after-recording",
    question="Is there a recording from after the change?",
    needs=("changing",),
    kinds=OF_A_RECORDING,
)
def after_recording(at: GatePlace) -> Iterator[Finding]:
    """Checks the second recording of the plan: it has all nodes, is long enough, started after the paths were proved,
    and was made at the new MTU.
    """
    since = datetime.fromisoformat(_up_again_at(at))
    mtus = {n.mtu_after for n in at.plan.networks}
    yield from of_recording(at, at.changing.after, since, mtus, "the recording from after the change")


def _up_again_at(at: GatePlace) -> str:
    """Return the time of the last verification of prove-paths: later recordings have the new MTU."""
    for line in reversed(at.change.lines):
        if isinstance(line.event, RolledBack):
            break
        if isinstance(line.event, Verified) and line.event.step == "prove-paths":
            return line.at
    return at.plan.made_at


def of_recording(
    at: GatePlace, found: SeenRecording | NoRecording | Unknown, since: datetime, mtus: set[int], which: str
) -> Iterator[Finding]:
    """Yield the findings of a recording that must have started after `since`, at one of these MTUs.

    `which` is its name for a sentence: `the recording from before the change`.
    """
    which_upper = f"{which[:1].upper()}{which[1:]}"
    if isinstance(found, NoRecording):
        sentence = f"There is no recording {found.path} on this node yet."
        record = NextStep("Record the usual load with the command of this step.", own=(OwnCommand("next"),))
        yield at.fails(NOT_THERE, "not recorded", sentence, record, THEN_VERIFY)
        return
    again = NextStep("Record the usual load again, and replace the existing recording.", _record_again(at))
    if isinstance(found, Unknown):
        sentence = f"{which_upper} cannot be read: {at.because(found)}"
        yield at.undecided(UNREADABLE, "not readable", sentence, again, THEN_VERIFY)
        return
    if lacking := dict(_lacking(at.plan, found, since, mtus)):
        sentence = f"{which_upper} does not meet the plan: {listed(lacking)}."
        yield at.fails(LACKING, next(iter(lacking.values())), sentence, again, THEN_VERIFY)
        return
    length = lasting(found.seconds)
    sentence = f"{found.path} holds {length} of {listed(at.plan.nodes)}, started at {minute(found.begun_at)}."
    yield at.holds(WHOLE, length, sentence)
    moved = sum(found.private_bytes_per_s.values())
    if moved < _IDLE_BYTES_PER_S:
        yield at.remarks(
            IDLE,
            "idle",
            f"The private networks were nearly idle during {which}: {moved / 1000:,.0f} KB/s on all nodes together.",
            NextStep("Record under load. Use the same load before and after the change."),
        )


def _lacking(plan: Plan, found: SeenRecording, since: datetime, mtus: set[int]) -> Iterator[tuple[str, str]]:
    """Yield each unmet requirement: the end of a sentence, and a short text for the list."""
    if datetime.fromisoformat(found.begun_at) < since:
        yield f"it started at {minute(found.begun_at)}, and must start after {minute(since.isoformat())}", "too old"
    # Samples are a second or more apart: `--for` records the requested time less one sample.
    if found.seconds < 0.95 * plan.record_s - 1:
        length = lasting(found.seconds)
        yield f"it holds {length}, and the plan requires {lasting(plan.record_s)}", length
    if found.cluster and found.cluster != plan.cluster:
        yield f"it is of the cluster {found.cluster}, and the plan is of {plan.cluster}", "another cluster"
    for node in plan.nodes:
        share = found.sampled.get(node, 0.0)
        if share < _SAMPLED and (1 - share) * found.seconds > _STARTING_S:
            yield f"{node} was sampled during {100 * share:.0f} % of the recording", f"{node} missing"
    for node in plan.nodes:
        seen = sorted({mtu for values in found.mtus.get(node, {}).values() for mtu in values})
        if node in found.sampled and not seen:
            yield f"it does not contain the MTU of {node}", "MTU missing"
        elif wrong := [mtu for mtu in seen if mtu not in mtus]:
            yield f"{node} had MTU {listed(map(str, wrong))} during the recording", f"{node} at {wrong[0]}"


@gate(
    "comparison",
    question="Are losses, errors and receive times no worse than before the change?",
    needs=("changing",),
    kinds=(NO_HARM, HARM, CANNOT_COMPARE, COMPARED),
)
def comparison(at: GatePlace) -> Iterator[Finding]:
    """Compares the two recordings as `racwire compare` does.

    The gate fails if losses, lost blocks, failed reassemblies, errors or receive times got worse by more than noise.
    Other figures that got worse, such as CPU time, are only reported. The gate is UNKNOWN if the load or the
    environment was different, or if there are too few samples: then nothing is proved.
    """
    found = at.changing.compared
    if isinstance(found, Unknown | NoRecording):
        yield at.undecided(CANNOT_COMPARE, "not compared", f"The recordings could not be compared: {why_not(found)}")
        return
    compare = NextStep(
        "Read the whole comparison.",
        (compare_line(at.change.opened.baseline_file, at.plan.after_file, at.plan.record_s),),
    )
    if found.harm:
        yield at.fails(
            HARM,
            found.harm[0],
            f"Worse than before the change: {listed(found.harm)}.",
            compare,
            NextStep("Find the cause.")
            if at.plan.node
            else NextStep("Find the cause, or roll back from this step.", own=(OwnCommand("rollback"),)),
        )
    elif found.open:
        yield at.undecided(
            CANNOT_COMPARE,
            "not comparable",
            f"The recordings do not show the effect of the change: {' '.join(found.open)}",
            compare,
            NextStep(
                "Record again under the same load as in the first recording, and replace the second recording.",
                _record_again(at),
            ),
            NextStep(
                "If the gate still does not pass, judge the comparison yourself and override this gate with your "
                "reason: the recording from before the change cannot be repeated.",
                own=(OwnCommand("override", "--by NAME --reason TEXT"),),
            ),
        )
    else:
        sentence = "Losses, errors and receive times did not get worse by more than noise after the change."
        yield at.holds(NO_HARM, "no harm", sentence, compare)
    for sentence in (*(f"Worse: {text}." for text in found.worse), *found.summary):
        yield at.remarks(COMPARED, "compared", sentence)


def why_not(found: Unknown | NoRecording) -> str:
    """Return why recordings could not be compared."""
    return whole(found.reason) if isinstance(found, Unknown) else f"{found.path} is not on this node."


def _record_again(at: GatePlace) -> tuple[str, ...]:
    """Return the lines of the step that record, with --force to replace an existing file."""
    lines = [line for block in at.context.step.commands for line in block.lines if line.startswith(f"{RECORD} ")]
    return tuple(line.replace(RECORD, f"{RECORD} --force", 1) for line in lines)
