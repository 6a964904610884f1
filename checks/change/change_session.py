"""An open change as both front doors have it: its journal, what looks at the cluster for it, what people decide."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path

from checks.change import decisions
from checks.change.change_events import AnyEvent, JournalLine
from checks.change.change_journal import ChangeJournal, MovedOnError, login
from checks.change.change_plan import Plan
from checks.change.concluding import conclude
from checks.change.planning import make_way_back
from checks.change.state import Change, ChangeError
from checks.change.verifying import Concluded, Verification, node_here
from checks.change.worker_threads import run_to_completion
from checks.model.journal import now
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.run.events import Event
from checks.sources.database.secret import Secret


class ChangeSession:
    """An open change: its journal, what looks at the cluster for it, and what people decide.

    What is decided is on the disk when the method returns. Every method raises ChangeError where it does not fit where
    the change stands, and ChangeJournalError where the journal cannot be written; each is one sentence. Where somebody
    else wrote meanwhile, the journal is read again and the decision weighed anew.
    """

    def __init__(
        self, journal: ChangeJournal, settings: Settings, password: Secret | None = None, node: str = ""
    ) -> None:
        self._journal = journal
        self._settings = settings
        self._password = password
        self.node = node_here(journal.change.opened, node or os.uname().nodename)
        """The plan's name of the node that this runs on; the host's own where it is none of the plan's."""

    @property
    def change(self) -> Change:
        """The change as it stands."""
        return self._journal.change

    @property
    def path(self) -> Path:
        """Its journal."""
        return self._journal.path

    def refresh(self) -> bool:
        """Read the journal again where others wrote to it; whether anything came. Raises ChangeJournalError."""
        if not self._journal.is_stale():
            return False
        before = self.change.lines
        self._read_again()
        return self.change.lines != before

    async def verify(self) -> AsyncGenerator[Event | Concluded, None]:
        """Look at the gates of the current step and at those that must still hold.

        Tells the engine's events as they come; writes what comes of it; tells `Concluded` last, with what was written.
        Given up before it has concluded, nothing is written.
        """
        await asyncio.to_thread(self.refresh)
        change = self.change
        if not change.is_open:
            raise ChangeError(f"The change {change.opened.id} is over: {change.outcome}.")
        look = Verification(change, self._settings, self._password, node=self.node, directory=self.path.parent)
        async with aclosing(look.events()) as events:
            async for event in events:
                if isinstance(event, Concluded):
                    yield Concluded(await run_to_completion(partial(self._kept, look, event)), event.report)
                else:
                    yield event

    def _kept(self, look: Verification, concluded: Concluded) -> tuple[AnyEvent, ...]:
        """Write what came of a look; weighed anew where somebody else wrote meanwhile, if it is of the same step."""
        try:
            self._extend(concluded.events)
        except MovedOnError:
            self._read_again()
            current = self.change.current
            if not self.change.is_open or self.change.plan != look.change.plan or current is None:
                raise ChangeError("The change went on while it was looked at: look again.") from None
            if current.id != look.step.id:
                raise ChangeError(f"Step {look.step.id} was done meanwhile by somebody else: look again.") from None
            events = conclude(self.change, current, concluded.report)
            self._extend(events)
            return events
        return concluded.events

    def attest(self, by: str, note: str = "") -> JournalLine:
        """Say by name that what racwire cannot see of the current step is so."""
        step_id = _current_id(self.change)  # what was shown as current; never the step after it
        return self._decide(lambda change: decisions.attest(change, step_id, by, note))

    def override(self, by: str, reason: str) -> JournalLine:
        """Go past the gate of the current step, for that reason."""
        step_id = _current_id(self.change)
        return self._decide(lambda change: decisions.override(change, step_id, by, reason))

    def note(self, text: str) -> JournalLine:
        """A remark on the current step."""
        return self._decide(lambda change: decisions.note(change, text))

    def way_back(self) -> Plan:
        """What going back from here would be; nothing is written."""
        return make_way_back(self.change, made_by=login(self.node), made_at=now())

    def roll_back(self, by: str, reason: str) -> JournalLine:
        """Begin the way back."""

        def decide(change: Change) -> AnyEvent:
            plan = make_way_back(change, made_by=login(self.node), made_at=now())
            return decisions.roll_back(change, plan, by, reason)

        return self._decide(decide)

    def abandon(self, by: str, reason: str) -> JournalLine:
        """Give the change up where nothing was changed yet."""
        return self._decide(lambda change: decisions.abandon(change, by, reason))

    def close(self, by: str) -> JournalLine:
        """The last step is done: the change is over."""
        return self._decide(lambda change: decisions.close(change, by))

    def _decide(self, decide: Callable[[Change], AnyEvent]) -> JournalLine:
        self.refresh()
        try:
            return self._extend((decide(self.change),))[0]
        except MovedOnError:
            self._read_again()
            return self._extend((decide(self.change),))[0]

    def _read_again(self) -> None:
        self._journal = ChangeJournal.read(self.path)

    def _extend(self, events: tuple[AnyEvent, ...]) -> tuple[JournalLine, ...]:
        return self._journal.extend(events, who=login(self.node), version=racwire_version())


def _current_id(change: Change) -> str:
    """The id of the current step. Raises ChangeError when all are done, or the change is over."""
    if not change.is_open:
        raise ChangeError(f"The change {change.opened.id} is over: {change.outcome}.")
    if change.current is None:
        raise ChangeError("Every step is done: only closing it is left.")
    return change.current.id
