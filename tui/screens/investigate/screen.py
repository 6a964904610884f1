"""The page of guided troubleshooting: what is left, the best next step and why, and what the last answer changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from checks.model.investigation import By, SessionStep
from checks.report.step_words import step_title
from checks.run.guided import sends
from tui.console.actions import Action, bindings
from tui.console.app_state import AppState
from tui.console.investigation_state import (
    InvestigationRequest,
    MakeStep,
    SendFor,
    SkipStep,
    StopStep,
    TakeHands,
    TakeOutput,
    TakeSigns,
    UndoAnswer,
)
from tui.console.messages import CopyWanted, InvestigationWanted
from tui.screens.ask import Answer, AskPage, Field, ask
from tui.screens.base import ConsoleScreen
from tui.screens.investigate import keys
from tui.screens.investigate.lines import consent_lines, heading_text, page_lines, person_lines, suspect_lines
from tui.screens.reader import ReaderScreen
from tui.screens.styled import StyledScreen
from tui.text.line import Line, cut, hanging
from tui.widgets.bars import action_at, keys_line, lines_below, rule_line
from tui.widgets.lines import Lines
from tui.widgets.panes import Pane, Panes

if TYPE_CHECKING:
    from checks.investigate.choice import Offer

_YES = ("y", "yes")
_KNOWN = (*_YES, "n", "no", "")


class InvestigateScreen(StyledScreen[None]):
    """The page. It requests everything from the app, which has the session."""

    NAME = "Investigate"
    ACTIONS: ClassVar[tuple[Action, ...]] = keys.ASKING
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(keys.ALL)]
    HORIZONTAL_BREAKPOINTS = ConsoleScreen.HORIZONTAL_BREAKPOINTS

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._app_state = state
        self._chosen = 0
        self._notice = ""
        self._consented = ""
        """The key of the step with a consent of its own that the operator has given."""
        self._outputs: list[str] = []
        """What was pasted of a step that is read twice, until both are there."""

    def compose(self) -> ComposeResult:
        """Yield the heading, the two panes, a rule, and the keys."""
        yield Lines(self._title, id="investigate-title", classes="bar")
        yield Lines(self._upper_rule, id="upper-rule", classes="bar")
        with Panes(id="panes"):
            with Pane(id="left"):
                yield Lines(self._suspects, id="suspects")
            with Pane(id="right"):
                yield Lines(self._page_lines, id="step")
        yield Lines(self._lower_rule, id="lower-rule", classes="bar")
        yield Lines(lambda width: [keys_line(self.ACTIONS, width)], id="keys", classes="bar")

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def _state(self):  # type: ignore[no-untyped-def]
        return self._app_state.investigation

    @property
    def _offers(self) -> Sequence[Offer]:
        question = self._state.question
        return () if question is None else (question.best, *question.others)

    @property
    def _step(self) -> SessionStep | None:
        offers = self._offers
        return offers[min(self._chosen, len(offers) - 1)].step if offers else None

    def refresh_state(self, *, is_new: bool = False) -> None:
        """Draw the state. `is_new`: there is another question, so that its best step is selected."""
        if not self.is_mounted or not self.children:
            return
        if is_new:
            self._chosen, self._outputs, self._notice = 0, [], ""
        state = self._state
        actions = keys.MAKING if state.making else keys.ASKING if state.question is not None else keys.ENDED
        if actions != self.ACTIONS:
            self.ACTIONS = actions  # type: ignore[misc]
        page = self.query_one("#step", Lines)
        self.query_one("#investigate-title", Lines).show(self._title)
        self.query_one("#suspects", Lines).show(self._suspects)
        page.show(self._page_lines, top=0 if is_new else page.above)
        self.query_one("#upper-rule", Lines).show(self._upper_rule)
        self.query_one("#lower-rule", Lines).show(self._lower_rule)
        self.query_one("#keys", Lines).lay_out()

    def on_screen_resume(self) -> None:
        """Draw the state when the page opens, or what lay above it has gone."""
        self.refresh_state()

    def _title(self, width: int) -> list[Line]:
        return [[(cut(f" Investigate  {heading_text(self._state)}", width), "title")]]

    def _suspects(self, width: int) -> list[Line]:
        return list(suspect_lines(self._state, width))

    def _page_lines(self, width: int) -> list[Line]:
        return list(page_lines(self._state, self._chosen, width))

    @property
    def _joints(self) -> Sequence[int]:
        return [column for panes in self.query(Panes) for column in panes.joints]

    def _upper_rule(self, width: int) -> list[Line]:
        return [rule_line(width, joints=self._joints, sign="┬")]

    def _lower_rule(self, width: int) -> list[Line]:
        state = self._state
        text = self._notice or state.trouble
        if state.progress:
            text = f"{'SENDING  ' if state.making else ''}{state.progress}"
        below = self.query_one("#step", Lines).below if self.is_mounted else 0
        return [rule_line(width, text, lines_below(below), joints=self._joints, sign="┴")]

    @on(Pane.LaidOut)
    def join_rules(self) -> None:
        """Join the rules to the line between the panes."""
        self.query_one("#upper-rule", Lines).show(self._upper_rule)
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    @on(Lines.Scrolled)
    def show_lines_below(self) -> None:
        """Display how many lines lie below."""
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    @on(Lines.Clicked, "#keys")
    async def do_key(self, message: Lines.Clicked) -> None:
        """Run the command of the clicked key."""
        if action := action_at(self.ACTIONS, self.size.width, message.column):
            await self.run_action(action.action)

    def notice(self, text: str) -> None:
        """Display a notice in the lower rule."""
        self._notice = text
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the action works now: of the keys of this page, only those of the moment."""
        mine = action in {a.name for a in keys.ALL}
        if mine and action not in {a.name for a in self.ACTIONS}:
            return False
        return super().check_action(action, parameters)

    # --- keys: the steps ----------------------------------------------------------------------------------------------

    def _want(self, want: InvestigationRequest) -> None:
        self._notice = ""
        self.post_message(InvestigationWanted(want))

    def action_move(self, by: int) -> None:
        """Select another step."""
        self._chosen = max(min(self._chosen + by, len(self._offers) - 1), 0)
        self._outputs = []
        self.refresh_state()

    async def action_make(self) -> None:
        """Make the selected step: send, or show what a person does."""
        if (step := self._step) is None or self._state.is_busy:
            return
        will_send = sends(step) and self._state.can_send
        if will_send and not self._state.may_send:
            await self._ask_consent()
            return
        if step.needs_consent and self._state.can_send and self._consented != step.key:
            await self._ask_own_consent(step)
            return
        match step.by:
            case By.ITSELF:
                self._want(MakeStep(step))
            case By.COMMAND if step.commands:
                await self._by_command(step)
            case By.HANDS if self._state.can_send:
                await self._by_hand(step)
            case _:
                await self._ask_signs(step)

    async def _ask_consent(self) -> None:
        def then(answer: Answer) -> None:
            if answer[0].lower() in _YES:
                self._state.may_send = True
                self.call_later(self.action_make)

        await ask(
            self.app,
            AskPage(
                "Before racwire sends: what it sends at most",
                lambda width: list(consent_lines(self._state, width)),
                (Field("Send?", hint="y sends; Esc does not", wrong=_no_yes),),
                "send",
            ),
            then,
        )

    async def _ask_own_consent(self, step: SessionStep) -> None:
        """Ask before a step that switches something on, or asks a device."""
        from checks.report.consent_words import consent_text

        def then(answer: Answer) -> None:
            if answer[0].lower() in _YES:
                self._consented = step.key
                self.call_later(self.action_make)

        await ask(
            self.app,
            AskPage(
                step_title(step),
                lambda width: list(hanging([], consent_text(step), width)),
                (Field("Do it?", hint="y does it; Esc does not", wrong=_no_yes),),
                "do it",
            ),
            then,
        )

    async def _by_command(self, step: SessionStep) -> None:
        from tui.screens.investigate.paste import PasteScreen

        is_during = bool(step.probes)
        if is_during and self._state.can_send and self._state.sent_for != (step.key,):
            await self._ask_to_start(step)
            return
        number = len(self._outputs) + 1 if step.is_twice else 0

        def pasted(text: str | None) -> None:
            if text is None:
                return
            self._outputs.append(text)
            if step.is_twice and len(self._outputs) == 1:
                if self._state.can_send:
                    self._want(SendFor(step))
                else:
                    self.notice("Wait 30 s, so that the counters can move; then Enter pastes the second reading.")
                return
            outputs, self._outputs = tuple(self._outputs), []
            self._want(TakeOutput(step, outputs))

        await self.app.push_screen(PasteScreen(step, number), pasted)

    async def _ask_to_start(self, step: SessionStep) -> None:
        await ask(
            self.app,
            AskPage(
                "Start the command, then let racwire send while it runs",
                lambda width: list(person_lines(step, width)),
                (Field("Started?", hint="Enter once it runs; Esc cancels"),),
                "send",
            ),
            lambda answer: self._want(SendFor(step)),
        )

    async def _by_hand(self, step: SessionStep) -> None:
        """Send, let the person move something, and send again."""
        times = self._state.sent_for.count(step.key)
        if times == 0:
            self._want(SendFor(step))
            return
        title = "Do it now; racwire then sends again" if times == 1 else "Put everything back as it was"
        want = SendFor(step) if times == 1 else TakeHands(step)
        await ask(
            self.app,
            AskPage(
                title,
                lambda width: list(person_lines(step, width)),
                (Field("Done?", hint="Enter once it is done; Esc cancels"),),
                "go on",
            ),
            lambda answer: self._want(want),
        )

    async def _ask_signs(self, step: SessionStep) -> None:
        def then(answer: Answer) -> None:
            seen = tuple(s for s, typed in zip(step.reads, answer, strict=True) if typed.lower() in _YES)
            looked = tuple(s for s, typed in zip(step.reads, answer, strict=True) if typed)
            self._want(TakeSigns(step, seen, looked) if looked else SkipStep(step))

        fields = tuple(Field(f"{number} seen?", hint="y, n, or empty: not known", wrong=_no_answer)
                       for number in range(1, len(step.reads) + 1))  # fmt: skip
        await ask(
            self.app,
            AskPage("What was seen", lambda width: list(person_lines(step, width, with_signs=True)), fields, "done"),
            then,
        )

    def after_sending(self) -> None:
        """Go on with the person's step, for which racwire has sent."""
        self.call_later(self.action_make)

    def action_skip(self) -> None:
        """Leave the selected step for later."""
        if self._step is not None:
            self._want(SkipStep(self._step))

    def action_not_possible(self) -> None:
        """Never offer the selected step again."""
        if self._step is not None:
            self._want(SkipStep(self._step, is_impossible=True))

    def action_undo(self) -> None:
        """Take the last answer back."""
        self._want(UndoAnswer())

    def action_stop(self) -> None:
        """Stop what racwire sends."""
        self._want(StopStep())

    # --- keys: the rest -----------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy the commands of the selected step."""
        if self._step is not None and self._step.commands:
            self.post_message(CopyWanted("\n".join(self._step.commands)))
            self.notice("Copied, if the terminal allows it.")
        else:
            self.notice("This step has no commands.")

    def action_explain(self) -> None:
        """Show the pages of the causes that are left."""
        from checks.investigate.answering import left_of
        from tui.cli.explain import explained

        state = self._state
        ends = state.record.endings if state.record is not None else ()
        left = left_of(state.question) or tuple(s for ending in ends for s in ending.suspects)
        codes = list(dict.fromkeys(suspect.cause for suspect in left))
        if not codes:
            self.notice("No cause is left to explain.")
            return
        lines = [line for code in codes for line in (*explained(code), "")]
        self.app.push_screen(ReaderScreen("Causes that are left", lambda width: [[(line, "")] for line in lines]))

    def action_record(self) -> None:
        """Show the session so far."""
        from checks.report.how_found import TITLE, how_found
        from tui.text.session_lines import how_found_lines

        if (record := self._state.record) is None:
            return
        found = how_found(record, self._app_state.zone)
        self.app.push_screen(ReaderScreen(TITLE, lambda width: list(how_found_lines(found, width, with_outputs=True))))

    def action_verify(self) -> None:
        """Run all checks again."""
        self.post_message(ConsoleScreen.RunWanted())
        self.dismiss()

    def action_page(self, pages: int) -> None:
        """Scroll the step by screens."""
        self.query_one("#step", Lines).scroll_pages(pages)

    def action_suspects(self, lines: int) -> None:
        """Scroll the suspects."""
        self.query_one("#suspects", Lines).scroll_by(lines * 3)

    def action_leave(self) -> None:
        """Leave the page; the session stays."""
        self.dismiss()


def _no_yes(text: str) -> str:
    return "" if text.lower() in _YES else "Type y to send; Esc leaves without sending."


def _no_answer(text: str) -> str:
    return "" if text.lower() in _KNOWN else "Type y, n or nothing."
