"""Reads the journal of a change, and reads it again whenever another process has written to it.

A journal can be on a file system that hangs: the event loop never waits for a file here.
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
from tui.console.change_state import Follow, JournalsRead, WantedPlan
from tui.console.messages import ChangeReported

if TYPE_CHECKING:
    from checks.change.plan.change_plan import Accepted
    from checks.change.record.change_journal import FoundJournal
    from checks.change.session.change_session import ChangeSession
    from checks.change.session.opening import OpeningResult
    from checks.run.check_discovery import Checks
    from tui.cli.password import Secret


log = logging.getLogger(__name__)

POLL_EVERY_S, POLL_BEHIND_S = 2.0, 5.0
"""How often the journal is checked for changes by other processes: on the Change screen, and behind another one."""


class ChangeSource(Protocol):
    """Access to changes. Every method may read files, and raises ChangeError or ChangeJournalError."""

    @property
    def directory(self) -> Path:
        """The directory of the journals."""

    def journals(self) -> tuple[FoundJournal, ...]:
        """Return all journals in the directory."""

    def follow(self, cluster: str | None, path: Path | None, node: str) -> ChangeSession:
        """Return the session, on that node, of the change in that journal, or else of the only open change of the
        cluster."""

    def begin(self, plan: WantedPlan, accepted: tuple[Accepted, ...]) -> AsyncGenerator[Event | OpeningResult, None]:
        """Plan and open a change. Raises PlanError too."""


class JournalWatcher:
    """Follows one change, and reports the content of its journal to the app: the first line of every screen has it."""

    def __init__(self, app: App[None], state: AppState, source: ChangeSource) -> None:
        self.session: ChangeSession | None = None
        """The session of the followed change."""
        self._app = app
        self._state = state
        self._source = source
        self._path: Path | None = None
        self._is_guess = False
        """Whether the session was chosen before the name of the cluster was known."""
        self._poke = asyncio.Event()
        self._worker: Worker[None] | None = None
        self._failed = False
        """Whether the last read of the journals failed: then every poll reads them again."""

    def follow(self, want: Follow) -> None:
        """Follow the requested journal."""
        if want.is_reset or want.path is not None:
            self.session, self._path = None, want.path
        self.poll()
        if self._worker is None or self._worker.is_finished:
            self._worker = self._app.run_worker(self._watch(), group="change-watch", exit_on_error=False)

    def take(self, session: ChangeSession) -> None:
        """Follow the change that was just opened."""
        self.session, self._path, self._is_guess = session, None, False

    def poll(self) -> None:
        """Check at once whether the journal has changed."""
        self._poke.set()

    def stop(self) -> None:
        """Stop watching."""
        if self._worker is not None:
            self._worker.cancel()

    async def read(self) -> None:
        """Read the journals and report their content."""
        facts = self._state.cluster
        read = await asyncio.to_thread(self._read, self._cluster, facts.local_node if facts else "")
        self._failed = bool(read.problem)
        self._app.post_message(ChangeReported(read))

    @property
    def _cluster(self) -> str | None:
        """The name of the cluster; None where it is not known, or not known yet."""
        facts = self._state.cluster
        clusterware = facts.clusterware if facts else None
        name = clusterware.cluster_name if isinstance(clusterware, Clusterware) else None
        return name if isinstance(name, str) else None

    async def _watch(self) -> None:
        """Watch the journal and the directory for changes."""
        seen: object = None
        while True:
            is_shown, is_requested = self._app.current_mode == "change", self._poke.is_set()
            self._poke.clear()
            stamp = self._cluster, await asyncio.to_thread(self._stamp)
            if (is_requested and self.session is None) or stamp != seen or (self._failed and is_shown):
                cluster = self._cluster
                await self.read()
                seen = cluster, await asyncio.to_thread(self._stamp)
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_EVERY_S if is_shown else POLL_BEHIND_S):
                    await self._poke.wait()

    def _stamp(self) -> tuple[object, ...]:
        """Return times and sizes of the files, which differ after every write, so that no file has to be read."""
        session = self.session
        try:
            paths = (self._source.directory, *([session.path] if session else []))
        except Exception:
            return ()  # the read reports why
        return tuple(map(_stamp_of, paths))

    def _read(self, cluster: str | None, node: str) -> JournalsRead:
        from checks.change.progress.state import ChangeError
        from checks.change.record.change_journal import ChangeJournalError

        others: tuple[FoundJournal, ...] = ()
        try:
            others = self._source.journals()[::-1]
            if self._is_guess and cluster and self.session and self.session.change.opened.cluster != cluster:
                self.session = None
            if self.session is not None:
                self.session.refresh()
            elif self._path is not None or any(_may_be_open(found, cluster) for found in others):
                self.session = self._source.follow(cluster, self._path, node)
                self._is_guess = cluster is None and self._path is None
        except (ChangeError, ChangeJournalError) as error:
            self.session = None
            return JournalsRead(None, None, others, str(error))
        except Exception as error:
            log.exception("the journals of changes could not be read")
            return JournalsRead(None, None, others, f"The journals could not be read: {error or type(error).__name__}.")
        if self.session is None:
            return JournalsRead(None, None, others)
        return JournalsRead(self.session.change, self.session.path, others)


def _may_be_open(found: FoundJournal, cluster: str | None) -> bool:
    """Whether a journal may be of an open change; a broken journal may be."""
    change = found.change
    return change is None or (change.is_open and cluster in (None, change.opened.cluster))


def _stamp_of(path: Path) -> object:
    try:
        stat = path.stat()
    except OSError as error:
        return error.errno
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


class ClusterChanges:
    """The changes of the live cluster. Its methods load the modules that they need in the calling thread."""

    def __init__(self, settings: Settings, found: Callable[[], Checks], password: Secret | None) -> None:
        """Create the source; `found` returns the checks that run before a change is planned."""
        self._settings = settings
        self._found = found
        self._password = password

    @property
    def directory(self) -> Path:
        """The directory of the journals."""
        from checks.change.record.journal_files import directory_of

        return directory_of(self._settings)

    def journals(self) -> tuple[FoundJournal, ...]:
        """Return all journals in the directory."""
        from checks.change.record.journal_files import journals

        return journals(self._settings)

    def follow(self, cluster: str | None, path: Path | None, node: str) -> ChangeSession:
        """Return the session, on that node, of the change in that journal, or else of the only open change of the
        cluster."""
        from checks.change.record.journal_files import current
        from checks.change.session.change_session import ChangeSession

        return ChangeSession(current(self._settings, cluster, path), self._settings, self._password, node)

    async def begin(
        self, plan: WantedPlan, accepted: tuple[Accepted, ...]
    ) -> AsyncGenerator[Event | OpeningResult, None]:
        """Plan and open a change."""
        from checks.change.kinds.mtu import MtuRequest
        from checks.change.plan.obstacles import PlanError
        from checks.change.plan.stated_network import StatedNetwork
        from checks.change.progress.state import ChangeError
        from checks.change.session.opening import open_change
        from checks.change.session.vendors_file import VendorsFileError, load_kinds

        try:
            kinds = await asyncio.to_thread(load_kinds, self._settings.change.switch_kinds)
        except VendorsFileError as error:
            raise ChangeError(str(error)) from None
        stated = StatedNetwork(kinds, plan.switches, plan.pair, plan.hypervisors, plan.hosts)
        if problems := tuple(stated.problems()):
            raise PlanError(problems)
        opening = open_change(
            self._settings,
            self._found(),
            request=MtuRequest(plan.target, stated),
            accepted=accepted,
            password=self._password,
            reason=plan.reason,
        )
        try:
            async for event in opening:
                yield event
        finally:
            await opening.aclose()
