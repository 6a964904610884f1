"""The keys of the Measure screen that make plans, ask for the name of the cluster, and send."""

from __future__ import annotations

from tui.console.app_state import AppState
from tui.console.measure_state import (
    ENTRIES,
    FindPlan,
    MeasureEntry,
    MeasureState,
    PathChoice,
    Send,
    SendingEnded,
    StopSending,
)
from tui.console.messages import MeasureWanted
from tui.screens.ask import Answer, AskPage, Field, ask
from tui.screens.base import ConsoleScreen
from tui.screens.measure.lines import CHECKS_DISTURB, question_lines
from tui.widgets.choice_list import ChoiceList

_FEW_CHARACTERS = 10


class PlanKeysScreen(ConsoleScreen):
    """A screen with a list of experiments, of which one is selected."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._wanted: dict[str, PathChoice] = {}
        """By kind: the path that the operator has chosen."""
        self._dismissed: SendingEnded | None = None
        """The end of a measurement whose figures the operator has left."""

    @property
    def _measures(self) -> MeasureState:
        return self.state.measures

    @property
    def _list(self) -> ChoiceList:
        return self.query_one("#measure-list", ChoiceList)

    @property
    def _entry(self) -> MeasureEntry:
        return ENTRIES[self._list.chosen]

    def _find_plan(self, *, is_fresh: bool = False) -> None:
        kind = self._entry.kind
        choice = self._wanted.get(kind, PathChoice())
        is_planned = kind in self._measures.plans and self._measures.chosen[kind] == choice
        if self._entry.is_sent_here and (is_fresh or not is_planned):
            self.post_message(MeasureWanted(FindPlan(kind, choice, is_fresh)))

    def action_next_path(self) -> None:
        """Request the plan for the next path."""
        kind = self._entry.kind
        present = self._wanted.get(kind, PathChoice())
        following = self._measures.next_choice(kind, present)
        if following == present:
            self.notice("There is no other path." if kind in self._measures.plans else "The paths are not known yet.")
            return
        self._wanted[kind], self._dismissed = following, self._measures.ended
        self._find_plan()

    def action_reread(self) -> None:
        """Request the plan by facts that are read again."""
        self._dismissed = self._measures.ended
        self._find_plan(is_fresh=True)

    def action_stop(self) -> None:
        """Stop what is being sent."""
        self.post_message(MeasureWanted(StopSending()))

    async def action_go(self) -> None:
        """Ask for the name of the cluster, and request to send; refuse at once what the plan refuses."""
        from checks.measure.load_plan import agree  # late: it is loaded at first use
        from checks.measure.measure_error import MeasureError

        entry = self._entry
        prepared = self._measures.plans.get(entry.kind)
        if self.state.run.running:
            self.notice(CHECKS_DISTURB)
            return
        if prepared is None:
            self.notice(self._measures.problems.get(entry.kind) or "The plan is not made yet: wait for it.")
            return
        if prepared.refusals:
            self.notice(f"{prepared.refusals[0].code} forbids it: see above; r reads the cluster again.")
            return
        plan, choice = prepared.plan, self._measures.chosen[entry.kind]

        def wrong_name(typed: str) -> str:
            try:
                agree(plan, typed)
            except MeasureError as error:
                return str(error)
            return ""

        def then(answer: Answer) -> None:
            typed, *reasons = answer
            self.post_message(MeasureWanted(Send(entry.kind, choice, plan, typed, *reasons)))

        if not plan.cluster:
            self.notice(wrong_name(""))
            return
        fields = [Field("Cluster", hint="type the name of this cluster to send", wrong=wrong_name)]
        if any(one.is_load for one in self._measures.refusals(entry.kind)):
            fields.append(Field("Reason", hint="why it is measured although it is loaded", wrong=_no_reason))
        await ask(
            self.app,
            AskPage(
                f"Measure {entry.kind}: nothing is sent before the name is typed",
                lambda width: question_lines(prepared, self._measures, entry.kind, width),
                tuple(fields),
                "send",
            ),
            then,
        )


def _no_reason(text: str) -> str:
    if not text or len(text) >= _FEW_CHARACTERS:
        return ""
    return f"Type a reason of at least {_FEW_CHARACTERS} characters, or none: the result keeps it."
