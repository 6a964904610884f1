"""The tables of keys: the footer, the help screen and the bindings of each screen are made from them.

`KeysInOrder` handles keys in the order in which they were typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.message_pump import MessagePump
from textual.widget import Widget


class Action(msgspec.Struct, frozen=True):
    """A command with its keys."""

    keys: str
    """Textual's names of the keys, comma-separated."""
    action: str
    key: str
    """The key as the footer and the help screen display it."""
    help: str
    """What the command does: a sentence for the help screen and the palette."""
    label: str = ""
    """What the command does: a word for the footer; empty where the footer leaves it out."""

    @property
    def name(self) -> str:
        """The action's own name: `show` of `app.show('paths')`."""
        return self.action.partition("(")[0].rpartition(".")[2]


TABS = {
    "checks": "1 Checks",
    "paths": "2 Paths",
    "traffic": "3 Traffic",
    "database": "4 Database",
    "change": "5 Change",
    "report": "6 Report",
    "measure": "7 Measure",
    "events": "! Events",
}
"""The main screens: the mode of each and its tab, whose first character is its key."""

SHOW = tuple(Action(tab[0], f"app.show('{mode}')", tab[0], f"Show the {tab[2:]} screen.") for mode, tab in TABS.items())
"""The keys that change to a main screen."""

QUIT = Action("q,ctrl+q,ctrl+c", "app.quit", "q", "Quit racwire; a run of the checks ends at once.", "quit")
HELP = Action(
    "question_mark,f1", "app.help", "?", "Show the keys of this screen, and what its letters and signs mean.", "help"
)
PALETTE = Action(
    "colon,ctrl+p",
    "app.palette",
    ":",
    "Type a command or a name: save, explain IC-PATH-003, rac2.",
)

RAN = Action("at", "app.ran", "@", "List what racwire ran: commands, files, queries and probes, newest first.")
SHELL = Action("dollar_sign", "app.shell", "$", "Open a shell; racwire goes on sampling, and returns after `exit`.")
STOP = Action("ctrl+z", "app.stop", "Ctrl-Z", "Stop racwire and return to the shell; `fg` continues it.")

EXPORT = Action("e", "app.show('report')", "e", "Show the Report screen, to write the report to a file.", "export")
"""A command of the screens whose content is part of a report."""

NEWEST = Action("u", "app.newest", "u", "Show the newest alarm in the list of events.")

EVERYWHERE = (*SHOW, NEWEST, PALETTE, RAN, SHELL, STOP, HELP, QUIT)
"""The commands of every screen."""


def zoom_action(pane: str) -> Action:
    """Return the action that gives a pane the whole screen; `pane` names it in a sentence."""
    return Action("z", "zoom", "z", f"Give {pane} the whole screen; z again shows all panes.")


CHECKS = (
    Action("up,k", "move(-1)", "↑ k", "Select the finding above."),
    Action("down,j", "move(1)", "↓ j", "Select the finding below."),
    Action("backspace", "back", "Backspace", "Select again what was selected before a new problem was."),
    Action("home,g", "edge(False)", "g Home", "Select the first cause, or the worst finding."),
    Action("end,G", "edge(True)", "G End", "Select the last finding."),
    Action("pagedown,space", "page(1)", "PgDn Space", "Scroll the finding down."),
    Action("pageup,b", "page(-1)", "PgUp b", "Scroll the finding up."),
    Action(
        "enter",
        "whole",
        "Enter",
        "Show the cause or the finding at full width, with what racwire read and sent for it.",
        "open",
    ),
    Action("right", "fold(False)", "→", "Unfold the cause, or what passed: show its findings.", "unfold"),
    Action("left", "fold(True)", "←", "Fold the cause, or what passed: hide its findings."),
    Action("tab", "evidence", "Tab", "Show what racwire read and sent for the cause or the finding."),
    Action("v", "verify", "v", "Verify: run only the checks that would prove it over, or that look again.", "verify"),
    Action("i", "app.investigate", "i", "Investigate: separate the causes that are left, step by step.", "investigate"),
    Action("slash", "filter", "/", "Filter the findings by text; Esc shows all findings again.", "filter"),
    Action("escape", "clear", "Esc", "Clear the filter, and return to the last run."),
    Action("p", "problems", "p", "Show only FAIL, UNKNOWN and WARN, and the causes; p again shows all."),
    Action("c", "copy", "c", "Copy the commands of the finding to the clipboard and to a file.", "copy"),
    Action("r", "rerun", "r", "Run all checks again and mark what changed.", "rerun"),
    Action("R", "rerun_one", "R", "Run the check of the finding again; those that use its facts are judged again."),
    Action("left_square_bracket", "run(-1)", "[", "Show the run before this one; the last 8 of the session are kept."),
    Action("right_square_bracket", "run(1)", "]", "Show the run after this one."),
    Action("d", "forget", "d", "Dismiss: remove what is over from the list, once a later run has not found it."),
    zoom_action("the finding"),
    EXPORT,
)

