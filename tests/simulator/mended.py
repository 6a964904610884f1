"""Draw faults, diagnose them, mend one, and look again: what a diagnosis said against what became true."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from checks.model.facts import Cluster
from checks.model.finding import Finding, Key, keyed
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis, Place
from checks.model.report import Report
from tests.fixtures.clusters import SUBNETS
from tests.simulator.facts import facts_of
from tests.simulator.fates import second_half
from tests.simulator.faults import KINDS, NETWORKS, NEWER, Fault, Scope, before, faults, node_names
from tests.simulator.judging import findings_of, report_of
from tests.simulator.losses import Way, faulty, losses, visible

_JUMBO_SHARE = 0.75
_FOUND = (Certainty.PROVED, Certainty.SUPPORTED)
Entry = tuple[Hypothesis, ...]
NAMES = tuple(f"{SUBNETS[f'eth{number}']}/24" for number in NETWORKS)
"""The names of the private networks."""


@dataclass(frozen=True)
class Draw:
    """Faults at once, in a cluster with this MTU."""

    faults: tuple[Fault, ...]
    mtu: int
    seed: int
    nodes: int = 3

    def __str__(self) -> str:
        return f"{' + '.join(map(str, self.faults))} (MTU {self.mtu})"

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes."""
        return node_names(self.nodes)


def draws(
    count: int, many: int, seed: int, *, same_place: bool = False, nodes: int = 3, among: frozenset[str] = frozenset()
) -> list[Draw]:
    """Return so many draws of `many` faults of different kinds; `same_place`: on the same network and node.

    `among`: at least one fault of each draw is of these kinds, and the others of any kind.
    """
    rng, found = random.Random(seed), list[Draw]()
    every = sorted(KINDS if among else set(KINDS) - NEWER)
    while len(found) < count:
        mtu = 9000 if rng.random() < _JUMBO_SHARE else 1500
        kinds = rng.sample(every, many)
        if among and not among & set(kinds):
            continue
        places = [faults([kind], nodes, mtu) for kind in kinds]
        if not all(places):
            continue
        drawn = tuple(rng.choice(place) for place in places)
        if not same_place or _at_one_place(drawn):
            found.append(Draw(drawn, mtu, seed * 100_000 + len(found), nodes))
    return found


def _at_one_place(drawn: Iterable[Fault]) -> bool:
    """Return whether faults share their network and a node, as far as each has one."""
    known = tuple(drawn)
    ends = [{f.node, f.peer} - {""} for f in known if f.node]
    shared = ends[0].intersection(*ends[1:]) if ends else {""}
    return len({f.network for f in known if f.network}) <= 1 and bool(shared)


# --- whether a hypothesis is a fault ----------------------------------------------------------------------------------


def fits(hypothesis: Hypothesis, fault: Fault, draw: Draw) -> bool:
    """Return whether a hypothesis is the fault: its cause at its place."""
    return hypothesis.cause in fault.of.causes and is_at(hypothesis.place, fault, draw)


def is_at(place: Place, fault: Fault, draw: Draw) -> bool:
    """Return whether a place is that of the fault: its network, and its node among those of the place.

    A place without a network is its nodes on all of them. Where cables are crossed, the packets of a network take the
    switch and the NIC of the other one.
    """
    names = draw.names
    is_crossed = any(f.kind in ("crossed-cables", "joined-networks") for f in draw.faults)
    may_be_elsewhere = is_crossed or not place.networks
    if fault.network and NAMES[fault.network - 1] not in place.networks and not may_be_elsewhere:
        return False
    nodes = {*place.nodes, *place.to}
    if fault.of.scope is Scope.CLUSTER:
        return True
    if fault.of.scope is Scope.NETWORK:
        # One half of a network can be a single node, and of two nodes each port is the whole network.
        half = second_half(names)
        is_half = fault.kind.startswith("split") and nodes in (half, set(names) - half)
        return len(nodes) != 1 or is_half or len(names) == 2
    if fault.of.is_of_flows and not nodes:
        return True
    ends = {fault.node}
    if fault.kind in ("duplicate-address", "duplicate-mac"):
        ends.add(before(fault.node, names))
    return bool(nodes & ends) and (not place.to or not fault.peer or fault.peer in nodes)


def entries_of(diagnosis: Diagnosis) -> list[Entry]:
    """Return the entries with which the report begins: hypotheses that the evidence cannot tell apart are one."""
    found: dict[int, list[Hypothesis]] = {}
    for number, hypothesis in enumerate(diagnosis.with_standing(*_FOUND)):
        found.setdefault(hypothesis.entry or -1 - number, []).append(hypothesis)
    return [tuple(entry) for entry in found.values()]


