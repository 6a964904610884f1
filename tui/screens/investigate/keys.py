"""The keys of the page of guided troubleshooting, which depend on whether racwire asks, works, or has ended."""

from __future__ import annotations

from tui.console.actions import Action

_LEAVE = Action("escape,q", "leave", "Esc", "Leave the page; the session stays, and can be resumed.", "leave")
_SCROLL = (
    Action("pagedown,space", "page(1)", "PgDn Space", "Scroll the step down."),
    Action("pageup,b", "page(-1)", "PgUp b", "Scroll the step up."),
    Action("right,l", "suspects(1)", "→", "Scroll the suspects down."),
    Action("left,h", "suspects(-1)", "←", "Scroll the suspects up."),
)
_UNDO = Action("u", "undo", "u", "Undo: take the last answer back.", "undo")
_RECORD = Action("r", "record", "r", "Show the session so far: each step with its result.", "record")

ASKING = (
    Action("enter", "make", "Enter", "Make the selected step: racwire sends, or shows what a person does.", "do it"),
    Action("down,j", "move(1)", "↓ j", "Select the next step.", "other step"),
    Action("up,k", "move(-1)", "↑ k", "Select the step before."),
    Action("s", "skip", "s", "Skip the selected step; it stays possible later.", "skip"),
    Action("n", "not_possible", "n", "The selected step is not possible here: never offer it again.", "not possible"),
    _UNDO,
    Action("c", "copy", "c", "Copy the commands of the step to the clipboard and to a file.", "copy"),
    Action("e", "explain", "e", "Explain the causes that are left.", "explain"),
    _RECORD,
    *_SCROLL,
    _LEAVE,
)
"""The keys while racwire asks."""

MAKING = (
    Action("s,escape", "stop", "s", "Stop what racwire sends; the step can be made again. So does Esc.", "stop"),
    *_SCROLL,
)
"""The keys while racwire makes a step."""

ENDED = (
    Action("v", "verify", "v", "Verify: run all checks again, once it is fixed.", "verify"),
    _RECORD,
    _UNDO,
    Action("e", "explain", "e", "Explain the causes that are left.", "explain"),
    *_SCROLL,
    _LEAVE,
)
"""The keys once the session has ended."""

ALL = tuple(dict.fromkeys((*ASKING, *MAKING, *ENDED)))
"""All bound keys; the table of the moment decides which of them work."""
