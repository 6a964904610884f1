"""The runs of the Checks screen: which one is shown, and the keys that request another."""

from __future__ import annotations

from checks.model.finding import PROBLEMS
from checks.model.situation import Standing
from tui.console.app_state import AppState
from tui.console.check_list import CheckList, listed_after
from tui.screens.checks.finding_list import FindingList
from tui.screens.filtered import FilteredScreen


class RunKeysScreen(FilteredScreen):
    """A screen with the list of findings of the last run, or of an earlier one."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._past: tuple[CheckList, int] | None = None
        """What an earlier run of the session had, and its number from the end; None for now."""

    @property
    def listed(self) -> CheckList | None:
        """What is listed: what is known now, or what an earlier run had; None before the first findings."""
        return self._past[0] if self._past else self.state.listed

    @property
    def _list(self) -> FindingList:
        return self.query_one("#list", FindingList)

    @property
    def _past_number(self) -> int:
        return len(self.state.run.past) - (self._past[1] if self._past else 0)

    def action_run(self, by: int) -> None:
        """Show an earlier or a later run of the session."""
        run = self.state.run
        ago = (self._past[1] if self._past else -1 if run.running else 0) - by
        if ago >= len(run.past):
            self.notice("There is no earlier run: the last 8 of the session are kept.")
        elif ago <= 0 or not run.past:
            self._past = None
            self.draw()
        else:
            listed = listed_after(run.past[len(run.past) - 1 - ago])
            self._past = (listed, ago) if listed else None
            self.draw()

    def action_verify(self) -> None:
        """Request a run of the checks that would prove the selected cause or problem fixed; where what passed is not
        known any longer, of its checks."""
        self._past = None
        row = self._list.chosen
        if row and row.finding.status not in PROBLEMS and row.said and row.said.standing is Standing.UNKNOWN:
            self._list.stay()
            self.post_message(self.RunWanted(*dict.fromkeys(one.finding.check for one in row.calm or (row,))))
            return
        if row is None or row.finding.status not in PROBLEMS:
            self.notice("v verifies a problem, or what is not known any longer; this is neither.")
            return
        from checks.diagnosis.proof import checks_that_prove
        from checks.run.check_discovery import discover

        causes = row.entry.causes if row.entry else ()
        makers = {code: made[1].id for code, made in discover().kinds().items()}
        checks = checks_that_prove(causes, row.findings, makers)
        self._list.stay()
        self.post_message(self.RunWanted(*checks, verified=row))

    def action_forget(self) -> None:
        """Remove a row that is over from the list."""
        row = self._list.chosen
        if row is not None and self.state.run.dismiss(row):
            self.draw()
        else:
            self.notice("d removes what is over and proved from the list; this is not.")

    def action_rerun(self) -> None:
        """Request another run. The selection stays on a problem, to see its outcome."""
        self._past = None
        if (row := self._list.chosen) and row.finding.status in PROBLEMS:
            self._list.stay()
        self.post_message(self.RunWanted())

    def action_rerun_one(self) -> None:
        """Request another run of only the check of the selected finding."""
        self._past = None
        if row := self._list.chosen:
            if len(row.checks) > 1:
                self.notice(f"{len(row.checks)} checks have this reason: r runs all again, / finds one of them.")
                return
            self._list.stay()
            self.post_message(self.RunWanted(row.checks[0]))
