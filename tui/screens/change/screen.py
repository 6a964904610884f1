"""The Change screen: its keys. `view` draws it, `deciding` asks for decisions."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tui.console.actions import bindings
from tui.console.change_state import Cancel, CheckGate, Follow, WriteChangeReport
from tui.console.messages import ChangeWanted, CopyWanted
from tui.screens.change import keys as keys
from tui.screens.change.deciding import Deciding
from tui.screens.change.step_page import block_text, whole_step_text


class ChangeScreen(Deciding):
    """Leads the operator through a change. It decides nothing and runs no command: the operator does."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(keys.ALL)]

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines; in the list of changes, mark another change."""
        if self.ACTIONS is keys.OVERVIEW and self._page.blocks:
            self.action_choose(lines)
        else:
            self._body.scroll_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by screens."""
        self._body.scroll_pages(pages)

    def action_edge(self, end: bool) -> None:
        """Go to the start or the end."""
        self._body.scroll_by(1_000_000 if end else -1_000_000)

    def action_choose(self, by: int) -> None:
        """Mark another block of commands, or another entry."""
        if self._page.blocks:
            self._choose(max(min(self._chosen + by, len(self._page.blocks) - 1), 0))
            self._body.bring_into_sight(*self._page.blocks[self._chosen])

    def action_step(self, by: int) -> None:
        """View another step."""
        if (change := self.change) and (step := self.step):
            at = max(min(change.plan.position(step.id) + by, len(change.plan.steps) - 1), 0)
            other = change.plan.steps[at]
            self._show_step("" if other is change.current else other.id)

    def action_leave(self) -> None:
        """Cancel the running work; otherwise go back to the current step or to the overview."""
        if not self.desk.is_free:
            self.post_message(ChangeWanted(Cancel()))
        elif self._viewed:
            self._show_step("")
        elif self.refused:
            self._left = self.desk.refused
            self.draw()
        elif self.change is not None and not self.change.is_open:
            self.post_message(ChangeWanted(Follow(is_reset=True)))

    def action_verify(self) -> None:
        """Look at the gate of the current step."""
        self.post_message(ChangeWanted(CheckGate()))

    def action_open(self) -> None:
        """Look at the chosen change."""
        if self._chosen < len(self.desk.others):
            self.post_message(ChangeWanted(Follow(self.desk.others[self._chosen].path)))

    async def action_copy(self) -> None:
        """Copy the marked block of commands. Of a step that stops something, offer to start it."""
        if (change := self.change) and (step := self.step):
            if step.commands:
                block = step.commands[min(self._chosen, len(step.commands) - 1)]
                self.post_message(CopyWanted(block_text(change.opened.id, block)))
                await self._offer_start(change, step)
            else:
                self.notice("This step has no commands.")

    def action_copy_all(self) -> None:
        """Copy the whole step, as comments."""
        if (change := self.change) and (step := self.step):
            self.post_message(CopyWanted(whole_step_text(change.opened.id, step)))

    def action_report(self) -> None:
        """Write the report of the change."""
        self.post_message(ChangeWanted(WriteChangeReport()))
