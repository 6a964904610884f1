"""Mutants: each drops one update from a source of the situation or of its texts, and the timelines must show it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_OURS = ("checks", "tui", "tests.agreement")


class Mutant(NamedTuple):
    """A source with one update dropped."""

    what: str
    module: str
    old: str
    """It occurs once in the source."""
    new: str
    seed: int
    """A timeline that shows it."""


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Replace the functions and classes of the module, wherever they were imported, until the end."""
    module = importlib.import_module(mutant.module)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text()
    assert source.count(mutant.old) == 1, f"{mutant.what}: {source.count(mutant.old)} times in {mutant.module}"
    before = dict(vars(module))
    exec(compile(source.replace(mutant.old, mutant.new), module.__file__, "exec"), vars(module))
    fresh = {
        id(old): vars(module)[name]
        for name, old in before.items()
        if getattr(old, "__module__", None) == mutant.module and vars(module)[name] is not old
    }
    imported = [
        (other, name, old)
        for other in [*sys.modules.values()]
        if other is not module and getattr(other, "__name__", "").startswith(_OURS)
        for name, old in vars(other).items()
        if id(old) in fresh
    ]
    for other, name, old in imported:
        setattr(other, name, fresh[id(old)])
    try:
        yield
    finally:
        vars(module).update(before)
        for other, name, old in imported:
            setattr(other, name, old)


_CONDITION = "checks.situation.condition_standing"
_FINDING = "checks.situation.finding_standing"
_SITUATION = "checks.situation.at_moment"
_EDGES = "checks.situation.edges"
_SEEN = "checks.situation.condition_readings"
_HISTORY = "checks.situation.run_history"
_MARKS = "checks.situation.marks"
_KNOWN = "checks.situation.events.known_events"
_MATRICES = "checks.report.matrices_now"
_TEXT = "checks.report.standing_text"
_CAUSES = "checks.report.causes"
_EVENT = "checks.report.event_text"
_LIST = "tui.console.check_list"
_ROWS = "tui.console.finding_rows"