def is_excluded(fault: Fault, diagnosis: Diagnosis) -> bool:
    """Return whether each cause that the fault may be is excluded where the fault is.

    A fault that touches no packet and whose finding is a hint is no cause yet, so that nothing is said of it.
    """
    causes = fault.of.causes
    if not causes or fault.of.is_silent:
        return False
    out = {h.cause for h in diagnosis.hypotheses if h.standing is Certainty.EXCLUDED}
    if fault.network:
        out |= {h.cause for h in diagnosis.hypotheses if NAMES[fault.network - 1] in h.excluded_on}
    return causes <= out


# --- one draw ---------------------------------------------------------------------------------------------------------


Look = Callable[[Sequence[Fault], bool], Sequence[Finding]]
"""Return the findings of a cluster with these faults only; those of what is lost for certain where the flag is set."""


@dataclass
class Trial:
    """What was right and wrong of one draw."""

    draw: Draw
    look: Look
    count: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    cpu_s: float = 0.0

    def note(self, what: str, text: str, number: int = 1) -> None:
        """Count something wrong, and say where."""
        self.count[what] += number
        self.notes.append(f"{what}: {text}")


def trial(draw: Draw) -> Trial:
    """Diagnose all faults, mend each alone, and compare."""
    began = time.process_time()
    report = report_of(_facts(draw, draw.faults))
    result = compare(draw, report, lambda left, is_lucky: findings_of(_facts(draw, left, is_lucky=is_lucky)))
    result.cpu_s = time.process_time() - began
    return result


def compare(draw: Draw, report: Report, look: Look, *, mended: int = 0) -> Trial:
    """Compare the report of all faults with what is seen when each alone is mended.

    `mended` is the number of faults for that, where a look takes long; the others are mended only if they are not
    named. 0 for all.
    """
    result = Trial(draw, look)
    entries = entries_of(report.diagnosis)
    seen = visible(report.findings, draw.names, NAMES)
    own = set[int]()
    for place, fault in enumerate(draw.faults):
        named = {number for number, entry in enumerate(entries) if any(fits(h, fault, draw) for h in entry)}
        if 0 < mended <= place and any(number < len(draw.faults) for number in named):
            result.count["named"] += bool(fault.of.causes)
            own |= named
        else:
            own |= _compare(result, report, entries, fault, seen)
    for number in range(len(entries)):
        if number not in own:
            result.note("entries of no fault", _text(entries[number]))
    result.count["draws with an entry of no fault"] = bool(result.count["entries of no fault"])
    if result.notes:
        result.notes.append(f"said: {'; '.join(map(_text, entries)) or 'nothing'}")
    return result


def _facts(draw: Draw, left: Sequence[Fault], *, is_lucky: bool = False) -> Cluster:
    return facts_of(left, nodes=draw.nodes, mtu=draw.mtu, seed=draw.seed, is_lucky=is_lucky)


def _compare(
    result: Trial, report: Report, entries: Sequence[Entry], fault: Fault, seen: frozenset[object]
) -> set[int]:
    """Compare what was said of one fault with a run after its repair; return the numbers of its entries."""
    draw, names = result.draw, result.draw.names
    rest = [f for f in draw.faults if f != fault]
    left = result.look(rest, False)
    remaining = losses(left, names, NAMES)
    by_key = dict(keyed(report.findings))
    gone = losses(faulty(report.findings), names, NAMES) - remaining
    said = [losses([by_key[key] for key in _said(entry)], names, NAMES) for entry in entries]
    own = {
        number
        for number, entry in enumerate(entries)
        if any(fits(h, fault, draw) for h in entry) or _is_all_of_it(entry, fault, gone, said[number])
    }
    hypotheses = [h for number in own for h in entries[number] if h.cause in fault.of.causes]
    if fault.of.causes:
        is_hinted = fault.of.is_silent and any(
            h.cause in fault.of.causes and h.standing in (*_FOUND, Certainty.POSSIBLE)
            for h in report.diagnosis.hypotheses
        )
        if is_hinted or any(number < len(draw.faults) for number in own):
            result.count["named"] += 1
        elif visible(left, names, NAMES) == seen:
            result.count["masked"] += 1
        else:
            result.note("missed", str(fault))
    if is_excluded(fault, report.diagnosis):
        result.note("excluded", str(fault))
    if own:
        of_own = frozenset().union(*(said[number] for number in own))
        result.count["ended"] += len(gone)
        result.count["said to end"] += len(gone & of_own)
        if unsaid := gone - of_own:
            result.notes.append(f"not said to end with {fault}: {len(unsaid)} of {len(gone)}, {_way(min(unsaid))}")
    explained = {key: losses([by_key[key]], names, NAMES) for h in hypotheses for key in h.explains}
    still = {key: ways & remaining for key, ways in explained.items() if ways & remaining}
    if still:
        certain = losses(result.look(rest, True), names, NAMES)
        for key, ways in still.items():
            if false := ways & certain:
                # What another fault hides cannot be known from any evidence: it counts apart.
                is_masked = any(
                    visible(result.look([f for f in draw.faults if f != other], False), names, NAMES) == seen
                    for other in rest
                )
                result.note(
                    "explained, and another hides" if is_masked else "false explains",
                    f"{fault} does not end {_way(min(false))} of {key[1]}",
                )
            else:
                result.count["false by chance"] += 1
    return own


