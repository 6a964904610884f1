"""The command line of the console (`:`): verbs such as `save` and `explain IC-PATH-003`, and the names of this cluster.

`choices` decides what a text offers; `CommandLine` is the part of the app that does it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import App

from checks.model.facts import Cluster, Database
from checks.model.report import Report
from checks.report.causes import cause_entries
from tui.console.actions import EVERYWHERE, TABS, Action
from tui.console.messages import ExportWanted, RecordWanted
from tui.screens.base import ConsoleScreen

if TYPE_CHECKING:
    from tui.screens.checks.screen import ChecksScreen

_OF_MOVEMENT = frozenset({"move", "edge", "page", "scroll", "next", "previous", "seek", "palette", "show"})
"""Actions whose keys move a selection or a page, or open what has a name of its own here."""


@dataclass(frozen=True)
class Choice:
    """What the command line offers."""

    name: str
    """What the operator types, or the key of an action."""
    help: str
    action: str
    """The action in Textual's notation; `{}` stands for the argument, in quotes."""
    argument: str = ""
    """The name of the argument for the display; empty where the choice takes none."""
    is_optional: bool = False
    """Whether the choice also works without its argument."""

    def with_argument(self, text: str) -> str:
        """Return the action with that argument."""
        return self.action.replace("{}", repr(text)) if self.argument else self.action


_VERBS = (
    Choice("rerun", "Run all checks again, or the named check: rerun df-ping.", "app.rerun({})", "CHECK", True),
    Choice("save", "Save the whole state in a file for another machine.", "app.write('saved file')"),
    Choice("report", "Write the report in a format: report html.", "app.write({})", "FORMAT", True),
    Choice("record", "Start or stop a recording of the live samples.", "app.record"),
    Choice("explain", "Explain a code, a check or a cause: explain IC-PATH-003.", "app.explain({})", "WHAT"),
    Choice("connect", "How to connect to a database: connect rac-scan:1521/SERVICE.", "app.connect({})", "WHERE", True),
    Choice("theme", "Change between the colours of racwire and those of the terminal.", "app.theme"),
)


def choices(text: str, actions: Iterable[Action], report: Report | None) -> list[Choice]:
    """Return what a text offers, the best first: the verb or name that it is, then those that start with it, then what
    has all its words. Without a text: the verbs, the screens and the actions; names only where they are typed."""
    words = text.casefold().split()
    known = [*_verbs(), *_of_screen(actions)]
    if not words:
        return known
    named = list(_objects(report)) if report else []
    first, rest = words[0], words[1:]
    verbs = [one for one in known if one.argument and one.name == first and rest]
    whole = [one for one in (*known, *named) if one.name.casefold() == " ".join(words)]
    starts = [one for one in (*known, *named) if len(words) == 1 and one.name.casefold().startswith(first)]
    anywhere = [one for one in (*known, *named) if all(w in f"{one.name} {one.help}".casefold() for w in words)]
    return list(dict.fromkeys((*verbs, *whole, *starts, *anywhere)))


def argument_of(choice: Choice, text: str) -> str | None:
    """Return the argument that a text has for a choice; None where it lacks one that is needed."""
    verb, _, rest = text.strip().partition(" ")
    typed = rest.strip() if choice.argument and verb.casefold() == choice.name else ""
    return typed if typed or not choice.argument or choice.is_optional else None


def _verbs() -> Iterator[Choice]:
    yield from _VERBS
    taken = {verb.name for verb in _VERBS}
    for mode, tab in ((mode, tab) for mode, tab in TABS.items() if tab[2:].casefold() not in taken):
        yield Choice(tab[2:].casefold(), f"Show the {tab[2:]} screen.", f"app.show('{mode}')")


def _of_screen(actions: Iterable[Action]) -> Iterator[Choice]:
    for action in dict.fromkeys((*actions, *EVERYWHERE)):
        if action.name not in _OF_MOVEMENT:
            yield Choice(action.key, action.help, action.action)


def _objects(report: Report) -> Iterator[Choice]:
    """Yield the names of the cluster, and the codes, checks and causes of the report."""
    for name, what in dict.fromkeys(_names(report.cluster)):
        yield Choice(name, f"List the findings about {what} {name}.", f"app.find({name!r})")
    for entry in cause_entries(report):
        for cause in entry.causes:
            yield Choice(cause.cause, entry.headline, f"app.find_code({cause.cause!r})")
    for finding in report.findings:
        yield Choice(finding.code, finding.title, f"app.find_code({finding.code!r})")
    for check in dict.fromkeys(finding.check for finding in report.findings):
        yield Choice(check, f"List the findings of the check {check}.", f"app.find({check!r})")


