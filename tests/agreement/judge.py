"""Judges the texts of a moment against the truth, and against what racwire had read by then."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from checks.model.cluster_event import ClusterEvent, EventKind
from checks.rules.live_events import CALM_S
from tests.agreement.claims import Claim, Clock, claims_in
from tests.agreement.places import Texts
from tests.agreement.readings import Reader
from tests.agreement.timeline import Timeline
from tests.agreement.truth import EVERY, NETWORKS, NODES, SUBNETS, Place

_ROUNDED = 1.0
"""Texts leave out the fractions of seconds."""


class Read(NamedTuple):
    """A reading of a place: what it covers, what it said (None: it could not be read), when it was known."""

    since: float
    at: float
    is_bad: bool | None
    known: float
    is_proof: bool
    began: float = float("inf")
    """When the run that made it started."""


class Edge(NamedTuple):
    """The begin or the end of an event."""

    place: Place
    at: float
    is_end: bool


_PLACES = (
    *(Place(kind, node) for kind in ("node", "stack", "instance", "loss", "setup") for node in NODES),
    *(Place(kind, node, network) for kind in ("link", "mtu") for node in NODES for network in NETWORKS),
    *(Place("path", a, network, b) for network in NETWORKS for a in NODES for b in NODES if a != b),
)
_KINDS = {
    EventKind.LINK_DOWN: "link",
    EventKind.MTU: "mtu",
    EventKind.NODE_SILENT: "node",
    EventKind.INSTANCE_DOWN: "instance",
    EventKind.INSTANCE_SILENT: "instance",
    EventKind.LOST_BLOCKS: "loss",
}
_TOUCHED = {
    "node": ("node", "stack", "instance", "loss", "setup", "link", "mtu", "path"),
    "link": ("path", "loss"),
    "mtu": ("path", "loss"),
    "instance": ("loss",),
    "loss": ("path",),
}
"""What an event can change, by the kinds of places: the judge's own table."""


def readings(timeline: Timeline, t: float, known: Sequence[Edge]) -> dict[Place, list[Read]]:
    """Return what was read of each place by a time. Of states, events are readings too."""
    found: dict[Place, list[Read]] = defaultdict(list)
    for end, reader, groups in timeline.readers:
        if end <= t:
            for place in _PLACES:
                of_run = _of_run(timeline, place, reader, groups, end)
                found[place] += (one._replace(began=reader.begin) for one in of_run)
    # A single lost block is no event: its samples count as readings from the first event on.
    noticed = {
        node: min((e.at for e in known if e.place == Place("loss", node)), default=float("inf")) for node in NODES
    }
    for at, source, since in timeline.sampled:
        if at <= t:
            _of_sample(timeline, found, at, source, since, noticed)
    for at, look in timeline.looks:
        if at <= t:
            for condition, is_bad in look:
                if condition.kind in ("stack", "node", "instance"):
                    found[Place(condition.kind, condition.node)].append(Read(at, at, is_bad, at, True))
    for node in NODES:
        found[Place("loss", node)] += _calm(timeline, node, t)
    for edge in known:
        if edge.place.kind != "loss" or edge.is_end:
            found[edge.place].append(Read(edge.at, edge.at, not edge.is_end, edge.at, False))
    return found


def _calm(timeline: Timeline, node: str, t: float) -> Iterator[Read]:
    """Yield the times in which the samples of an instance counted no lost block: shorter ones say nothing."""
    begin = at = None
    for end, source, since in timeline.sampled:
        if source != f"prod{node[3:]}" or end > t:
            continue
        if timeline.truth.lost(node, since, end) or (at is not None and since > at + 1):
            begin = None
        begin = begin if begin is not None else end if timeline.truth.lost(node, since, end) else since
        at = end
        if at - begin >= CALM_S - 0.001:
            yield Read(begin, at, False, at, False)


