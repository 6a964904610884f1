"""Where the journals of changes lie, and which of them is meant."""

from __future__ import annotations

from pathlib import Path

from checks.change.change_journal import SUFFIX, ChangeJournal, ChangeJournalError, FoundJournal, find
from checks.change.state import ChangeError
from checks.model.settings import Settings
from checks.run.directories import change_directory


def directory_of(settings: Settings) -> Path:
    """Where the journals of changes are: as set, else in the user's own state. Raises ChangeJournalError where that is
    below the home of a user that there is none of."""
    directory = settings.change.directory
    try:
        return Path(directory or change_directory()).expanduser().absolute()
    except RuntimeError:
        raise ChangeJournalError(
            f"{directory} names a home directory that is not known: give the whole path with --directory."
        ) from None


def journals(settings: Settings) -> tuple[FoundJournal, ...]:
    """All journals that lie there, the broken ones too. Raises ChangeJournalError."""
    return find(directory_of(settings))


def current(settings: Settings, cluster: str | None = None, path: Path | None = None) -> ChangeJournal:
    """The journal in that file, also of a change that is over; else that of the only open change (of that cluster).

    Raises ChangeError where there is none or more than one, ChangeJournalError where it cannot be read: a journal that
    is broken may be that of the open change, so nothing is guessed while there is one.
    """
    if path is not None:
        return ChangeJournal.read(path)
    directory = directory_of(settings)
    found = journals(settings)
    is_open = [one for one in found if one.change and one.change.is_open]
    chosen = [one for one in is_open if cluster is None or (one.change and one.change.opened.cluster == cluster)]
    if len(chosen) == 1:
        return ChangeJournal.read(chosen[0].path)
    if chosen:
        names = ", ".join(str(one.path) for one in chosen)
        raise ChangeError(f"More than one change is open in {directory}; name the one with --file: {names}.")
    broken = [one for one in found if one.change is None]
    if broken:
        raise ChangeJournalError(broken[0].problem)
    of = f" of {cluster}" if cluster else ""
    over = f" ({len(found)} that are over: `racwire change list`)" if found else ""
    raise ChangeError(
        f"No change{of} is open in {directory}{over}. `racwire change new` begins one; where it was begun on another "
        f"node, copy its *{SUFFIX} file here."
    )
