"""How a statement of the situation reads: what holds as of when, what is over, what is not known since when, and why.

The only place with the words of standings; screens, reports and exports use it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo

from checks.model.condition import Condition, ConditionKind
from checks.model.finding import Status
from checks.model.situation import Episode, Outdated, Standing, Statement

Clock = Callable[[float], str]
"""Formats a time: `20:18:04`, with the date where that is not today's."""

_BEGINS = {
    ConditionKind.NODE: "{} stopped answering",
    ConditionKind.STACK: "Clusterware on {} stopped",
    ConditionKind.INSTANCE: "{} stopped answering",
    ConditionKind.DATABASE: "the database stopped answering",
    ConditionKind.LINK: "{} lost its link",
    ConditionKind.SPEED: "the speed of {} changed",
    ConditionKind.MTU: "the MTU of {} changed",
    ConditionKind.PATH: "the path {} failed",
    ConditionKind.LOST_BLOCKS: "{} lost blocks",
    ConditionKind.REASSEMBLY: "reassembly failed on {}",
    ConditionKind.RECEIVE_BUFFERS: "receive buffers of {} were full",
    ConditionKind.CHECKSUMS: "checksums were wrong on {}",
    ConditionKind.BACKLOG: "{} dropped packets",
    ConditionKind.NIC_DROPS: "{} dropped packets",
    ConditionKind.NIC_ERRORS: "{} counted errors",
    ConditionKind.SETUP: "the setup of {} changed",
}
_ENDS = {
    ConditionKind.NODE: "{} answered again",
    ConditionKind.STACK: "Clusterware on {} started again",
    ConditionKind.INSTANCE: "{} answered again",
    ConditionKind.DATABASE: "the database answered again",
    ConditionKind.LINK: "{} got its link back",
    ConditionKind.SPEED: "the speed of {} changed back",
    ConditionKind.MTU: "the MTU of {} changed back",
    ConditionKind.LOST_BLOCKS: "the loss on {} ended",
}
_ENDED = "the trouble on {} ended"


def clock_in(zone: tzinfo | None, now: float) -> Clock:
    """Return a formatter of times in that zone; a time of another day than `now` has its date."""
    today = datetime.fromtimestamp(now, zone).date()

    def text(at: float) -> str:
        moment = datetime.fromtimestamp(at, zone)
        return f"{moment:%H:%M:%S}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M:%S}"

    return text


def said_text(said: Statement, clock: Clock, status: Status | None = None, *, can_verify: bool = True) -> str:
    """Return a statement in a few words: `since 20:17:58, as of 20:18:04`; `was so until 20:21:04; v proves it`.

    `status` is that of the finding. `can_verify` says whether a key of the screen verifies it."""
    since, as_of = clock(said.since), clock(said.as_of)
    match said.standing:
        case Standing.WAS:
            proof = "; v proves it" if can_verify else ", not verified"
            return f"was so until {clock(said.until or said.as_of)}{proof}"
        case Standing.VERIFIED:
            was = "over" if said.until is None else f"was so until {clock(said.until)}"
            return f"{was}, verified {clock(said.proved or said.as_of)}"
        case Standing.PLANNED:
            return f"planned by the step {said.step}, as of {as_of}"
        case Standing.UNKNOWN:
            look = "; v looks" if can_verify else ""
            return f"{_then(said, status, clock)}{not_known_text(said, clock)}{look}"
        case Standing.NEW:
            return f"new since the run: since {since}" + (f", as of {as_of}" if as_of != since else "")
    if said.unknown:
        return f"as of {as_of}, {said.unknown} of {said.of} not known since then"
    return f"since {since}, as of {as_of}" if said.is_bad and since != as_of else f"as of {as_of}"


def brief_standing(said: Statement, clock: Clock) -> str:
    """Return the standing of a statement for a row of a list: `not known since 20:21:04`; empty for one that holds."""
    match said.standing:
        case Standing.HOLDS:
            return ""
        case Standing.NEW:
            return f"since {clock(said.since)}"
        case Standing.PLANNED:
            return f"planned by the step {said.step}"
        case Standing.UNKNOWN:
            return f"not known since {clock(said.outdated.at if said.outdated else said.as_of)}"
    if said.proved is None:
        return f"was so until {clock(said.until or said.as_of)}"
    return f"{'over' if said.until is None else f'until {clock(said.until)}'}, verified {clock(said.proved)}"


def outcome_text(said: Statement | None, clock: Clock) -> str:
    """Return what became of what a run verified; None where the list does not have it any more."""
    if said is None:
        return "Verified: the run does not find it any more"
    match said.standing:
        case Standing.VERIFIED:
            return f"Verified {clock(said.proved or said.as_of)}: it is over"
        case Standing.WAS:
            return f"Over since {clock(said.until or said.as_of)}, not yet proved"
        case Standing.UNKNOWN:
            how = "Not verified:" if said.until is None else f"Verified {clock(said.as_of)},"
            return f"{how} {not_known_text(said, clock)}"
        case Standing.PLANNED:
            return f"Not verified: planned by the step {said.step}"
    return f"Not fixed: it is still so, as of {clock(said.as_of)}"


def _then(said: Statement, status: Status | None, clock: Clock) -> str:
    """Return what it was when it was read last: `FAIL at 20:18:04, `; `over at 20:18:31, ` where that was proved."""
    if said.until is not None:
        return f"over at {clock(said.until)}, "
    if status in (None, Status.UNKNOWN):
        return ""
    part = f"{said.unknown} of {said.of} " if 0 < said.unknown < said.of else ""
    return f"{status} at {clock(said.as_of)}, {part}"


def not_known_text(said: Statement, clock: Clock) -> str:
    """Return why something is not known: `not known since eth2 of rac2 lost its link 20:18:04`."""
    why = said.outdated
    if why is None:
        return f"not known since {clock(said.as_of)}"
    if why.what is None:
        return f"could not be read at {clock(why.at)}"
    return f"not known since {changed_text(why)} {clock(why.at)}"


def changed_text(why: Outdated) -> str:
    """Return what changed: `rac2 answered again`, `eth2 of rac2 lost its link`."""
    what = why.what
    if what is None:
        return "it could not be read"
    words = _ENDS.get(what.kind, _ENDED) if why.is_end else _BEGINS[what.kind]
    return words.format(place_of(what))


def place_of(what: Condition) -> str:
    """Return the place of a condition: `eth2 of rac2`, `prac2`, `rac1 -> rac2 on 192.168.11.0/24`."""
    if what.kind is ConditionKind.PATH:
        on = f" on {what.item}" if what.item else ""
        return f"{what.node} -> {what.peer}{on}"
    if what.kind is ConditionKind.INSTANCE:
        return what.item or what.node
    return f"{what.item} of {what.node}" if what.item else what.node or "the nodes"


def episode_text(episode: Episode, clock: Clock, now: float) -> str:
    """Return how an event stands, in a few words: `lasts, as of 20:18:04`, `until 20:21:04, verified 20:22:10`; of a
    count that pauses its last sign: `last 20:18:04`."""
    from checks.report.event_text import pauses  # late: the first screen has no event

    if episode.step:
        return f"planned by the step {episode.step}, as of {clock(episode.as_of)}"
    if episode.is_open:
        return f"not known whether it lasts, as of {clock(episode.as_of)}"
    if episode.until is None and pauses(episode.event, now):
        return f"last {clock(episode.event.last_sign)}"
    if episode.until is None:
        return f"lasts, as of {clock(episode.as_of)}"
    proof = f", verified {clock(episode.proved)}" if episode.proved is not None else ""
    return f"until {clock(episode.until)}{proof}"
