"""An open change for the command line and the screen: its journal, its verification, the decisions of people."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path

from checks.change.plan.change_plan import Plan
from checks.change.plan.way_back import make_way_back
from checks.change.progress import decisions
from checks.change.progress.change_events import AnyEvent, JournalLine, JournalSeal, ObservedState, Verified
from checks.change.progress.concluding import conclude
from checks.change.progress.state import Change, ChangeError
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError, MovedOnError, login
from checks.change.session.open_here import node_here
from checks.change.session.verifying import Concluded, Verification, read_nodes
from checks.change.session.worker_threads import run_to_completion
from checks.model.journal import now
from checks.model.own_command import VERIFY
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.run.events import Event
from checks.sources.database.secret import Secret

_MOST_TRIES = 100
"""How often an event is written again after another process wrote first; each try reads what that process wrote."""


class ChangeSession:
    """An open change: its journal, the verification of its gates, and the decisions of people.

    A decision is on the disk when the method returns. Every method raises ChangeError if the request does not fit the
    state of the change, and ChangeJournalError if the journal cannot be written; each message is one sentence. If
    another process wrote to the journal meanwhile, the method reads the journal again and repeats the decision.
    """

    def __init__(
        self, journal: ChangeJournal, settings: Settings, password: Secret | None = None, node: str = ""
    ) -> None:
        self._journal = journal
        self._settings = settings
        self._password = password
        self.node = node_here(journal.change.opened, node or os.uname().nodename)
        """The plan's name of the local node; the host name if it is not a node of the plan."""

    @property
    def change(self) -> Change:
        """The present state of the change."""
        return self._journal.change

    @property
    def path(self) -> Path:
        """The path of the journal."""
        return self._journal.path

    @property
    def seal(self) -> JournalSeal:
        """The end of the journal."""
        return self._journal.seal

    def refresh(self) -> bool:
        """Read the journal again if another process wrote to it; return whether it has new lines.

        Raises ChangeJournalError if the journal cannot be read.
        """
        if not self._journal.is_stale():
            return False
        before = self.change.lines
        self._read_again()
        return self.change.lines != before

    async def verify(self) -> AsyncGenerator[Event | Concluded, None]:
        """Verify the gates of the current step and the gates that must still hold.

        Yields the engine's events, writes the result to the journal, and yields `Concluded` last, with the written
        events. A cancelled verification writes nothing. Raises ChangeError if the change is closed, or if another
        process verified or finished the step meanwhile; ChangeJournalError if the journal cannot be read or written.
        """
        await asyncio.to_thread(self.refresh)
        change = self.change
        if not change.is_open:
            raise ChangeError(f"The {change.opened.noun} {change.opened.id} is closed: {change.outcome}.")
        verification = Verification(change, self._settings, self._password, node=self.node, directory=self.path.parent)
        async with aclosing(verification.events()) as events:
            async for event in events:
                if isinstance(event, Concluded):
                    written = await run_to_completion(partial(self._write_result, verification, event))
                    yield Concluded(written, event.report)
                else:
                    yield event

    def _write_result(self, verification: Verification, concluded: Concluded) -> tuple[AnyEvent, ...]:
        """Write the result of a verification, concluded again if another process wrote a decision or a note meanwhile.

        Raises ChangeError if another process verified or finished the step meanwhile.
        """
        events = concluded.events
        for _ in range(_MOST_TRIES):
            with suppress(MovedOnError):
                self._extend(events)
                return events
            self._read_again()
            current = self.change.current
            if not self.change.is_open or self.change.plan != verification.change.plan or current is None:
                raise ChangeError(
                    f"The {self.change.opened.noun} continued during the verification. Run ", VERIFY, " again."
                )
            if current.id != verification.step.id:
                raise ChangeError(
                    f"Another process finished step {verification.step.id} during the verification. Run ",
                    VERIFY,
                    " again.",
                )
            if any(isinstance(line.event, Verified) for line in self.change.lines[len(verification.change.lines) :]):
                # The other process may have read the nodes later: this result must not replace what it saw.
                raise ChangeError(
                    "Another process verified the same step during this verification, so this result may be out of "
                    "date and was not saved. Run ",
                    VERIFY,
                    " again.",
                )
            events = conclude(self.change, current, concluded.report)
        raise self._too_busy()

    async def begin(self, step_id: str = "") -> AsyncGenerator[Event | JournalLine, None]:
        """Start a step that stops something, the current one if none is named: read the nodes that it stops.

        Yields the engine's events, and the written line last. A cancelled reading writes nothing. Raises as the class
        says, before anything is read if the step cannot be started.
        """
        await asyncio.to_thread(self.refresh)
        change = self.change
        chosen = step_id or _current_id(change)
        decisions.begin(change, chosen, ObservedState())
        async with aclosing(read_nodes(change, self._settings, self.node)) as events:
            async for event in events:
                if isinstance(event, ObservedState):
                    yield await run_to_completion(partial(self._write_start, chosen, event))
                else:
                    yield event

    def _write_start(self, step_id: str, look: ObservedState) -> JournalLine:
        return self._decide(lambda change: decisions.begin(change, step_id, look))

    def attest(self, by: str, note: str = "", host: str = "") -> JournalLine:
        """Attest the current step, signed by `by`. Raises as the class says."""
        step_id = _current_id(self.change)  # the displayed current step; never the step after it
        return self._decide(lambda change: decisions.attest(change, step_id, by, note, host))

    def override(self, by: str, reason: str) -> JournalLine:
        """Override the gate of the current step with a reason. Raises as the class says."""
        step_id = _current_id(self.change)
        return self._decide(lambda change: decisions.override(change, step_id, by, reason))

    def note(self, text: str) -> JournalLine:
        """Add a note to the current step. Raises as the class says."""
        return self._decide(lambda change: decisions.note(change, text))

    def way_back(self) -> Plan:
        """Return the rollback plan from the present state; nothing is written."""
        return make_way_back(self.change, made_by=login(self.node), made_at=now())

    def roll_back(self, by: str, reason: str) -> JournalLine:
        """Start the rollback. Raises as the class says."""

        def decide(change: Change) -> AnyEvent:
            plan = make_way_back(change, made_by=login(self.node), made_at=now())
            return decisions.roll_back(change, plan, by, reason)

        return self._decide(decide)

    def abandon(self, by: str, reason: str) -> JournalLine:
        """Abandon a change that has not stopped or changed anything yet. Raises as the class says."""
        return self._decide(lambda change: decisions.abandon(change, by, reason))

    def close(self, by: str) -> JournalLine:
        """Close the change after its last step. Raises as the class says."""
        return self._decide(lambda change: decisions.close(change, by))

    def _decide(self, decide: Callable[[Change], AnyEvent]) -> JournalLine:
        self.refresh()
        for _ in range(_MOST_TRIES):
            with suppress(MovedOnError):
                return self._extend((decide(self.change),))[0]
            self._read_again()
        raise self._too_busy()

    def _too_busy(self) -> ChangeJournalError:
        return ChangeJournalError(f"Other processes keep writing to {self.path}: nothing was written. Try again.")

    def _read_again(self) -> None:
        self._journal = ChangeJournal.read(self.path)

    def _extend(self, events: tuple[AnyEvent, ...]) -> tuple[JournalLine, ...]:
        return self._journal.extend(events, who=login(self.node), version=racwire_version())


def _current_id(change: Change) -> str:
    """Return the id of the current step. Raises ChangeError if all steps are done, or the change is closed."""
    if not change.is_open:
        raise ChangeError(f"The {change.opened.noun} {change.opened.id} is closed: {change.outcome}.")
    if change.current is None:
        raise ChangeError(f"Every step is done: the {change.opened.noun} can only be closed.")
    return change.current.id
