"""The evidence of an experiment's gates: its recordings, the changes on this node, and the test database."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from checks.change.plan.change_plan import ChangeKind, Plan
from checks.change.progress.change_events import Closed
from checks.change.progress.change_text import headline
from checks.change.progress.state import Change
from checks.change.record.change_journal import ChangeJournalError, find
from checks.change.session.recording_facts import see_recording, unlike_environments
from checks.model.facts import (
    Database,
    JournalSeen,
    NoRecording,
    NotGathered,
    RecoveryArea,
    RestorePoint,
    SeenRecording,
    Unknown,
)
from checks.sources.database.restore_points import read_recovery_area, read_restore_points
from checks.sources.nodes.session import Session

OF_DATABASE = frozenset({"recovery-area", "restore-point", "restore-point-dropped"})
"""The gates that query the restore points and the recovery area."""
_OF_AGAIN = frozenset({"run-again-recording", "run-b-recording"})
_OF_CHANGES = frozenset({"run-again-recording", "run-b-recording", "mtu-changed"})
_OF_MTU = (ChangeKind.RAISE, ChangeKind.LOWER)


async def restore_facts(
    session: Session,
) -> tuple[tuple[RestorePoint, ...] | Unknown, RecoveryArea | Unknown]:
    """Return the restore points and the recovery area of the connected database, once the run knows it."""
    database = (await session.cluster_with("database")).database
    if not isinstance(database, Database):
        unknown = Unknown(database.reason, database.right if isinstance(database, Unknown) else None)
        return unknown, unknown
    points = await read_restore_points(session.databases, database)
    return points, await read_recovery_area(session.databases, database)


async def not_restored() -> tuple[NotGathered, NotGathered]:
    """Return the facts of a verification that needs neither."""
    return NotGathered(), NotGathered()


def again_recording(plan: Plan, checks: Collection[str]) -> SeenRecording | NoRecording | Unknown | NotGathered:
    """Return the second recording before the change. Reads the whole file: do not call on an event loop."""
    if plan.experiment is None or _OF_AGAIN.isdisjoint(checks):
        return NotGathered()
    return see_recording(Path(plan.experiment.again_file))


def differences(plan: Plan, checks: Collection[str]) -> tuple[str, ...] | NoRecording | Unknown | NotGathered:
    """Return what differs between the recordings before the change. Do not call on an event loop."""
    if plan.experiment is None or "run-again-recording" not in checks:
        return NotGathered()
    return unlike_environments(Path(plan.baseline_file), Path(plan.experiment.again_file))


def changes_seen(directory: Path, checks: Collection[str]) -> tuple[JournalSeen, ...] | Unknown | NotGathered:
    """Return the changes of the MTU whose journals are in a directory, oldest first."""
    if _OF_CHANGES.isdisjoint(checks):
        return NotGathered()
    try:
        found = [one.change for one in find(directory) if one.change is not None]
    except ChangeJournalError as error:
        return Unknown(str(error))
    return tuple(_seen(change) for change in sorted(found, key=lambda change: change.lines[0].at))


def _seen(change: Change) -> JournalSeen:
    last = change.lines[-1]
    plan = change.opened
    return JournalSeen(
        id=plan.id,
        cluster=plan.cluster,
        opened_at=change.lines[0].at,
        closed_at=last.at if isinstance(last.event, Closed) else "",
        outcome=change.outcome,
        headline=headline(plan),
        mtu_after=plan.mtu_after if plan.kind in _OF_MTU else 0,
    )
