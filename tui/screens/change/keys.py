"""The keys of the Change screen: what they do depends on whether a change goes on."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import Status
from tui.console.actions import SCROLLING, Action
from tui.widgets.help_text import Legend, LegendEntry

_BACK_AND_ON = tuple(a for a in SCROLLING if a.name != "page")
_PAGES = (
    Action("pagedown,space", "page(1)", "PgDn Space", "A screenful on."),
    Action("pageup", "page(-1)", "PgUp", "A screenful back."),
)
_NEXT = Action("tab", "choose(1)", "Tab", "The next block of commands, which c copies; the next entry of a list.")
_BEFORE = Action("shift+tab", "choose(-1)", "Shift-Tab", "The block or entry before.")
_MOVING = (*_BACK_AND_ON, *_PAGES, _NEXT, _BEFORE)
_ESCAPE = Action(
    "escape", "leave", "Esc", "Give up what is being done; else back to the current step, or the overview."
)
_PLAN = Action("n", "plan", "n", "Plan a change of the MTU; nothing is changed by that.", "plan a change")
_LOOKING = (
    Action("c", "copy", "c", "Copy the marked block of commands, and write it to a file.", "copy"),
    Action("C", "copy_all", "C", "Copy all commands of the step as comments: for a ticket or a runbook."),
    Action("right_square_bracket", "step(1)", "]", "Look at the next step; nothing is done by that."),
    Action("left_square_bracket", "step(-1)", "[", "Look at the step before."),
    Action("enter", "details", "Enter", "All that the gate said, in full; on the last step, sign off.", "details"),
)

OPEN = (
    Action("v", "verify", "v", "Look at the gate of the current step, on all nodes; only looking.", "verify"),
    Action("a", "attest", "a", "Say by name what racwire cannot see of this step.", "attest"),
    Action("o", "override", "o", "Go past a gate that does not pass, for a reason that is kept.", "override"),
    Action("n", "note", "n", "Write a note, for the report and for who comes next.", "note"),
    Action("b", "way_back", "b", "See what going back from here means, and begin it.", "way back"),
    Action("x", "abandon", "x", "Give the change up, where nothing was changed yet.", ""),
    *_LOOKING,
    *_MOVING,
    _ESCAPE,
)
"""While a change goes on."""

OVER = (*_LOOKING, *_MOVING, _PLAN, Action("escape", "leave", "Esc", "To the overview.", "overview"))
"""Where one that is over is looked at."""

NONE = (_PLAN, *_MOVING, _ESCAPE)
"""Where there is none, and was none."""

OVERVIEW = (Action("enter", "open", "Enter", "Look at the marked change.", "look at it"), *NONE)
"""Where there were some."""

REFUSED = (
    Action("n", "plan", "n", "Try again.", "try again"),
    Action("o", "accept", "o", "Accept the marked one for a reason, where that can be done.", "accept"),
    *_MOVING,
    Action("escape", "leave", "Esc", "Leave it.", "leave it"),
)
"""Where no plan can be made."""

ALL = tuple(dict.fromkeys((*OPEN, *OVER, *OVERVIEW, *REFUSED)))
"""What is bound; which of them can be done is said by the table of the moment."""

SIGNS: Sequence[Legend] = (
    Legend(
        "Steps and gates",
        [
            LegendEntry("✓", "done; of a gate, it passed there", Status.PASS.value.lower()),
            LegendEntry("✗", "the gate does not pass there", Status.FAIL.value.lower()),
            LegendEntry("?", "it could not be told; that does not pass either", Status.UNKNOWN.value.lower()),
            LegendEntry("!", "gone past without proof, for a reason; or the cluster changed under the change", "warn"),
            LegendEntry("▶", "the current step"),
            LegendEntry("·", "not reached, or not looked at yet"),
        ],
    ),
)
