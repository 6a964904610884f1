"""The keys of the Measure screen, which depend on whether something is being sent."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import Status
from tui.console.actions import Action, zoom_action
from tui.widgets.help_text import Legend, LegendEntry

_MOVING = (
    Action("up,k", "move(-1)", "↑ k", "Select the experiment above."),
    Action("down,j", "move(1)", "↓ j", "Select the experiment below."),
    Action("home", "move(-100)", "Home", "Select the first experiment."),
    Action("end,G", "move(100)", "G End", "Select the last experiment."),
    Action("pagedown,space", "page(1)", "PgDn Space", "Scroll the plan or the figures down."),
    Action("pageup,b", "page(-1)", "PgUp b", "Scroll the plan or the figures up."),
    zoom_action("the page of the experiment"),
)
_OPEN = Action("enter", "whole", "Enter", "Show the last result of the experiment at full width.", "result")
_COPY = Action("c", "copy", "c", "Copy the command that does the same to the clipboard and to a file.", "copy")

IDLE = (
    Action("g", "go", "g", "Ask for the name of the cluster, then send what the plan says.", "measure"),
    _OPEN,
    Action("n", "next_path", "n", "Make the plan for the next path; after the last come the usual ones.", "next path"),
    Action("r", "reread", "r", "Read the cluster again, and make the plan again.", "plan again"),
    _COPY,
    *_MOVING,
)
"""The keys while nothing is sent."""

ELSEWHERE = (_OPEN, _COPY, *_MOVING)
"""The keys for an experiment that only the command line does."""

SENDING = (
    Action("s,escape", "stop", "s", "Stop sending at once, and keep what was measured; so does Esc.", "stop"),
    _OPEN,
    *_MOVING,
)
"""The keys while something is being sent."""

PAST = (_OPEN, *_MOVING)
"""The keys for a saved state or a recording."""

ALL = tuple(dict.fromkeys((*IDLE, *SENDING)))
"""All bound keys; the table of the moment decides which of them work."""

SIGNS: Sequence[Legend] = (
    Legend(
        "Measurements",
        [
            LegendEntry("F", "refused; of a last result: a sign of harm stopped it", Status.FAIL.value.lower()),
            LegendEntry("?", "no plan can be made", Status.UNKNOWN.value.lower()),
            LegendEntry("!", "stopped early, or disturbed: read the result before its figures", "warn"),
            LegendEntry("SENDING", "what is being sent now; on every screen in the first line", "sending"),
        ],
    ),
)
