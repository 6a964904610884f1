"""Where the console's changes come from: the journals that the settings name, and the cluster that it runs on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from checks.model.settings import Settings
from checks.run.events import Event

if TYPE_CHECKING:
    from checks.change.change_journal import FoundJournal
    from checks.change.change_plan import Accepted
    from checks.change.change_session import ChangeSession
    from checks.change.opening import OpeningResult
    from checks.model.check import Checks
    from tui.cli.password import Secret


class ClusterChanges:
    """What `tui.console.journal_watcher` asks for. What it needs is loaded in the threads that call it."""

    def __init__(self, settings: Settings, found: Callable[[], Checks], password: Secret | None) -> None:
        """`found` finds the checks that are run before a change is planned."""
        self._settings = settings
        self._found = found
        self._password = password

    @property
    def directory(self) -> Path:
        """Where the journals are."""
        from checks.change.journal_files import directory_of

        return directory_of(self._settings)

    def journals(self) -> tuple[FoundJournal, ...]:
        """All that lie there."""
        from checks.change.journal_files import journals

        return journals(self._settings)

    def follow(self, cluster: str | None, path: Path | None, node: str) -> ChangeSession:
        """The change in that journal, or else the only open one of that cluster, as it is conducted on that node."""
        from checks.change.change_session import ChangeSession
        from checks.change.journal_files import current

        return ChangeSession(current(self._settings, cluster, path), self._settings, self._password, node)

    def begin(self, target: int | None, accepted: tuple[Accepted, ...]) -> AsyncGenerator[Event | OpeningResult, None]:
        """Plan and begin one."""
        from checks.change.opening import open_change

        return open_change(self._settings, self._found(), target=target, accepted=accepted, password=self._password)
