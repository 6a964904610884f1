"""The commands of the Traffic screen, and the legend of its signs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from checks.rules.load_weight import HEAVY_PERCENT, HEAVY_TIMES, MODERATE_PERCENT, MODERATE_TIMES
from tui.console.actions import EXPORT, Action, relabelled
from tui.screens.filtered import filter_action
from tui.widgets.help_text import Legend, LegendEntry
from tui.widgets.sorting import SORT

if TYPE_CHECKING:
    from tui.screens.traffic.lines import TrafficView
    from tui.screens.traffic.time_cursor import TimeCursor

TRAFFIC = (
    Action("up,k", "move(-1)", "↑ k", "Select the interface, group or node above."),
    Action("down,j", "move(1)", "↓ j", "Select the interface, group or node below."),
    Action("enter", "open", "Enter", "Show the selected interface, group or node alone, with all its figures.", "open"),
    Action("escape", "back", "Esc", "Go back to the whole node."),
    Action("n", "node(1)", "n", "Show the next node.", "node"),
    Action("N", "node(-1)", "N", "Show the previous node."),
    Action("i", "app.investigate", "i", "Investigate: separate the causes that are left, step by step."),
    Action("a", "all", "a", "Show all nodes, one line each; again: show one node.", "all nodes"),
    Action("o", "others", "o", "Show or hide the interfaces that are not ports of a private network."),
    *SORT,
    filter_action("nodes"),
    Action(
        "space",
        "pause",
        "Space",
        "Pause the display while sampling continues; again: resume. In a recording: play it; again: stop.",
        "pause",
    ),
    Action("greater_than_sign", "speed(1)", ">", "Play a recording faster."),
    Action("less_than_sign", "speed(-1)", "<", "Play a recording more slowly."),
    Action("t", "seek", "t", "Go to a time: 14:02, 2026-11-20 14:02:31, -10m, +30s."),
    Action("right_square_bracket", "mark(1)", "]", "Go to the next mark on the time axis."),
    Action("left_square_bracket", "mark(-1)", "[", "Go to the mark before on the time axis."),
    Action("left", "step(-1)", "←", "Go one point of the graphs earlier."),
    Action("right", "step(1)", "→", "Go one point of the graphs later."),
    Action("pageup,b", "leap(-1)", "PgUp b", "Go one graph width earlier."),
    Action("pagedown,f", "leap(1)", "PgDn f", "Go one graph width later."),
    Action("home,g", "edge(False)", "g Home", "Go to the first sample."),
    Action("end,G", "edge(True)", "G End", "Go to the newest sample and follow new ones."),
    Action(
        "plus,equals_sign",
        "interval(1)",
        "+",
        "Sample less often, down to once a minute; in a recording: show more time.",
    ),
    Action(
        "minus,underscore",
        "interval(-1)",
        "-",
        "Sample more often, up to once a second; in a recording: show less time.",
    ),
    Action("r", "app.rerun", "r", "Run all checks: they look for the cause of what the samples show.", "checks"),
    Action("x", "reset", "x", "Reset the peaks."),
    Action("w", "record", "w", "Record the samples to a new file; again: stop.", "record"),
    EXPORT,
)


def labelled(
    actions: Iterable[Action],
    cursor: TimeCursor,
    view: TrafficView,
    *,
    is_filtered: bool,
    nodes: int,
    is_recording: bool,
) -> tuple[Action, ...]:
    """Return the commands with the labels of the present state: of the cursor in time, of the view, of the filter, of
    the known nodes, and of the recording of samples."""
    kind = view.kind
    labels = {
        "open": "" if kind == "alone" else "open",
        "back": "clear filter" if is_filtered else "" if kind == "node" else "back",
        "node(1)": "node" if nodes > 1 else "",
        "all": "" if nodes < 2 else "one node" if kind == "nodes" else "all nodes",
        "sort": "sort" if kind == "nodes" else "",
        "pause": ("resume" if cursor.is_paused else "pause")
        if cursor.is_live
        else ("stop" if cursor.is_playing else "play"),
        "edge(True)": "live" if cursor.is_live and not cursor.is_following else "",
        "speed(1)": "" if cursor.is_live else "faster",
        "seek": "" if cursor.is_following else "time",
        "mark(1)": "" if cursor.is_following else "next mark",
        "record": "stop recording" if is_recording else "record",
    }
    short = {"edge(True)": "G", "back": "Esc"}
    return tuple(msgspec.structs.replace(a, key=short.get(a.action, a.key)) for a in relabelled(actions, labels))


SIGNS = Legend(
    "Figures and graphs",
    [
        LegendEntry("?", "not known; in a graph, a gap stands for values that are not known"),
        LegendEntry("-", "no value, such as the mean packet size when there was no packet"),
        LegendEntry("▁", "0; a value above 0 is drawn higher"),
        LegendEntry("500M", "left of a graph: the value of a full column"),
        LegendEntry("┴", "on the time axis: a tick each 10 s, 1 min or the like; a ? marks where a source fell silent"),
        LegendEntry("link", "share of the link speed in use; for a node, of its busiest private interface"),
        LegendEntry(
            "load",
            f"heavy from {HEAVY_PERCENT:.0f} % of a private link on, or where pings take {HEAVY_TIMES:g} times as long "
            f"while it is busy; moderate from {MODERATE_PERCENT:.0f} %, or {MODERATE_TIMES:g} times",
        ),
        LegendEntry("drop+err", "packets dropped plus packets in error; Enter shows each separately"),
        LegendEntry("FAILED", "packets per second that could not be reassembled from their fragments"),
        LegendEntry("of about", "of users: the bytes are an estimate, blocks of the block size and messages of 200 B"),
        LegendEntry("squeezed", "times per second that the kernel postponed the remaining packets"),
    ],
)