def _of_run(timeline: Timeline, place: Place, reader: Reader, groups: Sequence[str], end: float) -> Iterator[Read]:
    truth = timeline.truth
    is_read = place.node in reader.could_read and not truth.is_down(place.node, reader.node_times[place.node])
    # A gate does not judge it again; nor does a run that counts nothing on the node.
    judged = place.kind != "setup" or (
        "counters" in groups and not any(truth.is_down(place.node, at) for at in reader.window)
    )
    if place.kind in ("node", "link", "mtu", "setup") and "nodes" in groups and judged:
        at = reader.node_times[place.node]
        # A node that does not answer is down where Clusterware shows it inactive, too.
        down = place.kind == "node" and not is_read and not truth.has_stack(place.node, reader.times["clusterware"])
        down = down and truth.is_down(place.node, at) and "clusterware" in groups
        yield Read(at, at, True if down else truth.is_bad(place, at) if is_read else None, end, True)
    elif place.kind == "stack" and "clusterware" in groups:
        at = reader.times["clusterware"]
        yield Read(at, at, truth.is_bad(place, at), end, True)
    elif place.kind == "path" and "paths" in groups:
        at = reader.path_times[SUBNETS[place.network], place.node, place.peer]
        others = (place.node, place.peer)
        both = all(n in reader.could_read and not truth.is_down(n, reader.node_times[n]) for n in others)
        yield Read(at, at, truth.is_bad(place, at) if both else None, end, True)
    elif place.kind == "loss" and "activity" in groups:
        since, until = reader.window
        live = truth.has_stack(place.node, since) and truth.has_stack(place.node, until)
        live = live and truth.has_stack(place.node, reader.times["database"])
        yield Read(since, until, truth.lost(place.node, since, until) > 0 if live else None, end, True)


def _of_sample(
    timeline: Timeline, found: dict[Place, list[Read]], at: float, node: str, since: float, noticed: Mapping[str, float]
) -> None:
    truth = timeline.truth
    if node.startswith("prod"):
        home = f"rac{node[4:]}"
        found[Place("instance", home)].append(Read(at, at, False, at, False))
        if truth.lost(home, since, at) and at >= noticed[home]:
            found[Place("loss", home)].append(Read(since, at, True, at, False))
        return
    found[Place("node", node)].append(Read(at, at, False, at, False))
    for network in NETWORKS:
        link = Place("link", node, network)
        found[link].append(Read(at, at, truth.is_bad(link, at), at, False))


def edges(timeline: Timeline, events: Sequence[ClusterEvent], t: float) -> list[Edge]:
    """Return the begins and ends of events, as they were known."""
    wall = timeline.truth.wall
    found = []
    for event in events:
        kind = _KINDS.get(event.kind)
        for place in event.places if kind else ():
            network = int(place.interface[3:]) if place.interface else 0
            what = Place(kind or "", place.node, network)
            found.append(Edge(what, wall.steady(place.noticed, t), False))
            over = place.until if place.until is not None else event.end
            if over is not None:
                found.append(Edge(what, wall.steady(over, t), True))
    return found


def _by_first_reading(edge: Edge, read: Sequence[Read]) -> Edge:
    """Return an end as of the first reading that showed it, whoever made it; a start as of the first run that read it
    so, where that was before anybody noticed."""
    bad = max((one.since for one in read if one.is_bad), default=edge.at)
    well = [one.since for one in read if one.is_bad is False and bad < one.since < edge.at]
    if edge.is_end:
        return edge._replace(at=min(well)) if well else edge
    before = [one for one in read if one.since < edge.at]
    calm = max((one.since for one in before if one.is_bad is False), default=-1.0)
    proofs = [min(one.since, one.began) for one in before if one.is_bad and one.is_proof and one.since > calm]
    return edge._replace(at=min(proofs, default=edge.at))


def touches(what: Place, other: Place) -> bool:
    """Return whether an event there can change this place."""
    if what == other or other.kind not in _TOUCHED[what.kind]:
        return False
    if other.kind == "path":
        there = what.node in (other.node, other.peer)
        return there and (not what.network or what.network == other.network)
    return (other.kind == "loss" and what.kind in ("link", "mtu")) or what.node == other.node


