"""Find the saved files of a fleet and read each one once, with the help of the index where there is one."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from checks.fleet.file_summary import FileSummary, packed, summary_of, unpacked
from checks.fleet.fleet_index import FleetIndex, IndexFileError
from checks.fleet.fleet_overview import FilesRead, PackedFile, UnreadFile
from checks.fleet.same_cluster import FileIdentity
from checks.saved import SavedError, kind_of
from checks.saved.stored_report import stored_report

MOST_FILES = 100_000
_ENDING = ".racwire"


class TooManyFilesError(Exception):
    """There are more files than a run reads. The text is one sentence."""


class _Found(NamedTuple):
    path: Path
    status: os.stat_result | None
    """None where it is no regular file."""
    is_named: bool
    """Whether the operator named the file itself."""
    why: str = ""
    """Why a directory could not be listed."""


class FleetFiles:
    """The files of a fleet as they are read, one at a time: the memory that they take does not grow with their size."""

    def __init__(self, named: Sequence[Path], index: FleetIndex | None) -> None:
        """`named` are files and directories. Directories are searched, those in them too; links to directories are
        not followed."""
        self._named = named
        self._index = index
        self._identities: dict[FileIdentity, FileIdentity] = {}
        self._numbers: Counter[str] = Counter()
        self._unread: list[UnreadFile] = []
        self.files: list[PackedFile] = []
        self.why_no_index = ""
        """Why the index is not used any more, in a sentence; empty while it is."""

    @property
    def read(self) -> FilesRead:
        """What was found so far."""
        named = tuple(_printable(path) for path in self._named)
        return FilesRead(named=named, files=len(self.files), unread=tuple(self._unread), **self._numbers)

    def read_all(self, seen: Callable[[int, int], None]) -> None:
        """Read all files. Blocking. `seen` gets the number of files read, and of all. Raises TooManyFilesError."""
        found = [*self._found()]
        for number, one in enumerate(found, 1):
            self._read(one)
            seen(number, len(found))

    def _found(self) -> Iterator[_Found]:
        """Find each file once, whatever links lead to it. Raises TooManyFilesError."""
        known: set[tuple[int, int]] = set()
        number = 0
        for named in self._named:
            for one in _below(named):
                key = (one.status.st_dev, one.status.st_ino) if one.status else (0, 0)
                if one.status and key in known:
                    continue
                known.add(key)
                number += 1
                if number > MOST_FILES:
                    raise TooManyFilesError(
                        f"There are more than {MOST_FILES:,} files below {_printable(named)}: name a directory with "
                        "fewer, such as that of one month."
                    )
                yield one

    def _read(self, one: _Found) -> None:
        if one.why:
            self._add_unread(one.path, f"{_printable(one.path)} could not be listed: {one.why}.")
            return
        if one.status is not None and (known := self._indexed(one.path, one.status)) is not None:
            self._numbers["from_index"] += 1
            self._add(one.path, *known)
            return
        if not one.is_named and not _is_ours(one):
            self._numbers["others"] += 1
        elif kind_of(one.path) == "recording":
            self._numbers["recordings"] += 1
        else:
            self._read_anew(one)

    def _read_anew(self, one: _Found) -> None:
        try:
            told = summary_of(stored_report(one.path))
        except SavedError as error:
            self._add_unread(one.path, str(error))
            return
        except (ValueError, OverflowError, OSError):
            self._add_unread(one.path, f"{_printable(one.path)} has no time that a calendar has.")
            return
        body = packed(told)
        self._add(one.path, body, told)
        if self._index is not None and one.status is not None:
            try:
                self._index.keep(one.path.absolute(), one.status, body)
            except IndexFileError as error:
                self._give_up_index(error)

    def _indexed(self, path: Path, status: os.stat_result) -> tuple[bytes, FileSummary] | None:
        if self._index is None:
            return None
        try:
            body = self._index.body(path.absolute(), status)
            return None if body is None else (body, unpacked(body))
        except IndexFileError as error:
            self._give_up_index(error)
        except ValueError:
            pass  # it is read again, and replaced
        return None

    def _give_up_index(self, error: IndexFileError) -> None:
        self.why_no_index, self._index = str(error), None

    def _add(self, path: Path, body: bytes, told: FileSummary) -> None:
        identity = FileIdentity(told.cluster, told.nodes, tuple(sorted(told.nics.items())), told.is_redacted)
        identity = self._identities.setdefault(identity, identity)
        self.files.append(PackedFile(_printable(path), told.at, told.digest, identity, body))

    def _add_unread(self, path: Path, reason: str) -> None:
        told = reason.encode(errors="backslashreplace").decode()
        self._unread.append(UnreadFile(_printable(path), told))


def _below(named: Path) -> Iterator[_Found]:
    """Yield a file, or those below a directory in the order of their names. Pipes and devices are not opened."""
    try:
        status = named.stat()
    except OSError:
        yield _Found(named, None, is_named=True)  # reading it says why
        return
    if not stat.S_ISDIR(status.st_mode):
        yield _Found(named, status if stat.S_ISREG(status.st_mode) else None, is_named=True)
        return
    waiting = [named]
    while waiting:
        directory = waiting.pop()
        try:
            with os.scandir(directory) as entries:
                below = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield _Found(directory, None, is_named=False, why=error.strerror or "it cannot be read")
            continue
        deeper: list[Path] = []
        for entry in below:
            path = directory / entry.name
            if entry.name.startswith("."):
                continue  # an incomplete file of a racwire that writes it now
            if entry.is_dir(follow_symlinks=False):
                deeper.append(path)
            else:
                yield _Found(path, _regular(path), is_named=False)
        waiting += reversed(deeper)


def _regular(path: Path) -> os.stat_result | None:
    try:
        status = path.stat()
    except (OSError, RuntimeError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _is_ours(one: _Found) -> bool:
    """Whether a file that the operator did not name is one of racwire, by its name or its first bytes."""
    if one.status is None:
        return False
    return one.path.suffix == _ENDING or bool(kind_of(one.path, strictly=True))


def _printable(path: Path) -> str:
    return os.fsencode(path).decode(errors="backslashreplace")