def _is_all_of_it(entry: Entry, fault: Fault, gone: frozenset[Way], said: frozenset[Way]) -> bool:
    """Return whether an entry at a part of a network has all that ends with the fault of the whole network.

    Where another fault hides the rest, no packet shows more.
    """
    is_part = any(
        h.cause in fault.of.causes and NAMES[fault.network - 1] in h.place.networks for h in entry if fault.network
    )
    return fault.of.scope is Scope.NETWORK and is_part and bool(gone) and gone <= said


def _said(own: Iterable[Hypothesis]) -> set[Key]:
    return {key for h in own for key in (*h.shown_by, *h.explains, *h.in_part, *(t.finding for t in h.together))}


def _way(way: tuple[object, ...]) -> str:
    return " ".join(map(str, way[:-1])) + (" large" if way[-1] else " small")


def _text(entry: Entry) -> str:
    def one(h: Hypothesis) -> str:
        place = h.place.text or " ".join((*h.place.networks, *h.place.nodes))
        return f"{h.cause}{'' if h.standing is Certainty.PROVED else '?'} {place}"

    return " or ".join(map(one, entry[:3]))


# --- many draws -------------------------------------------------------------------------------------------------------


@dataclass
class Totals:
    """The sums of many draws."""

    trials: list[Trial]

    def __getitem__(self, what: str) -> int:
        return sum(t.count[what] for t in self.trials)

    @property
    def faults(self) -> int:
        """The faults that have a cause."""
        return self["named"] + self["masked"] + self["missed"]

    @property
    def missed_percent(self) -> float:
        """Faults that were neither named nor masked."""
        return 100 * self["missed"] / max(1, self.faults)

    @property
    def draws_of_no_fault_percent(self) -> float:
        """Draws with an entry that is none of their faults."""
        return 100 * self["draws with an entry of no fault"] / max(1, len(self.trials))

    @property
    def said_percent(self) -> float:
        """The lossy ways that ended with a named fault and were said to be its own, of all that ended with it."""
        return 100 * self["said to end"] / self["ended"] if self["ended"] else 100.0

    @property
    def notes(self) -> list[str]:
        """A line for each draw with something wrong."""
        return [f"{t.draw} | {' | '.join(t.notes)}" for t in self.trials if t.notes]

    def table(self, title: str) -> list[str]:
        """Return the table of the sums."""
        row = {
            "draws": title,
            "named": f"{self['named']} of {self.faults}",
            "masked": self["masked"],
            "missed": f"{self['missed']} ({self.missed_percent:.1f} %)",
            "entry of no fault": f"{self['entries of no fault']} in {self.draws_of_no_fault_percent:.0f} % of draws",
            "excluded though true": self["excluded"],
            "false explains": self["false explains"],
            "one masked": self["explained, and another hides"],
            "by chance": self["false by chance"],
            "ended and said": f"{self['said to end']} of {self['ended']} ({self.said_percent:.0f} %)",
            "CPU a draw": f"{1000 * sum(t.cpu_s for t in self.trials) / max(1, len(self.trials)):.0f} ms",
        }
        return [f"| {' | '.join(row)} |", f"|{'---|' * len(row)}", f"| {' | '.join(map(str, row.values()))} |"]


@cache
def totals(
    count: int, many: int, seed: int, *, same_place: bool = False, nodes: int = 3, among: frozenset[str] = frozenset()
) -> Totals:
    """Return the sums of so many draws; see `draws`."""
    drawn = draws(count, many, seed, same_place=same_place, nodes=nodes, among=among)
    return Totals([trial(draw) for draw in drawn])
