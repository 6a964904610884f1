"""Help and the palette: what can be done on the screen that is shown, loaded when it is first asked for."""

from __future__ import annotations

from textual.app import App


class OfferingApp(App[None]):
    """An app that tells what can be done, and lets the screen that is shown have its say in it."""

    def action_help(self) -> None:
        """Show the keys and the signs."""
        from tui.screens.offered import help_for

        if (screen := help_for(self.screen)) is not None:
            self.push_screen(screen)

    async def action_palette(self) -> None:
        """Let the operator find an action by its words."""
        from tui.screens.offered import offer_actions

        await offer_actions(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether the action can be done now, as the screen that is shown has it."""
        return self.screen.check_action(action, parameters)
