"""The directory of the journals of changes, and the choice of one journal."""

from __future__ import annotations

from pathlib import Path

from checks.change.progress.journal_names import SUFFIX, noun_of
from checks.change.progress.state import ChangeError
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError, FoundJournal, find
from checks.model.own_command import OwnCommand
from checks.model.settings import Settings
from checks.model.wording import counted
from checks.run.directories import change_directory


def directory_of(settings: Settings) -> Path:
    """Return the directory of the journals: from the settings, else in the user's state directory.

    Raises ChangeJournalError if the path names the home directory of an unknown user.
    """
    directory = settings.change.directory
    try:
        return Path(directory or change_directory()).expanduser().absolute()
    except RuntimeError:
        raise ChangeJournalError(
            f"{directory} names an unknown home directory: specify the whole path with --directory."
        ) from None


def journals(settings: Settings) -> tuple[FoundJournal, ...]:
    """Return all journals of the directory, including damaged ones.

    Raises ChangeJournalError if the directory cannot be read.
    """
    return find(directory_of(settings))


def current(settings: Settings, cluster: str | None = None, path: Path | None = None) -> ChangeJournal:
    """Return the journal at `path`, also of a closed change; without a path, that of the only open change.

    `cluster` limits the search to one cluster. Raises ChangeError if there is no open change or more than one, and
    ChangeJournalError if a journal cannot be read: a damaged journal may be that of the open change.
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
        raise ChangeError(
            f"More than one {noun_of(directory)} is open in {directory}; name the one with --file: {names}."
        )
    broken = [one for one in found if one.change is None]
    if broken:
        raise ChangeJournalError(broken[0].problem)
    of = f" of {cluster}" if cluster else ""
    noun = noun_of(directory)
    over = (f" ({counted(len(found), f'closed {noun}')}: ", OwnCommand("list", program=noun), ")") if found else ()
    raise ChangeError(
        f"No {noun}{of} is open in {directory}",
        *over,
        ". ",
        OwnCommand("new", program=noun),
        f" opens one. To continue one from another node, copy its *{SUFFIX} file here.",
    )
