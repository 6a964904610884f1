"""The actions of the command line (`:`), as a part of the app: what its verbs and names do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import App

from tui.console.actions import TABS, Action
from tui.console.messages import ExportWanted, PresetChosen, RecordWanted
from tui.screens.base import ConsoleScreen

if TYPE_CHECKING:
    from tui.screens.checks.screen import ChecksScreen
    from tui.terminal.job_control import Subshell


class CommandLine(App[None]):
    """An app with a command line. It is loaded at first use."""

    subshell: Subshell | None = None
    """The shell that has the terminal; None where the console has it."""

    # --- the terminal for other programs ------------------------------------------------------------------------------

    def action_stop(self) -> None:
        """Give the terminal back to the shell, and stop until it continues racwire (`fg`)."""
        stop = getattr(self._driver, "stop_until_continued", None)
        if (main := self._main()) and main.state.measures.sending:
            self._tell("A stopped racwire could not watch what it sends: stop the measurement first (7, then s).")
        elif stop is not None and not stop():
            self._tell("No shell is there that could continue a stopped racwire; $ opens a shell.")

    def action_shell(self) -> None:
        """Let the operator use a shell; racwire goes on, without the terminal."""
        if self.subshell is None and getattr(self._driver, "is_lent", None) is False:
            self.run_worker(self._lend_terminal(), group="shell", exit_on_error=False)

    async def _lend_terminal(self) -> None:
        from tui.terminal.job_control import Subshell

        driver = self._driver
        assert driver is not None
        shell = self.subshell = Subshell(driver.fileno)  # type: ignore[attr-defined]
        driver.is_lent = True  # type: ignore[attr-defined]
        driver.suspend_application_mode()
        try:
            problem = await shell.run()
        finally:
            self.subshell, driver.is_lent = None, False  # type: ignore[attr-defined]
        if not shell.is_stopped:
            driver.resume_application_mode()
            self._tell(problem)

    # --- verbs and names ----------------------------------------------------------------------------------------------

    async def action_palette(self) -> None:
        """Let the operator type a verb or a name, and run it on the current screen."""
        from tui.console.command_choices import Scope
        from tui.console.main_screens import actions_of
        from tui.screens.palette import PaletteScreen

        screen, shown = self.screen, self._main()
        actions: Sequence[Action] = getattr(screen, "ACTIONS", ())
        elsewhere = [
            (mode, action) for mode in TABS if shown and mode != shown.NAME for action in actions_of(self, mode)
        ]

        async def act(action: str | None) -> None:
            if action is not None and not await self.run_action(action, screen):
                self._tell("That is not possible now.")

        palette = PaletteScreen(Scope(actions, shown.state.report if shown else None, elsewhere))
        await self.push_screen(palette, act)
        palette.set_focus(palette.query_one("#query"))  # the next key may be here already, and belongs to the query

    def _main(self) -> ConsoleScreen | None:
        return next((one for one in reversed(self.screen_stack) if isinstance(one, ConsoleScreen)), None)

    def _tell(self, text: str) -> None:
        if main := self._main():
            main.notice(text)

    def _leave_pages(self) -> bool:
        """Close the pages above the main screen. Return False where a question is open: what the operator has typed
        there must not be lost."""
        from tui.screens.ask import AskScreen

        while len(self.screen_stack) > 1:
            if isinstance(self.screen, AskScreen):
                return False
            self.pop_screen()
        return True

    async def action_go(self, mode: str, action: str, says: str) -> None:
        """Show a main screen, and do an action there; where there is none, say which key does it."""
        if not self._leave_pages():
            return
        await self.run_action(f"app.show({mode!r})")
        if not action:
            self._tell(says)
        elif not await self.run_action(action, self.screen):
            self._tell("That is not possible now.")

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

        if not self._leave_pages():
            return None
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
        if self._leave_pages():
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

    async def action_ran(self) -> None:
        """List what racwire ran in this console: in the kept runs and checks of gates, and in the present run."""
        from tui.screens.ran_page import RanScreen
        from tui.text.journal_lines import ran_in

        if (main := self._main()) is not None and not isinstance(self.screen, RanScreen):
            run = main.state.run
            records = run.history.records if run.history else ()
            reports = [one.report for one in records] or [one for one in (run.report,) if one is not None]
            await self.push_screen(RanScreen(ran_in(reports)))

    def action_connect(self, where: str = "") -> None:
        """Say how to connect to a database: racwire may ask for the password only before the screen opens."""
        self._tell(f"q quits; then: racwire --connect {where or 'HOST:1521/SERVICE'}. It asks for the password.")

    def action_theme(self) -> None:
        """Change between the colours of racwire and those of the terminal."""
        from tui.console.theme import DARK, TERMINAL

        is_dark = self.theme == DARK.name
        self.ansi_color = is_dark
        self.theme = TERMINAL.name if is_dark else DARK.name
        usual = getattr(self, "usual_theme", "")
        self.post_message(PresetChosen(theme="" if self.theme == usual else self.theme))

    def action_graphs(self) -> None:
        """Change between graphs of blocks and of braille, which display twice the time."""
        if main := self._main():
            main.state.graphs = "blocks" if main.state.graphs == "braille" else "braille"
            main.refresh_state()
            self.post_message(PresetChosen(graphs=main.state.graphs))
            self._tell(f"Graphs are drawn with {main.state.graphs}.")
