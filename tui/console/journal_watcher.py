"""The journal of a change behind the screen: read, and read again whenever somebody else has written to it.

Journals can lie on a file system that hangs, so that nothing here waits for a file in the loop that draws.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from textual.app import App
from textual.worker import Worker

from checks.model.facts import Clusterware
from checks.model.settings import Settings
from checks.run.events import Event
from tui.console.app_state import AppState
from tui.console.change_state import Follow, JournalsRead
from tui.console.messages import ChangeReported

if TYPE_CHECKING:
    from checks.change.change_journal import FoundJournal
    from checks.change.change_plan import Accepted
    from checks.change.change_session import ChangeSession
    from checks.change.opening import OpeningResult
    from checks.run.check_discovery import Checks
    from tui.cli.password import Secret


log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0
"""How often a journal is looked at while it is shown, whether somebody else wrote to it."""


class ChangeSource(Protocol):
    """Where changes come from. All of it may read files, and raises ChangeError and ChangeJournalError."""

    @property
    def directory(self) -> Path:
        """Where the journals are."""

    def journals(self) -> tuple[FoundJournal, ...]:
        """All that lie there."""

    def follow(self, cluster: str | None, path: Path | None, node: str) -> ChangeSession:
        """The change in that journal, or else the only open one of that cluster, as it is conducted on that node."""

    def begin(self, target: int | None, accepted: tuple[Accepted, ...]) -> AsyncGenerator[Event | OpeningResult, None]:
        """Plan and begin one. Raises PlanError too."""


class JournalWatcher:
    """Follows one change, and tells the app what its journal says as long as its screen is shown."""

    def __init__(self, app: App[None], state: AppState, source: ChangeSource) -> None:
        self.conduct: ChangeSession | None = None
        """The change that is followed."""
        self._app = app
        self._state = state
        self._source = source
        self._path: Path | None = None
        self._poke = asyncio.Event()
        self._worker: Worker[None] | None = None
        self._failed = False
        """Whether the journals could not be read: then that is tried again and again."""

    def follow(self, want: Follow) -> None:
        """Follow what is wanted from now on."""
        if want.afresh or want.path is not None:
            self.conduct, self._path = None, want.path
        self.look()
        if self._worker is None or self._worker.is_finished:
            self._worker = self._app.run_worker(self._watch(), group="change-watch", exit_on_error=False)

    def take(self, conduct: ChangeSession) -> None:
        """Follow the change that was just begun."""
        self.conduct, self._path = conduct, None

    def look(self) -> None:
        """Look at once whether the journal is another than it was."""
        self._poke.set()

    def stop(self) -> None:
        """Look no more."""
        if self._worker is not None:
            self._worker.cancel()

    async def read(self) -> None:
        """Read the journals, where they are others than they were, and tell what they say."""
        facts = self._state.cluster
        clusterware = facts.clusterware if facts else None
        name = clusterware.cluster_name if isinstance(clusterware, Clusterware) else None
        cluster, node = name if isinstance(name, str) else None, facts.local_node if facts else ""
        read = await asyncio.to_thread(self._read, cluster, node)
        self._failed = bool(read.problem)
        self._app.post_message(ChangeReported(read))

    async def _watch(self) -> None:
        """While the screen is shown, look whether the journal, or the directory, is another than it was."""
        seen: object = None
        while self._app.current_mode == "change":
            asked = self._poke.is_set()
            self._poke.clear()
            stamp = await asyncio.to_thread(self._stamp)
            if (asked and self.conduct is None) or stamp != seen or self._failed:
                await self.read()
                seen = await asyncio.to_thread(self._stamp)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._poke.wait()

    def _stamp(self) -> tuple[object, ...]:
        """What is another as soon as somebody has written: times and sizes, so that nothing has to be read."""
        conduct = self.conduct
        try:
            paths = (self._source.directory, *([conduct.path] if conduct else []))
        except Exception:
            return ()  # reading tells why
        return tuple(map(_stamp_of, paths))

    def _read(self, cluster: str | None, node: str) -> JournalsRead:
        from checks.change.change_journal import ChangeJournalError
        from checks.change.state import ChangeError

        others: tuple[FoundJournal, ...] = ()
        try:
            others = self._source.journals()[::-1]
            if self.conduct is not None:
                self.conduct.refresh()
            elif self._path is not None or any(_may_be_open(found, cluster) for found in others):
                self.conduct = self._source.follow(cluster, self._path, node)
        except (ChangeError, ChangeJournalError) as error:
            self.conduct = None
            return JournalsRead(None, None, others, str(error))
        except Exception as error:
            log.exception("the journals of changes could not be read")
            return JournalsRead(None, None, others, f"The journals could not be read: {error or type(error).__name__}.")
        if self.conduct is None:
            return JournalsRead(None, None, others)
        return JournalsRead(self.conduct.change, self.conduct.path, others)


def _may_be_open(found: FoundJournal, cluster: str | None) -> bool:
    """Whether it is of a change that goes on; one that is broken may be."""
    change = found.change
    return change is None or (change.is_open and cluster in (None, change.opened.cluster))


def _stamp_of(path: Path) -> object:
    try:
        told = path.stat()
    except OSError as error:
        return error.errno
    return told.st_mtime_ns, told.st_size, told.st_ino


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