def judge(timeline: Timeline, t: float, texts: Texts, events: Sequence[ClusterEvent]) -> Iterator[str]:
    """Yield what is wrong with the texts of a moment."""
    clock = Clock(timeline.truth.wall.set_by(t))
    said = list(claims_in(texts, clock))
    # Pings that end while blocks and datagrams pass are worth knowing, and no problem: a run reads them in turn.
    noted = "".join(block for block in texts["checks"] if re.match(r".\s*I df-ping", block))
    is_noted = [one.where == "paths" and one.is_alarm and one.text.split()[0] in noted for one in said]
    said = [one._replace(kind="noted") if is_so else one for one, is_so in zip(said, is_noted, strict=True)]
    yield from _first_lines(timeline, t, texts, said)
    known = edges(timeline, events, t)
    read = readings(timeline, t, known)
    known = [_by_first_reading(edge, read[edge.place]) for edge in known]
    by_place: dict[Place, list[Claim]] = defaultdict(list)
    for claim in said:
        by_place[claim.place].append(claim)
    for place in _PLACES:
        yield from _judge_place(timeline, t, place, by_place[place], read[place], known, texts)


def _first_lines(timeline: Timeline, t: float, texts: Texts, said: Sequence[Claim]) -> Iterator[str]:
    change = timeline.truth.change
    is_open = change is not None and change.is_open(t)
    if ("change " in texts["first line"][0]) != is_open:
        yield f"agreement: the change in the first line: {is_open}"
    alarms = [claim for claim in said if claim.is_alarm]
    unknown = [claim for claim in said if claim.kind in ("unknown", "open")]
    for where, blocks in texts.items():
        if any(re.search(r"No (other )?problem was found", block) for block in blocks) and (alarms or unknown):
            yield f"agreement: {where} says that no problem was found, {(alarms or unknown)[0].place} is not well"
    head = texts["export"][0].split("\n\n")[0]
    lasting = [claim for claim in said if claim.where == "events" and claim.kind == "lasts"]
    problems = [claim for claim in lasting if claim.text.splitlines()[0].rstrip()[-1] in "FW"]
    if (problems and "During an incident" not in head) or ("During an incident" in head and not lasting):
        yield f"agreement: the head of the export: {head.splitlines()[0]!r}, {[str(claim.place) for claim in lasting]}"
    marked = dict(re.findall(r"(rac\d)\*?([!?~])", texts["first line"][0]))
    # The blocks of a loss are those of all its nodes, also where it is over.
    marking = [
        c for c in alarms if not c.is_below and c.place.kind != "path" and (c.is_alone or c.place.kind != "loss")
    ]
    bad = {claim.place.node for claim in marking}
    for node in sorted(bad):
        if marked.get(node) not in ("!", "?"):
            yield f"agreement: {node} is not marked, {[str(c.place) for c in alarms if c.place.node == node]}"
    above = ""
    for block in texts["checks"]:
        if not re.match(r".  [FW] ", block):
            above = block
        elif above[:1] in "-~p" and any(c.is_alarm and c.text == block for c in said):
            cause, fault = above.splitlines()[0], block.splitlines()[1]
            yield f"agreement: an alarm is listed below a cause that is none: {cause!r}, {fault!r}"
    rows = [block for block in texts["checks"] if re.match(r".(?:  )?[FW] ", block)]
    for node, mark in marked.items():
        if mark == "!" and not any(node in row or f"prod{node[3:]}" in row for row in rows):
            yield f"agreement: {node} is marked {mark}, and no row is about it"


