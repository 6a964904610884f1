"""What can be done on the Traffic screen, and what its signs mean."""

from __future__ import annotations

from tui.console.actions import EXPORT, Action
from tui.widgets.help_text import Legend, LegendEntry

TRAFFIC = (
    Action("up,k", "move(-1)", "↑ k", "The interface, group or node above."),
    Action("down,j", "move(1)", "↓ j", "The interface, group or node below."),
    Action(
        "enter", "open", "Enter", "It alone, with everything that it counts; of all nodes, the chosen one.", "alone"
    ),
    Action("escape", "back", "Esc", "Back from there."),
    Action("n", "node(1)", "n", "The next node.", "node"),
    Action("N", "node(-1)", "N", "The node before."),
    Action("a", "all", "a", "All nodes at a glance; again: one node.", "all nodes"),
    Action("o", "others", "o", "Interfaces that are no port of a private network too, or no longer."),
    Action("space", "pause", "Space", "Stay at this moment while sampling goes on; again: go on.", "pause"),
    Action("left", "step(-1)", "←", "Back in time by one point of the graphs."),
    Action("right", "step(1)", "→", "On in time."),
    Action("pageup,b", "leap(-1)", "PgUp b", "Back in time by a graph."),
    Action("pagedown,f", "leap(1)", "PgDn f", "On in time by a graph."),
    Action("home,g", "edge(False)", "g Home", "To the first sample that there is."),
    Action("end,G", "edge(True)", "G End", "To the newest sample, and on with it."),
    Action(
        "plus,equals_sign",
        "interval(1)",
        "+",
        "Less often, down to once a minute; of a recording, more time at once.",
    ),
    Action("minus,underscore", "interval(-1)", "-", "More often, up to once a second; of a recording, less time."),
    Action("x", "reset", "x", "Begin anew with the peaks."),
    Action("w", "record", "w", "Write the samples to a new file too; again: end that.", "record"),
    EXPORT,
)

SIGNS = Legend(
    "Figures and graphs",
    [
        LegendEntry("?", "not known now; a gap in a graph: not known then"),
        LegendEntry("-", "nothing to tell: the mean size of no packets"),
        LegendEntry("▁", "0; what is more than 0 stands higher"),
        LegendEntry("link", "the share of the link's speed; of a node, that of its busiest private interface"),
        LegendEntry("drop+err", "packets dropped and in error; Enter tells them apart"),
        LegendEntry("FAILED", "packets a second that could not be put together from their fragments"),
        LegendEntry("squeezed", "times a second that the kernel put off the rest of the packets to later"),
    ],
)
