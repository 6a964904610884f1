"""What a report says of its situation: the incident in its first line, how each entry stands, and the events.

A report of a run alone has a situation without events: its entries say as of when they were read. The texts are not
sanitized.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from checks.model.cluster_event import ClusterEvent
from checks.model.finding import FAULTS, Finding, Status, Table
from checks.model.report import Report
from checks.model.situation import Episode, Situation, Standing, Statement
from checks.model.wording import counted, listed
from checks.report import event_text
from checks.report.age import zone_of
from checks.report.causes import ReportEntry
from checks.report.folding import grouped_by_reason
from checks.report.standing_text import Clock, clock_in, episode_text, not_known_text, said_text

_NAMED = 3
"""The most events in the first line."""
_OVER = (Standing.WAS, Standing.VERIFIED)


class StandingLine(msgspec.Struct, frozen=True):
    """A finding that is listed apart from the problems, with how it stands."""

    finding: Finding
    said: Statement
    how: str
    """`was so until 20:21:04, verified 20:22:10`."""
    why: str = ""
    """Of what is not known any longer: `not known since eth2 of rac2 lost its link 20:18:04`."""


class StandingSection(msgspec.Struct, frozen=True):
    """The findings that stand alike."""

    title: str
    lines: tuple[StandingLine, ...]


def clock_of(report: Report) -> Clock:
    """Return the formatter of times of the situation, in the zone of the report."""
    return clock_in(zone_of(report.started_at), report.situation.at if report.situation else 0.0)


def incident_line(report: Report) -> str:
    """Return the first line of a report that is written during an incident: `During an incident: 73 blocks lost on rac1
    and rac2 since 20:18:04, as of 20:18:27.` Empty where no event lasts that is a problem and that no plan explains."""
    lasting = report.situation.lasting if report.situation else ()
    return f"During an incident: {_together(lasting, clock_of(report))}." if lasting else ""


def new_events(report: Report) -> str:
    """Return the sentence about the events that no finding is about; empty where there is none."""
    new = report.situation.new if report.situation else ()
    return f"New since the run: {listed(_worst(new, event_text.brief))}." if new else ""


def _together(episodes: Sequence[Episode], clock: Clock) -> str:
    """Return events in one line, each with its start, all as of the oldest reading."""
    parts = _worst(episodes, lambda event: f"{event_text.brief(event)} since {clock(event.start)}")
    return f"{listed(parts)}, as of {clock(min(e.as_of for e in episodes))}"


def _worst(episodes: Sequence[Episode], text: Callable[[ClusterEvent], str]) -> list[str]:
    """Return the worst events as texts, of one status the newest, and the number of the others."""
    first = sorted((e.event for e in episodes), key=lambda event: (event.status.gravity, -event.number))
    parts = [text(event) for event in first[:_NAMED]]
    return [*parts, counted(len(first) - _NAMED, "more event")] if len(first) > _NAMED else parts


# --- how the findings stand -------------------------------------------------------------------------------------------


def entry_stands(entry: ReportEntry, report: Report) -> str:
    """Return how an entry stands: `since 20:17:58, as of 20:18:04`; empty where the report has no situation."""
    return stands(entry.findings[0], entry.said, report)


def stands(finding: Finding, said: Statement | None, report: Report) -> str:
    """Return how a finding stands by a statement; empty without one."""
    if said is None or finding.status is Status.SKIPPED:
        return ""
    clock = clock_of(report)
    if (
        finding.status is Status.UNKNOWN
        and said.standing is Standing.UNKNOWN
        and not (said.outdated and said.outdated.what)
    ):
        return f"as of {clock(said.as_of)}"
    return said_text(said, clock, finding.status, can_verify=False)


def as_of_span(report: Report, findings: Iterable[Finding]) -> str:
    """Return as of when some findings are: `as of 20:18:04`, `as of 20:18:04 to 20:18:31`; empty without statements."""
    wanted = {id(finding) for finding in findings}
    times = [said.as_of for finding, said in report.stated() if said and id(finding) in wanted]
    if not times:
        return ""
    clock = clock_of(report)
    first, last = clock(min(times)), clock(max(times))
    return f"as of {first}" if first == last else f"as of {first} to {last}"


def standing_sections(report: Report) -> tuple[StandingSection, ...]:
    """Return the findings that are neither a problem of now nor as they were: those that are not known any longer, what
    a plan stopped, and what is over. Faults of the report that are not known stand with the problems instead."""
    situation = report.situation
    if situation is None:
        return ()
    stated = [(f, said) for f, said in report.stated() if said and f.status is not Status.SKIPPED and not f.waived]
    stated += [(former.finding, former.said) for former in situation.former if not former.finding.waived]
    former = {id(one.finding) for one in situation.former}
    lost = [
        (f, said)
        for f, said in stated
        if said.standing is Standing.UNKNOWN and (id(f) in former or f.status not in (*FAULTS, Status.UNKNOWN))
    ]
    planned = list(_folded([(f, said) for f, said in stated if said.standing is Standing.PLANNED]))
    over = [(f, said) for f, said in stated if said.standing in _OVER]
    clock = clock_of(report)
    parts = (("Not known any longer", lost), ("Planned", planned), ("Over", over))
    return tuple(
        StandingSection(
            title, tuple(StandingLine(f, said, stands(f, said, report), _why(said, clock)) for f, said in found)
        )
        for title, found in parts
        if found
    )


def _folded(stated: Sequence[tuple[Finding, Statement]]) -> Iterator[tuple[Finding, Statement]]:
    """Yield the findings with their statements; one stands for those that are UNKNOWN for the same reason."""
    said = {id(finding): one for finding, one in stated}
    for alike in grouped_by_reason(finding for finding, _ in stated):
        one = alike.finding
        yield (msgspec.structs.replace(one, title=alike.title) if alike.others else one), said[id(one)]


def _why(said: Statement, clock: Clock) -> str:
    return not_known_text(said, clock) if said.standing is Standing.UNKNOWN else ""


# --- events -----------------------------------------------------------------------------------------------------------


class EventLine(msgspec.Struct, frozen=True):
    """An event with its times, its peak, and how it stands."""

    start: str
    end: str
    """`lasts` and `not known` where there is none."""
    what: str
    peak: str
    extent: str
    """The peak as part of a sentence; empty where `what` has it."""
    how: str

    @property
    def text(self) -> str:
        """The event without its start, in one line."""
        return ", ".join(filter(None, (self.what, self.extent, self.how)))


def event_lines(report: Report) -> tuple[EventLine, ...]:
    """Return the events in the order of their start."""
    situation, clock = report.situation, clock_of(report)
    return tuple(_line(episode, situation, clock) for episode in situation.episodes) if situation else ()


def _line(episode: Episode, situation: Situation, clock: Clock) -> EventLine:
    event = episode.event
    end = clock(episode.until) if episode.until is not None else "not known" if episode.is_open else "lasts"
    return EventLine(
        start=clock(event.start),
        end=end,
        what=event_text.brief(event),
        peak=event_text.peak(event, situation.at),
        extent=event_text.extent(event, situation.at),
        how=episode_text(episode, clock, situation.at),
    )


def event_table(report: Report) -> Table | None:
    """Return the events as a table; None where there are none."""
    rows = tuple((e.start, e.end, e.what, e.peak, e.how) for e in event_lines(report))
    return Table(("Start", "End", "Event", "Peak", "How it stands"), rows) if rows else None


# --- in sentences -----------------------------------------------------------------------------------------------------


def standing_sentences(report: Report, *, counts_unknown: bool = True) -> Iterator[str]:
    """Yield what the reader must know apart from the problems: the events that may last, how many results are not known
    any longer, what a plan stopped, and what is over. `counts_unknown`: the headline has no such count."""
    situation = report.situation
    if situation is None:
        return
    if situation.open_events:
        yield f"Not known whether it lasts: {listed(_worst(situation.open_events, event_text.brief))}."
    if counts_unknown and (number := len(report.not_known)):
        yield f"{counted(number, 'result')} {'is' if number == 1 else 'are'} not known any longer."
    steps: Counter[str] = Counter(said.step for _, said in report.stated() if said and said.step)
    steps.update(e.step for e in situation.episodes if e.step)
    for step, _ in sorted(steps.items()):
        yield f"The step {step} of the open change explains what is listed as planned."
    over = [said for _, said in report.stated() if said and said.standing in _OVER]
    over += [one.said for one in situation.former if one.said.standing in _OVER]
    if over:
        proved = sum(said.standing is Standing.VERIFIED for said in over)
        known = (
            f", {proved} of them verified" if 0 < proved < len(over) else ", verified" if proved else ", not verified"
        )
        yield f"{counted(len(over), 'problem')} {'is' if len(over) == 1 else 'are'} over{known}."