def _judge_place(
    timeline: Timeline, t: float, place: Place, claims: Sequence[Claim], read: Sequence[Read], known: Sequence[Edge],
    texts: Texts,
) -> Iterator[str]:  # fmt: skip
    truth = timeline.truth
    yield from _contradictions(place, claims)
    newest = max((one for one in read if one.is_bad is not None), key=lambda one: (one.since, one.at), default=None)
    for claim in claims:
        if "shown as" in claim.kind:
            yield f"agreement: the cell of {place} is {claim.kind}"
        if not claim.is_present or (claim.kind in ("lasts", "new") and not claim.is_alone):
            continue
        is_bad = claim.kind != "well"
        for edge in known:
            both = edge.place.kind == "node"
            if (
                not touches(edge.place, place)
                or not (both or edge.is_end == is_bad)
                or edge.at <= claim.as_of + _ROUNDED
            ):
                continue
            # A sentence about several places is as old as the oldest reading of any; this place may have a newer one.
            if not any(one.is_bad == is_bad and (one.since if is_bad else one.at) >= edge.at for one in read):
                yield f"stale: {place} {claim.kind} as of {claim.as_of:.0f} in {claim.where}, {edge}"
                break
        # A cause, or what passed at all places, is as old as the oldest reading; this place may have been read later.
        is_of_many = claim.is_cause or (claim.kind == "well" and claim.where == "checks")
        times = [claim.as_of, *(r.since for r in read if is_of_many and r.is_bad is is_bad and r.since >= claim.as_of)]
        if claim.is_alone and not any(_was(truth, place, at, is_bad) for at in times):
            yield f"false: {place} {claim.kind} as of {claim.as_of:.0f} in {claim.where}"
        blind = max((one.at for one in read if one.is_bad is None), default=-1.0)
        if (
            blind > claim.as_of + _ROUNDED
            and not any(r.is_bad is not None and r.at >= blind for r in read)
            and claim.is_alone
        ):
            yield f"stale: {place} {claim.kind} as of {claim.as_of:.0f} in {claim.where}, not read at {blind:.0f}"
    kinds = {claim.kind for claim in claims}
    if newest is not None and newest.is_bad and place.kind != "mtu":
        if place.kind not in ("path", "instance") and not kinds & {"bad", "new", "planned", "unknown"}:
            yield f"denied: {place} seen bad at {newest.at:.0f}, said {kinds or 'nothing'}"
        if kinds & {"well"} and not any(c.kind == "well" and c.as_of > newest.at for c in claims):
            yield f"denied: {place} seen bad at {newest.at:.0f}, said well"
        for where, blocks in texts.items():
            if not kinds & {"planned", "noted"} and any(re.search(r"No (other )?problem was found", b) for b in blocks):
                yield f"denied: {place} seen bad at {newest.at:.0f}, {where} says that no problem was found"
    if newest is not None and not newest.is_bad and kinds & {"bad", "new", "planned", "lasts"} and place.kind != "loss":
        alone = [c for c in claims if c.kind in ("bad", "new", "planned", "lasts") and c.is_alone]
        if alone:
            said = f"{alone[0].kind} in {alone[0].where} as of {alone[0].as_of:.0f}"
            yield f"over: {place} {said}, seen well at {newest.at:.0f}"
    for claim in claims:
        if claim.kind == "verified":
            proofs = [one for one in read if one.is_proof and one.is_bad is False]
            if not any(abs(one.at - claim.proved) <= _ROUNDED + 1 for one in proofs):
                yield f"proof: {place} verified {claim.proved:.0f}, proofs {[round(p.at) for p in proofs]}"
            if any(one.is_bad and one.since > claim.proved + _ROUNDED for one in read):
                yield f"proof: {place} verified {claim.proved:.0f}, was bad after it"
    yield from _plans(timeline, t, place, claims, read)


