"""The keys of the Change screen, which depend on the state of the change."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import Status
from tui.console.actions import SCROLLING, Action, zoom_action
from tui.widgets.help_text import Legend, LegendEntry

_SCROLLING = tuple(a for a in SCROLLING if a.name != "page")
_PAGES = (
    Action("pagedown,space", "page(1)", "PgDn Space", "Scroll down one screen."),
    Action("pageup", "page(-1)", "PgUp", "Scroll up one screen."),
)
_NEXT = Action("tab", "choose(1)", "Tab", "Mark the next block of commands, which c copies; in a list, the next entry.")
_PREVIOUS = Action("shift+tab", "choose(-1)", "Shift-Tab", "Mark the previous block or entry.")
_MOVING = (*_SCROLLING, *_PAGES, _NEXT, _PREVIOUS, zoom_action("the step"))
_ESCAPE = Action("escape", "leave", "Esc", "Cancel the running work; else go back to the current step or the overview.")
_PLAN = Action("n", "plan", "n", "Plan a change of the MTU; planning changes nothing.", "plan a change")
_COPYING = (
    Action("c", "copy", "c", "Copy the marked block of commands to the clipboard and a file; start the step.", "copy"),
    Action("C", "copy_all", "C", "Copy the whole step, each line a comment: for a ticket or a runbook.", "copy all"),
)
_VIEWING = (
    Action("right_square_bracket", "step(1)", "]", "View the next step; viewing changes nothing."),
    Action("left_square_bracket", "step(-1)", "[", "View the previous step."),
    Action(
        "enter", "details", "Enter", "Show all results of the gate; on the last step, sign the change off.", "details"
    ),
    Action("e", "report", "e", "Write the report of the change to a file, for the change board.", "report"),
)

OPEN = (
    Action("v", "verify", "v", "Check the gate of the current step on all nodes; this changes nothing.", "verify"),
    Action("a", "attest", "a", "Attest, with your name, what racwire cannot see of this step.", "attest"),
    Action("o", "override", "o", "Override a gate that does not pass; the report shows your reason.", "override"),
    Action("b", "rollback", "b", "Show the rollback from here, and start it.", "rollback"),
    *_COPYING,
    Action("n", "note", "n", "Write a note for the report and for the next operator.", "note"),
    Action("x", "abandon", "x", "Abandon the change, while nothing has been changed yet.", ""),
    *_VIEWING,
    *_MOVING,
    _ESCAPE,
)
"""The keys while a change is open."""

OVER = (*_COPYING, *_VIEWING, *_MOVING, _PLAN, Action("escape", "leave", "Esc", "Go to the overview.", "overview"))
"""The keys for a change that is over."""

OF_PAST = (
    *(action for action in _VIEWING if action.name == "step"),
    *_MOVING,
    Action("escape", "leave", "Esc", "Go back to the current step."),
)
"""The keys for a change of a recording."""

NONE = (_PLAN, *_MOVING, _ESCAPE)
"""The keys where no journal exists."""

OVERVIEW = (Action("enter", "open", "Enter", "Open the marked change.", "open"), *NONE)
"""The keys for the list of journals."""

REFUSED = (
    Action("n", "plan", "n", "Plan again.", "plan again"),
    Action("o", "accept", "o", "Accept the marked obstacle, with a reason, where that is allowed.", "accept"),
    *_MOVING,
    Action("escape", "leave", "Esc", "Close this list.", "close"),
)
"""The keys for the list of obstacles."""

ALL = tuple(dict.fromkeys((*OPEN, *OVER, *OVERVIEW, *REFUSED)))
"""All bound keys; the table of the moment decides which of them work."""

WAITING = frozenset(key for action in ALL if action not in (*_MOVING, _ESCAPE) for key in action.keys.split(","))
"""The keys whose meaning depends on the journals; Esc, scrolling and the keys of every screen do not."""

SIGNS: Sequence[Legend] = (
    Legend(
        "Steps and gates",
        [
            LegendEntry("✓", "done; in a gate: passed there", Status.PASS.value.lower()),
            LegendEntry("i", "in a gate: worth knowing; does not prevent the next step", Status.INFO.value.lower()),
            LegendEntry("✗", "in a gate: does not pass there", Status.FAIL.value.lower()),
            LegendEntry("?", "could not be determined; that does not pass either", Status.UNKNOWN.value.lower()),
            LegendEntry("!", "overridden without proof, with a reason; or an unexpected change of the cluster", "warn"),
            LegendEntry("▶", "the current step"),
            LegendEntry("·", "not reached, or not checked yet"),
        ],
    ),
)
