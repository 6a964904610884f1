"""The text of the Database screen: its sections one below the other, each with the reasons for missing figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from checks.model.facts import Activity, Cluster, Database, Fact, History, NotAsked, NotGathered, Unknown
from checks.report.load_section import TITLE, load_section
from checks.rules.receive_time import receive_limits
from tui.screens.database.history_lines import history_lines
from tui.screens.database.instance_lines import figures_of, in_order, instances_lines, names_of, serving_lines, when
from tui.screens.database.live_source import LiveFigures, by_the_checks
from tui.screens.database.pair_lines import known_pairs, lost_lines, ping_lines, time_lines
from tui.screens.database.since_run import SinceRun
from tui.screens.database.statuses import RunStatuses
from tui.text.line import Line, command_lines, cut, hanging, sanitize_line, side_by_side, wrapped
from tui.text.load_lines import load_lines
from tui.widgets.graph import Style
from tui.widgets.sorting import Sorting

_COLUMN = 84
"""Width of each of two columns of sections, at least."""


@dataclass(frozen=True)
class DatabaseFacts:
    """The facts of the sections, each group from the newest run that has it."""

    database: Database | Unknown | NotAsked
    activity: Activity | Unknown | NotAsked
    history: History | Unknown | NotAsked
    cluster: Cluster
    """The facts with the thresholds, and with what else the rules need."""
    live: LiveFigures = field(default_factory=LiveFigures)
    progress: str = ""
    """The progress of the run, while missing facts may still come."""
    style: Style = "blocks"
    held_by: str = ""
    """The source of all facts: `This recording`, `The saved state`; empty for the live cluster."""
    is_saved: bool = False
    """Whether the source has the full report of a run, and not only samples."""
    sorting: Sorting = field(default_factory=Sorting)
    """The order of the instances in all tables."""
    since_run: SinceRun | None = None
    """What the facts of the run are as of, and what does not answer now."""


@dataclass(frozen=True)
class DatabaseSection:
    """A part of the screen, under a heading of its own."""

    title: str
    lines: Sequence[Line]
    when: str = ""
    """The source and the time of the figures."""


def sections_of(known: DatabaseFacts, width: int) -> list[DatabaseSection]:
    """Return the sections; a single one with the reason where no database was queried."""
    database = known.database
    if not isinstance(database, Database):
        unanswered = known.since_run.silent_lines(width) if known.since_run else ()
        return [DatabaseSection("Database", [*unanswered, *_why_not(database, known, width)])]
    activity, live = known.activity, known.live
    statuses = RunStatuses(msgspec.structs.replace(known.cluster, database=database, activity=activity))
    since_run = known.since_run
    first = [*(since_run.silent_lines(width) if since_run else ()), *_head(database, width)]
    first += instances_lines(database, activity, live, statuses, width, known.sorting)
    if since_run:
        first += since_run.as_of_lines("Nodes, starts and versions", "database", width)
    if known.held_by and not known.is_saved:
        first += hanging([(" ", "")], "The Traffic screen (3) shows the counters of the instances.", width)
    sections = [DatabaseSection("Instances", first, when(activity, live))]
    names, pairs = names_of(database, live), known_pairs(activity, live)
    names = in_order(names, database, activity, live, known.sorting)
    if pairs is None:
        if not isinstance(activity, Activity):
            sections.append(DatabaseSection("Lost blocks, times, pings", list(_why_not(activity, known, width))))
    else:
        doubts = [line for text in pairs.doubts for line in hanging([(" ", ""), ("? ", "unknown")], text, width)]
        _, silent = figures_of(database, activity, live)
        if since_run and isinstance(activity, Activity) and live.pairs is None:
            doubts += since_run.as_of_lines("Figures", "activity", width, activity.ended_at)
        lost = [*doubts, *lost_lines(pairs, names, statuses, width, silent)]
        sections += [
            DatabaseSection("Lost blocks", lost, pairs.when),
            DatabaseSection("Receive times", list(time_lines(pairs, names, statuses, width)), pairs.when),
            DatabaseSection("Pings between instances", list(ping_lines(pairs, names, statuses, width)), pairs.when),
        ]
    if isinstance(activity, Activity):
        serving = list(serving_lines(database, activity, list(names), width))
        if since_run:
            serving[:0] = since_run.as_of_lines("Figures", "activity", width, activity.ended_at)
        sections.append(DatabaseSection("Caches and serving", serving, by_the_checks(activity)))
        load = load_section(msgspec.structs.replace(known.cluster, database=database, activity=activity))
        if load is not None:
            sections.append(DatabaseSection(TITLE, list(load_lines(load, width, margin=1)), by_the_checks(activity)))
    history = known.history
    past_lines = (
        history_lines(history, database, receive_limits(known.cluster), width, known.style)
        if isinstance(history, History)
        else list(_why_not(history, known, width))
    )
    if since_run and isinstance(history, History):
        past_lines = [*since_run.as_of_lines("Read", "history", width), *past_lines]
    return [*sections, DatabaseSection("History", past_lines)]


def column_width(width: int) -> int:
    """Return the width of a section: the whole one, or that of one of two columns."""
    return (width - 1) // 2 if width > 2 * _COLUMN else width


def page_in_columns(sections: Sequence[DatabaseSection], width: int) -> tuple[list[Line], list[int]]:
    """Return all sections in one text, in two columns where these are wide enough, and the lines where sections start.
    The sections have the width of a column."""
    half = column_width(width)
    if half == width or len(sections) < 2:
        return page_of(sections, half)
    heights = [len(section.lines) + 2 for section in sections]
    cut = min(range(1, len(sections)), key=lambda at: max(sum(heights[:at]), sum(heights[at:])))
    (left, starts), (right, more) = page_of(sections[:cut], half), page_of(sections[cut:], half)
    lines = side_by_side(left, [[("│", "faint"), *line] for line in right], half, [("│", "faint")])
    return lines, sorted({*starts, *more})


def page_of(sections: Sequence[DatabaseSection], width: int) -> tuple[list[Line], list[int]]:
    """Return all sections in one text, and the first line of each."""
    lines: list[Line] = []
    starts: list[int] = []
    for section in sections:
        if lines:
            lines.append([])
        starts.append(len(lines))
        when_ = sanitize_line(section.when)
        when_ = f"  {when_}" if when_ and len(section.title) + len(when_) + 3 <= width else ""
        lines.append([(cut(f" {section.title}", width), "title"), (when_, "faint")])
        lines += section.lines
    return lines, starts


def _head(database: Database, width: int) -> Iterator[Line]:
    versions = sorted({i.version for i in database.instances})
    version = versions[0] if len(versions) == 1 else database.version
    user = f" as {database.user}" if database.user else ""
    text = f"{database.name} {version}, {database.role.lower()}, {database.open_mode.lower()}"
    yield from hanging([(" ", "")], f"{text}; reached at {database.reached}{user}", width)
    if database.login_warning:
        yield from hanging([(" ", "")], f"The database warned at the login: {database.login_warning}", width)
    if database.in_pluggable:
        text = (
            f"Connected to the pluggable database {database.container}, not to CDB$ROOT: the figures are those that "
            "this container sees."
        )
        yield from hanging([(" ", ""), ("? ", "unknown")], text, width)


def _why_not(group: Fact, known: DatabaseFacts, width: int) -> Iterator[Line]:
    """Yield why a group of facts is missing, and the commands that help."""
    reason = group.reason if isinstance(group, Unknown | NotAsked) else ""
    if known.held_by:
        text = reason if isinstance(known.database, Database) else f"{known.held_by} contains no database. {reason}"
        yield from hanging(
            [(" ", ""), ("? ", "unknown")], text or f"{known.held_by} does not contain these facts.", width
        )
        return
    if isinstance(group, NotAsked):
        yield from hanging([(" ", "")], reason, width)
        for command in group.commands:
            yield from command_lines(command, 3, width)
        return
    if isinstance(group, NotGathered):
        text = (
            f"Being read: {sanitize_line(known.progress)}"
            if known.progress
            else "Not read: no check that ran needs it."
        )
        for line in wrapped(text, width - 1):
            yield [(f" {line}", "faint")]
        return
    yield from hanging([(" ", ""), ("? ", "unknown")], reason or "Not known.", width)
    advice = "The Checks screen (1) shows what to do; r runs the checks again."
    yield from hanging([("   ", "")], advice, width, "faint")