def _contradictions(place: Place, claims: Sequence[Claim]) -> Iterator[str]:
    alone = [claim for claim in claims if claim.is_alone]
    rows = {claim.kind for claim in alone if claim.where == "checks"}
    for one, other in (("bad", "was"), ("bad", "verified"), ("new", "well"), ("bad", "planned"), ("planned", "was"),
                       ("planned", "verified"), ("planned", "new"), ("bad", "well"), ("planned", "well")):  # fmt: skip
        if {one, other} <= rows:
            yield f"agreement: {place} is {one} and {other} in Checks"
    event = max((claim for claim in claims if claim.where == "events"), key=lambda c: c.since, default=None)
    if event is None or not event.is_alone:
        return
    against = {
        "lasts": {"was", "verified", "well", "planned"},
        "lasted": {"new", "planned"},
        "planned": {"bad", "new", "was", "verified", "well"},
    }
    # What was so before the event began is another story.
    rows -= {c.kind for c in alone if c.where == "checks" and c.kind in ("was", "verified") and c.until <= event.since}
    if wrong := against.get(event.kind, set[str]()) & rows:
        yield f"agreement: the event of {place} {event.kind}, Checks say {wrong}"
    for claim in alone:
        ended = claim.where == "checks" and claim.kind in ("was", "verified") and claim.until and event.kind == "lasted"
        if ended and claim.until > event.since and abs(claim.until - event.until) > _ROUNDED:
            yield f"agreement: two ends of {place}: {claim.until:.0f} in Checks, {event.until:.0f} in the events"


def _was(truth: object, place: Place, t: float, is_bad: bool) -> bool:
    """Whether a place was so within the second that a text names."""
    if place.kind == "loss":
        return any(truth.lost(place.node, t - 1, t + span) for span in (EVERY + 2, 60)) if is_bad else True
    return any(truth.is_bad(place, t + part / 10) == is_bad for part in range(11))


def _plans(timeline: Timeline, t: float, place: Place, claims: Sequence[Claim], read: Sequence[Read]) -> Iterator[str]:
    truth, change = timeline.truth, timeline.truth.change
    kind = "stack" if place.kind == "instance" else place.kind
    here = [one for one in truth.troubles if one.place == Place(kind, place.node, place.network)]
    own = [one for one in here if one.begin - EVERY <= t < one.end + EVERY]
    planned = [claim for claim in claims if claim.kind == "planned" and claim.is_alone]
    if planned and change is None:
        yield f"hidden: {place} is planned without a change"
        return
    steps = [step for step in change.steps if any(at == step.begin for at, _ in timeline.looks)] if change else []
    steps = [step for step in steps if place.node in step.nodes and kind in step.kinds]
    if planned and place.kind != "path" and not steps:
        yield f"hidden: {place} is planned, and no step stops it"
    if planned and own and all(one.excused and t >= one.excused + _ROUNDED for one in own):
        yield f"hidden: {place} is planned beyond {[one.excused for one in own]}"
    lasting = [one for one in here if one.begin <= t < one.end]
    stops = [one for one in lasting if one.excused and any(step.begin and step.begin <= one.begin for step in steps)]
    for one in stops:
        begin = max(step.begin or 0.0 for step in steps if step.begin and step.begin <= one.begin)
        is_first = all(other == one or other.end + EVERY < begin or other.begin > t for other in here)
        # Only what was read as well just before it is planned.
        was_well = any(r.is_bad is False and begin - 10 <= r.at <= one.begin for r in read)
        was_well = was_well or (kind == "stack" and not truth.is_down(place.node, begin))
        alarms = [claim for claim in claims if claim.is_alarm and claim.is_alone and claim.as_of >= one.begin]
        if is_first and was_well and alarms and t < one.excused - _ROUNDED and not truth.is_down(place.node, t):
            yield f"false alarm: {place} {alarms[0].kind} in {alarms[0].where}, planned until {one.excused:.0f}"
    strangers = [one for one in lasting if not one.excused and one.begin + 3 * EVERY < t]
    if planned and strangers and not stops and all(c.as_of >= strangers[0].begin for c in planned):
        step = max((step.begin for step in steps if step.begin), default=0.0)
        if strangers[0].begin < step - 3 * EVERY:
            yield f"hidden: {place} is planned, and fell at {strangers[0].begin} before the step of {step:.0f}"