SCROLLING = (
    Action("up,k", "scroll(-1)", "↑ k", "Scroll up one line."),
    Action("down,j", "scroll(1)", "↓ j", "Scroll down one line."),
    Action("pagedown,space", "page(1)", "PgDn Space", "Scroll down one screen."),
    Action("pageup,b", "page(-1)", "PgUp b", "Scroll up one screen."),
    Action("home,g", "edge(False)", "g Home", "Go to the start."),
    Action("end,G", "edge(True)", "G End", "Go to the end."),
)
"""The commands of a page of text."""

READER = (
    *SCROLLING,
    Action("slash", "search", "/", "Search for a text; Esc ends the search.", "search"),
    Action("n", "match(1)", "n", "Go to the next match."),
    Action("N", "match(-1)", "N", "Go to the match before."),
    Action("escape", "end", "Esc", "End the search; without one, go back to the previous screen."),
    Action("q,left", "back", "Esc q", "Go back to the previous screen.", "back"),
)


def in_footer(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the commands of a screen in the order of its footer: its own, then help and quit."""
    return (*(a for a in actions if a not in EVERYWHERE), HELP, QUIT)


def relabelled(actions: Iterable[Action], labels: Mapping[str, str]) -> tuple[Action, ...]:
    """Return the commands; those whose action has an entry have that label."""
    return tuple(replace(a, label=labels[a.action]) if a.action in labels else a for a in actions)


def bindings(actions: Iterable[Action]) -> list[Binding]:
    """Return the bindings of a screen; Textual itself displays none of them."""
    return [Binding(a.keys, a.action, a.label or a.help, show=False) for a in actions]


def _takes(target: MessagePump, event: events.Key) -> bool:
    """Return whether a key is text for the widget that has the focus, or moves its cursor."""
    return isinstance(target, Widget) and target.check_consume_key(event.key, event.character)


class KeysInOrder(App[None]):
    """An app that finishes the command of a key before it reads the next key.

    Textual posts a key from queue to queue, from the focused widget up to the app. Of several keys that arrive at once,
    as over a slow line, those with a priority overtake the others, and letters overtake Backspace.
    """

    _early_keys: list[events.Key | events.Paste] | None = None
    """Keys that arrived before the first screen existed; None once they are handled."""

    def on_load(self) -> None:
        """Start to keep keys until there is a screen that can handle them."""
        self._early_keys = []

    def take_early_keys(self) -> None:
        """Handle the keys that were typed before the first screen existed; handle later keys at once."""
        keys, self._early_keys = self._early_keys or [], None
        for key in keys:
            self.post_message(key)

    def is_held(self, event: events.Key | events.Paste) -> bool:
        """Return whether the screen keeps a key, and posts it again later."""
        return False

    async def on_event(self, event: events.Event) -> None:
        """Handle keys and pasted text immediately, all other events as Textual does."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        if self._early_keys is not None:
            # Until Textual has the terminal, that turns the Enter that is typed into a line feed.
            is_enter = isinstance(event, events.Key) and event.key == "ctrl+j"
            self._early_keys.append(events.Key("enter", "\r") if is_enter else event)
            return
        if self.is_held(event):
            return
        if isinstance(event, events.Key) and await self._check_bindings(event.key, priority=True):
            return
        target = self.focused or self.screen
        event.stop()  # otherwise the event would bubble up to the app again
        with target._context():
            await target._dispatch_message(event)
        is_typed = isinstance(event, events.Key) and _takes(target, event)
        if isinstance(event, events.Key) and not is_typed:
            await self._check_bindings(event.key)