MUTANTS = (
    Mutant("the newest reading does not decide", _CONDITION, "    last = known[-1]\n", "    last = known[0]\n", 11),
    Mutant("samples prove", _CONDITION, "proofs = [one for one in streak if one.is_proof]", "proofs = streak", 11),
    Mutant(
        "nothing is planned",
        _CONDITION,
        'planned_by(condition, known, start, stops, now) if last.is_bad else ""',
        '""',
        11,
    ),
    Mutant("a step has no longest time", _CONDITION, "now < stop.begin + stop.most_s and ", "", 4),
    Mutant(
        "a begin does not outdate what was well",
        _EDGES,
        "or not (edge.condition.kind.is_silence or edge.is_end == is_bad):",
        "or not (edge.condition.kind.is_silence or (edge.is_end and is_bad)):",
        24,
    ),
    Mutant(
        "an end does not outdate what was bad",
        _EDGES,
        "or not (edge.condition.kind.is_silence or edge.is_end == is_bad):",
        "or not (edge.condition.kind.is_silence or not (edge.is_end or is_bad)):",
        11,
    ),
    Mutant(
        "a silence outdates one way only",
        _EDGES,
        "edge.condition.kind.is_silence or edge.is_end == is_bad",
        "edge.is_end == is_bad",
        1,
    ),
    Mutant("events outdate nothing", _EDGES, "if edge.at <= as_of or not", "if True or not", 11),
    Mutant(
        "gates are not used",
        _HISTORY,
        "        if is_part and self.report is None:",
        "        if record.is_gate or (is_part and self.report is None):",
        11,
    ),
    Mutant(
        "a rerun of a part is not used",
        _HISTORY,
        "        if is_part and self.report is None:",
        "        if record.checks or (is_part and self.report is None):",
        449,
    ),
    Mutant(
        "a rerun of a part replaces the whole run",
        _HISTORY,
        "return judged_again(old, record, checks), {",
        "return (record.report if record.checks else judged_again(old, record, checks)), {",
        90,
    ),
    Mutant(
        "runs do not read conditions",
        _HISTORY,
        "read = (*readings_in(own, judged_first, shows, seen), ",
        "read = (*(), ",
        65,
    ),
    Mutant(
        "a clock that is set moves runs",
        _HISTORY,
        "            if by_s:\n                yield time, by_s",
        "            if False:\n                yield time, by_s",
        11,
    ),
    Mutant("a finding is as old as its run", _SEEN, "        if begins:\n", "        if False:\n", 65),
    Mutant(
        "a condition is as old as its finding",
        _SEEN,
        "self._of_condition(finding, condition, entries) or entries",
        "entries",
        47,
    ),
    Mutant("a count is dated by its end", _SEEN, "return self.since if self.is_bad else self.at", "return self.at", 14),
    Mutant(
        "samples are not used",
        _SITUATION,
        "chain(_of_runs(known), _of_looks(known), known.sampled)",
        "chain(_of_runs(known), _of_looks(known))",
        11,
    ),
    Mutant(
        "runs are not used",
        _SITUATION,
        "chain(_of_runs(known), _of_looks(known), known.sampled)",
        "chain(_of_looks(known), known.sampled)",
        65,
    ),
    Mutant(
        "the journal of the change is not used",
        _SITUATION,
        "chain(_of_runs(known), _of_looks(known), known.sampled)",
        "chain(_of_runs(known), known.sampled)",
        12,
    ),
    Mutant(
        "an event has its own end",
        _SITUATION,
        "if own and len(over) == len(own) == len(event.conditions):",
        "if False:",
        65,
    ),
    Mutant("an event of a silent node lasts", _SITUATION, "is_open=not step", "is_open=False", 12),
    Mutant(
        "an event at a further place is not new",
        _SITUATION,
        "has_finding=shown.issuperset(_lasting(event)),",
        "has_finding=not shown.isdisjoint(event.conditions),",
        24,
    ),
    Mutant(
        "a pass outlives what samples show",
        _FINDING,
        "                if (live.as_of if is_own else live.since) > read:\n",
        "                if False:\n",
        16,
    ),
    Mutant(
        "a pass is new though it is older than what it shows",
        _FINDING,
        "(live.as_of if is_own else live.since) > read",
        "live.since > read",
        14,
    ),
    Mutant(
        "a fault stands by its run alone",
        _FINDING,
        "        if live:\n            return _together(live, said)",
        "        if False:\n            return _together(live, said)",
        11,
    ),
    Mutant(
        "a cell keeps its letter",
        _FINDING,
        "        if outdated := self._edges.outdating(path, as_of, is_bad=is_bad):\n",
        "        if outdated := None:\n",
        11,
    ),
    Mutant("the matrix reads the run alone", _MATRICES, "if situation is None or so_far is not None:", "if True:", 11),
    Mutant(
        "what is noticed later is used",
        _KNOWN,
        "for event in moved if event.noticed <= now]",
        "for event in moved]",
        24,
    ),
    Mutant(
        "an end that is noticed later is used",
        _KNOWN,
        "if event.end_noticed is not None and event.end_noticed <= now:",
        "if event.end_noticed is not None:",
        12,
    ),
    Mutant("marks leave out events", _MARKS, "(*_of_events(situation), *of_findings,", "(*of_findings,", 90),
    Mutant("marks leave out findings", _MARKS, "*_of_events(situation), *of_findings,", "*_of_events(situation),", 11),
    Mutant("a cause that is over explains", _MARKS, '(explained if sign == "!" else not_explained)', "explained", 11),
    Mutant(
        "Checks leave out what is new",
        _LIST,
        "(*self.situation.new, *self.situation.open_events)",
        "self.situation.open_events",
        24,
    ),
    Mutant(
        "Checks leave out events that may last",
        _LIST,
        "(*self.situation.new, *self.situation.open_events)",
        "self.situation.new",
        67,
    ),
    Mutant("Checks keep the standings of the run", _LIST, "said=said.get(key))", "said=None)", 11),
    Mutant(
        "a fault is hidden below a cause that is over",
        _ROWS,
        "if below := [row for row in own if row.section >= least]:",
        "if below := [*own]:",
        11,
    ),
    Mutant(
        "planned is an alarm in the words",
        _TEXT,
        "planned by the step {said.step}, as of",
        "since {clock(said.since)}, as of",
        11,
    ),
    Mutant(
        "a run replaces what a gate read meanwhile",
        _HISTORY,
        "for gates in self._gates_after(record):",
        "for gates in ():",
        449,
    ),
    Mutant("a run proves over what it did not count", _HISTORY, "losing <= {*counting}", "True", 781),
    Mutant(
        "a cause keeps the sentence of what is over",
        _CAUSES,
        'first.headline in ("", *over)',
        "not first.headline",
        499,
    ),
    Mutant(
        "an event that lasts names where it is over",
        _EVENT,
        "return lasting if event.kind in _STANDING and lasting and not event.is_over else event.places",
        "return event.places",
        280,
    ),
    Mutant("a plan hides a place that is not known", _SITUATION, 'step = "" if why else next(', "step = next(", 213),
    Mutant("an unread node keeps its interfaces", _SITUATION, "if condition.kind in OF_INTERFACES:", "if False:", 622),
    Mutant("an event that may last is said to last", _TEXT, "    if episode.is_open:\n", "    if False:\n", 12),
)
