"""The pane at the right of the nodes in a very wide terminal: the matrix of lost blocks, the nodes by what they lost,
and what the time axis marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.wording import span
from checks.rules.lost_blocks import lost_of_sent
from checks.traffic.samples import Gap, InstanceSample
from checks.traffic.source_id import PAIRS, SourceId
from tui.screens.database.figures import Value, count
from tui.screens.database.live_source import PAIRS_S, pairs_of
from tui.screens.database.statuses import sampled_pairs
from tui.screens.database.table import Cells, pairs_lines
from tui.screens.traffic.all_nodes_lines import nodes_in_order, trouble_figures
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.rate_history import RateWindow, node_series
from tui.screens.traffic.time_axis import TimeAxis
from tui.text.line import Line, fitted, hanging, sanitize_line, width_of, wrapped
from tui.text.node_names import fitted_names
from tui.widgets.sorting import Sorting

LEAST_WIDTH = 170
"""Columns of the terminal from which the pane is displayed."""
WIDTH = 50
_MOST_MARKS, _MOST_NODES, _MOST_NAME = 12, 8, 8


def with_side_pane(lines: Sequence[Line], pane: Sequence[Line], width: int, height: int) -> list[Line]:
    """Return the lines, filled up to `width` columns, with the pane at their right over the whole height."""
    rows = max(len(lines), height)
    found: list[Line] = []
    for number in range(rows):
        line = lines[number] if number < len(lines) else []
        beside = pane[number] if number < len(pane) else []
        found.append([*line, (" " * (width - width_of(line)), ""), ("│", "faint"), *beside])
    return found


def side_pane(window: RateWindow, places: KnownNodes, axis: TimeAxis) -> list[Line]:
    """Return the lines of the pane."""
    return [*_lost(window), [], *_nodes(window, places), [], *_marks(axis)]


def _lost(window: RateWindow) -> Iterator[Line]:
    events = window.events.get(PAIRS, ())
    begin = window.stretch.end - PAIRS_S
    pairs = pairs_of([event for event in events if event.at > begin])
    yield [(" Blocks lost, by receiver and sender", "title")]
    if pairs is None:
        reason = next((event.reason for event in reversed(events) if isinstance(event, Gap)), "no sample yet")
        yield from hanging([(" ? ", "unknown")], sanitize_line(reason), WIDTH - 1)
        return
    found = {(t.receiver, t.sender): t for t in pairs.transfers if t.receiver != t.sender}
    lost, sent = lost_of_sent(sampled_pairs(pairs))
    text = f" {count(lost)} lost of {count(sent)} sent in {span(pairs.seconds)}"
    yield [(fitted(text, WIDTH - 1), "fail" if lost else "")]
    samples = (events[-1] for events in window.events.values() if events)
    names = {sample.number: sample.instance for sample in samples if isinstance(sample, InstanceSample)}
    names |= {number: f"instance {number}" for pair in found for number in pair if number not in names}
    values = {pair: Value(count(t.lost), role="fail" if t.lost else "") for pair, t in found.items()}
    yield from pairs_lines(("to", "from"), dict(sorted(names.items())), (Cells(values),), WIDTH - 1)


def _nodes(window: RateWindow, places: KnownNodes) -> Iterator[Line]:
    """Yield the nodes that lost most in the time of the graphs, with what they lose now."""
    if any(SourceId.node(node) not in window.events for node in places.nodes):
        return
    yield [(" Nodes, those that lost most first", "title")]
    name = min(max(len(sanitize_line(node)) for node in places.nodes), _MOST_NAME)
    every = list(places.nodes)
    shown = dict(zip(every, fitted_names([sanitize_line(node) for node in every], name), strict=True))
    for node in nodes_in_order(window, places, Sorting("lost"))[:_MOST_NODES]:
        start: Line = [(f" {fitted(shown[node], name)}", "")]
        if trouble := node_series(window, node).trouble:
            yield [*start, (f"  {fitted(sanitize_line(trouble), WIDTH - name - 4)}", "unknown")]
            continue
        lost, wrong = trouble_figures(window, places, node)
        line = start
        for figure in (*lost, *wrong[:2]):
            # A figure is whole or not there.
            if width_of(more := [*line, (" ", ""), figure]) < WIDTH:
                line = more
        yield line


def _marks(axis: TimeAxis) -> Iterator[Line]:
    yield [(" Marks on the time axis", "title")]
    marks = [mark for mark in axis.marks if mark.at <= axis.stretch.end][-_MOST_MARKS:]
    if not marks:
        yield [(" none", "faint")]
    for mark in reversed(marks):
        first, *rest = wrapped(axis.text_of(mark), WIDTH - 5)
        yield [(f" {first}", mark.role)]
        yield from ([(f"   {line}", "")] for line in rest[:2])