def _names(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for node in cluster.nodes if isinstance(cluster.nodes, tuple) else ():
        yield node.name, "the node"
    for network in cluster.networks if isinstance(cluster.networks, tuple) else ():
        for interface in dict.fromkeys((network.interface, *(port.interface for port in network.ports))):
            yield interface, "the interface"
        yield network.name, "the network"
    if isinstance(cluster.database, Database):
        for instance in cluster.database.instances:
            yield instance.name, "the instance"


class CommandLine(App[None]):
    """An app with a command line. It is loaded at first use."""

    async def action_palette(self) -> None:
        """Let the operator type a verb or a name, and run it on the current screen."""
        from tui.screens.palette import PaletteScreen

        screen = self.screen
        shown = next((one for one in reversed(self.screen_stack) if isinstance(one, ConsoleScreen)), None)
        actions: Sequence[Action] = getattr(screen, "ACTIONS", ())

        async def act(action: str | None) -> None:
            if action is not None:
                await self.run_action(action, screen)

        palette = PaletteScreen(actions, shown.state.report if shown else None)
        await self.push_screen(palette, act)
        palette.set_focus(palette.query_one("#query"))  # the next key may be here already, and belongs to the query

    def _main(self) -> ConsoleScreen | None:
        return next((one for one in reversed(self.screen_stack) if isinstance(one, ConsoleScreen)), None)

    def _tell(self, text: str) -> None:
        if main := self._main():
            main.notice(text)

    async def action_find(self, text: str) -> None:
        """Show the Checks screen with only the findings that contain the text."""
        if (checks := await self._checks_screen()) is not None:
            checks.filter_by(text)

    async def action_find_code(self, code: str) -> None:
        """Show the Checks screen with the cause or finding of that code selected."""
        if (checks := await self._checks_screen()) is not None and not checks.select_code(code):
            await self.action_explain(code)

    async def _checks_screen(self) -> ChecksScreen | None:
        from tui.screens.checks.screen import ChecksScreen

        while len(self.screen_stack) > 1:
            self.pop_screen()
        await self.run_action("app.show('checks')")
        return self.screen if isinstance(self.screen, ChecksScreen) else None

    def action_rerun(self, check: str = "") -> None:
        """Run all checks again, or the named one."""
        from checks.run.check_discovery import discover

        if check and discover().get(check) is None:
            self._tell(f"There is no check {check}: `:explain` lists them.")
        elif main := self._main():
            if main.state.feed.replayed:
                self._tell(f"{main.state.feed.held_by} is open: there is nothing to run again.")
            else:
                main.post_message(ConsoleScreen.RunWanted(*((check,) if check else ())))

    def action_write(self, form: str = "") -> None:
        """Write the report in a format; without one, show the Report screen."""
        from tui.cli.report_formats import FORMATS
        from tui.console.export_state import SAVED, WriteReport

        known = {SAVED, *FORMATS}
        if not form:
            self.call_later(self.run_action, "app.show('report')")
        elif form not in known:
            self._tell(f"There is no format {form}: {', '.join(sorted(known))}.")
        else:
            self.post_message(ExportWanted(WriteReport(form, is_redacted=False)))

    async def action_record(self) -> None:
        """Show the Traffic screen, which samples, and start or stop the recording of its samples."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        await self.run_action("app.show('traffic')")
        self.post_message(RecordWanted())

    async def action_explain(self, what: str) -> None:
        """Show what `racwire explain` prints about a code, a check or a cause."""
        from tui.cli.errors import UsageError
        from tui.cli.explain import explained
        from tui.screens.reader import ReaderScreen
        from tui.text.line import Line, folded

        try:
            lines = explained(what)
        except UsageError as error:
            self._tell(str(error))
            return

        def build(width: int) -> list[Line]:
            return [part for line in lines for part in (folded(line, 0, width) if line else ([],))]

        await self.push_screen(ReaderScreen(f"Explain  {what}", build))

    def action_connect(self, where: str = "") -> None:
        """Say how to connect to a database: racwire may ask for the password only before the screen opens."""
        self._tell(f"q quits; then: racwire --connect {where or 'HOST:1521/SERVICE'}. The password is asked there.")

    def action_theme(self) -> None:
        """Change between the colours of racwire and those of the terminal."""
        from tui.console.theme import DARK, TERMINAL

        is_dark = self.theme == DARK.name
        self.ansi_color = is_dark
        self.theme = TERMINAL.name if is_dark else DARK.name
