"""The decisions on the Change screen: each one is asked for in full before the app carries it out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from checks.change.plan.change_plan import Step
from checks.change.plan.obstacles import PlanError
from checks.change.plan.step_stops import stops_of
from checks.change.progress import decisions
from checks.change.progress.planned_stops import is_started
from checks.change.progress.state import Change, ChangeError
from checks.model.journal import now
from checks.model.own_command import VERIFY
from tui.console.change_state import Decide, Decision, Doing, MakePlan, StartStep, WantedPlan
from tui.console.messages import ChangeWanted
from tui.screens.ask import Answer, AskPage, ask
from tui.screens.change import questions as questions
from tui.screens.change.gate_page import details_lines
from tui.screens.change.overview import mtus_of
from tui.screens.change.view import ChangeView
from tui.screens.reader import ReaderScreen
from tui.text.line import sanitize_line
from tui.text.own_keys import KEYS

_SOME_REASON = "a long enough reason"
_USUAL = 9000
"""The MTU that is offered until the highest MTU of this cluster is known."""


class Deciding(ChangeView):
    """The part of the screen that asks questions. It rejects an impossible decision before the operator types
    anything."""

    async def _decide(self, decision: Decision, question: AskPage, host: str = "") -> None:
        def then(answer: Answer) -> None:
            by, text, *_ = answer
            self.post_message(ChangeWanted(Decide(decision, by, text, host)))

        await ask(self.app, question, then)

    def _fits(self, decide: Callable[[], object]) -> bool:
        """Return whether the decision is possible now; where not, display why."""
        if not self.desk.is_free:
            is_reading = self.desk.work.doing is Doing.READING
            self.notice(
                "The journals are still being read."
                if is_reading
                else "Other work on the change is still running; Esc cancels it."
            )
            return False
        try:
            decide()
        except ChangeError as error:
            self.notice(KEYS.text(error.text))
            return False
        except PlanError as error:
            self.notice(str(error))
            return False
        return True

    # --- keys ---------------------------------------------------------------------------------------------------------

    async def action_plan(self) -> None:
        """Ask for the MTU, and for what the operator states about the network, and plan a change."""
        if not self._fits(lambda: None):
            return
        from checks.change.kinds.mtu import default_target  # late, as below: it is loaded at first use

        report, refused = self.state.report, self.refused
        offered = refused.plan if refused else WantedPlan(default_target(report) if report else _USUAL)
        accepted = refused.accepted if refused else ()

        def then(answer: Answer) -> None:
            self.post_message(ChangeWanted(MakePlan(questions.wanted_plan(answer), accepted)))

        await ask(self.app, questions.ask_plan(mtus_of(self.state.cluster), offered), then)

    async def action_accept(self) -> None:
        """Accept an obstacle, with a reason."""
        refused = self.refused
        if refused is None or self._chosen >= len(refused.obstacles):
            return
        obstacle = refused.obstacles[self._chosen]
        if not obstacle.acceptable:
            self.notice(f"{sanitize_line(obstacle.code)} cannot be accepted: fix it first.")
            return

        def then(answer: Answer) -> None:
            self._refused = refused.accepting(obstacle, answer[0])
            self.draw()

        await ask(self.app, questions.ask_accept(obstacle), then)

    async def action_attest(self) -> None:
        """Attest what racwire cannot see."""
        change = self.change
        if change is None:
            return
        step = change.current
        if step is None or step is change.plan.steps[-1]:
            await self._sign_off(change)
            return
        host = change.mark(step).next_host(step)
        if self._fits(lambda: decisions.attest(change, step.id, "name", "note", host)):
            await self._decide(Decision.ATTEST, questions.ask_attest(change, step), host)

    async def _offer_start(self, change: Change, step: Step) -> None:
        """Offer to start the current step, if it stops something and no start counts at present."""
        stops = change.is_open and step is change.current and stops_of(change.plan, step)
        if not stops or not self.desk.is_free or is_started(change, step, datetime.now().astimezone()):
            return

        def then(answer: Answer) -> None:
            if questions.is_yes(answer[0]):
                self.post_message(ChangeWanted(StartStep(step.id)))

        await ask(self.app, questions.ask_start(change, step), then)

    async def action_override(self) -> None:
        """Override a gate."""
        change = self.change
        step = change.current if change else None
        if change is None or step is None:
            return
        if self._fits(lambda: decisions.override(change, step.id, "name", _SOME_REASON)):
            await self._decide(Decision.OVERRIDE, questions.ask_override(change, step))

    async def action_note(self) -> None:
        """Write a note."""
        change = self.change
        if change is None or not self._fits(lambda: decisions.note(change, "text")):
            return

        def then(answer: Answer) -> None:
            self.post_message(ChangeWanted(Decide(Decision.NOTE, "", answer[0])))

        await ask(self.app, questions.ask_note(change), then)

    async def action_rollback(self) -> None:
        """Show the rollback, and start it."""
        change = self.change
        if change is None or not self._fits(lambda: decisions.roll_back(change, change.plan, "name", _SOME_REASON)):
            return
        from checks.change.plan.way_back import make_way_back

        rollback = make_way_back(change, made_by=questions.login(), made_at=now())
        await self._decide(Decision.ROLL_BACK, questions.ask_rollback(change, rollback))

    async def action_abandon(self) -> None:
        """Abandon the change."""
        change = self.change
        if change is not None and self._fits(lambda: decisions.abandon(change, "name", _SOME_REASON)):
            await self._decide(Decision.ABANDON, questions.ask_abandon(change))

    async def action_details(self) -> None:
        """Show all results of the gate; where only the sign-off is left, ask for that."""
        change, step = self.change, self.step
        if change is None or step is None:
            return
        is_last = step is change.plan.steps[-1] and change.current in (None, step)
        if change.is_open and is_last and change.is_proved(step):
            await self._sign_off(change)
            return
        report = self.desk.report
        title = f"Step {change.plan.position(step.id) + 1}, {sanitize_line(step.title)}"
        self.app.push_screen(ReaderScreen(title, lambda width: list(details_lines(change, step, report, width))))

    async def _sign_off(self, change: Change) -> None:
        if self._fits(lambda: _signed_off(change)):
            await self._decide(Decision.SIGN_OFF, questions.ask_sign_off(change))


def _signed_off(change: Change) -> None:
    step = change.current
    if step is None:
        decisions.close(change, "name")
    elif not change.mark(step).attests(step):
        decisions.attest(change, step.id, "name", "note")
    else:
        raise ChangeError("Check the gate first (", VERIFY, f"): step {step.id} is done once its gate has passed.")
