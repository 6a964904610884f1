"""The journal of a change: an append-only file with a line of JSON for each event, safe against crashes.

A line counts only when it is on the disk. Each line holds the digest of the line before, which reveals a line changed
by hand and two copies that continued separately; the digest of the last line is for the report and the other nodes, so
that a missing end is noticed. An incomplete last line, after a power cut, does not count: it is reported, and the next
line says how long it was.
"""

from __future__ import annotations

import errno
import fcntl
import getpass
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from checks.change.plan.change_plan import SCHEMA, Plan
from checks.change.progress.change_events import AnyEvent, JournalLine, JournalSeal, ObservedState, Opened
from checks.change.progress.journal_names import SUFFIX, file_name
from checks.change.progress.state import Change, ChangeError, advance, fold
from checks.change.record.plans_of_0_2_0 import decoded
from checks.model.journal import now
from checks.model.shell_command import shell

_LOCK = ".racwire-change.lock"
_LOCK_LIMIT_S = 10.0
_LOCK_EVERY_S = 0.02
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_Written = tuple[tuple[JournalLine, ...], Change, bytes]
_MOST_BYTES = 64_000_000
"""The maximum size of a journal, far more than a change ever writes."""


class ChangeJournalError(Exception):
    """The journal cannot be read or written: one sentence with the file, the reason, and the remedy."""


class MovedOnError(ChangeJournalError):
    """Another process wrote to the journal since it was read: read the journal again."""


class ChangeJournal:
    """The journal of one change. The file is locked only while lines are written."""

    def __init__(self, path: Path, change: Change, last: bytes, size: int, seen: int) -> None:
        """Hold a journal: `last` is its last whole line, `size` the end of that line, `seen` the size of the file."""
        self.path = path
        self.change = change
        self._last = last
        self._size = size
        self._seen = seen

    @classmethod
    def read(cls, path: Path) -> ChangeJournal:
        """Read the journal in a file. Raises ChangeJournalError if it cannot be read or is damaged."""
        data = _bytes_of(path)
        lines: list[JournalLine] = []
        last = b""
        size = 0
        for raw in _whole_lines(data):
            lines.append(_decode(path, raw, len(lines) + 1, digest(last) if lines else ""))
            last = raw
            size += len(raw) + 1
        if not lines:
            raise ChangeJournalError(f"{path} holds no change: its first line is missing.")
        try:
            return cls(path, fold(lines), last, size, len(data))
        except ChangeError as error:
            raise ChangeJournalError(f"{path} is not the journal of a valid change: {error}") from None

    @classmethod
    def open_new(cls, directory: Path, plan: Plan, look: ObservedState, *, who: str, version: str) -> ChangeJournal:
        """Create the journal of a new change.

        Raises ChangeJournalError if it cannot be written, or if another change of this cluster is open in `directory`.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(directory / _LOCK):
                for found in find(directory):
                    if found.change and found.change.is_open and found.change.opened.cluster == plan.cluster:
                        raise ChangeJournalError(
                            f"The {plan.noun} {found.change.opened.id} of {plan.cluster} is still open ({found.path}): "
                            "finish it, roll it back, or abandon it first."
                        )
                path = directory / file_name(plan)
                line = _line(1, who, version, "", Opened(plan, look))
                raw = _encoded(line)
                _create(path, raw + b"\n")
        except OSError as error:
            raise ChangeJournalError(
                f"racwire cannot create a journal in {directory}: {error.strerror}. Name another one with --directory."
            ) from error
        return cls(path, fold([line]), raw, len(raw) + 1, len(raw) + 1)

    @property
    def seal(self) -> JournalSeal:
        """The end of the journal, as it was read or written last."""
        incomplete = self._seen - self._size
        return JournalSeal(lines=len(self.change.lines), sha256=digest(self._last), incomplete_bytes=incomplete)

    def append(self, event: AnyEvent, *, who: str, version: str) -> JournalLine:
        """Write one event; it is on the disk when the method returns. Raises what `extend` raises."""
        return self.extend((event,), who=who, version=version)[0]

    def extend(self, events: Sequence[AnyEvent], *, who: str, version: str) -> tuple[JournalLine, ...]:
        """Write several events in one operation; they are on the disk when the method returns.

        Raises MovedOnError if another process wrote meanwhile, ChangeJournalError if the events cannot be written, and
        ChangeError if an event does not fit; then nothing is written.
        """
        try:
            written, change, data = self._write(lambda cut: self._lines_of(events, who, version, cut))
        except OSError as error:
            why = "it is a symbolic link: specify the file itself" if error.errno == errno.ELOOP else error.strerror
            raise ChangeJournalError(
                f"{self.path} could not be written ({why}): the last event was not saved. Fix this first."
            ) from error
        self.change = change
        self._last = data[:-1].rpartition(b"\n")[2]
        self._size = self._seen = self._size + len(data)
        return written

    def _lines_of(self, events: Sequence[AnyEvent], who: str, version: str, cut: int) -> _Written:
        """Return the lines of events, the change after them, and their bytes. `cut` bytes are removed before them."""
        change, last = self.change, self._last
        written: list[JournalLine] = []
        data = b""
        for event in events:
            line = _line(change.lines[-1].number + 1, who, version, digest(last), event, cut if not written else 0)
            change = advance(change, line)
            last = _encoded(line)
            written.append(line)
            data += last + b"\n"
        return tuple(written), change, data

    def is_stale(self) -> bool:
        """Whether the file differs from the last read or write: another process wrote to it, or removed it."""
        try:
            return self.path.stat().st_size != self._seen
        except OSError:
            return True

    def _write(self, make: Callable[[int], _Written]) -> _Written:
        """Write what `make` returns for the number of bytes of an incomplete line that are removed."""
        handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            _lock(handle, self.path)
            there = os.fstat(handle).st_size
            if there < self._size:
                raise ChangeJournalError(
                    f"{self.path} is shorter than before: it was replaced or truncated. Check the file."
                )
            if os.pread(handle, len(self._last) + 1, self._size - len(self._last) - 1) != self._last + b"\n":
                raise MovedOnError(f"{self.path} was replaced by another file: read it again.")
            if there > self._size and b"\n" in os.pread(handle, there - self._size, self._size):
                raise MovedOnError(f"Another process wrote to {self.path}: read it again.")
            made = make(there - self._size)
            *_, raw = made
            if there > self._size:
                os.ftruncate(handle, self._size)  # an incomplete line, which was never reported as written
            written = 0
            try:
                while written < len(raw):
                    written += os.pwrite(handle, raw[written:], self._size + written)
                os.fsync(handle)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(handle, self._size)
                raise
            return made
        finally:
            os.close(handle)


class FoundJournal(msgspec.Struct, frozen=True):
    """A journal in a directory."""

    path: Path
    change: Change | None
    problem: str = ""
    """Why the journal cannot be read; empty if it can."""


def find(directory: Path) -> tuple[FoundJournal, ...]:
    """Return all journals in a directory, sorted by name, including damaged ones.

    Raises ChangeJournalError if the directory cannot be read.
    """
    try:
        paths = sorted(path for path in directory.iterdir() if path.name.endswith(SUFFIX))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ChangeJournalError(f"{directory} cannot be read: {error.strerror}.") from error
    return tuple(_found(path) for path in paths)


def login(node: str) -> str:
    """Return the login of the operator, as the system reports it, with the node: `oracle@rac1`."""
    try:
        return f"{getpass.getuser()}@{node}"
    except (KeyError, OSError):
        return f"uid {os.getuid()}@{node}"


def digest(raw: bytes) -> str:
    """Return the digest of a line, which the next line holds."""
    return hashlib.sha256(raw).hexdigest()


def _line(number: int, who: str, version: str, after: str, event: AnyEvent, cut: int = 0) -> JournalLine:
    up_s = int(time.clock_gettime(time.CLOCK_BOOTTIME))
    return JournalLine(
        number=number, at=now(), who=who, racwire=version, after=after, event=event, boot=_boot(), up_s=up_s, cut=cut
    )


def _boot() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _found(path: Path) -> FoundJournal:
    try:
        return FoundJournal(path, ChangeJournal.read(path).change)
    except ChangeJournalError as error:
        return FoundJournal(path, None, str(error))


def _bytes_of(path: Path) -> bytes:
    try:
        # Non-blocking: opening a named pipe could wait forever.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ChangeJournalError(f"{path} is not the journal of a change: it is not a regular file.")
            if status.st_size > _MOST_BYTES:
                raise ChangeJournalError(
                    f"{path} is not the journal of a change: it is larger than {_MOST_BYTES // 1_000_000} MB."
                )
            return file.read(_MOST_BYTES)
    except FileNotFoundError:
        raise ChangeJournalError(f"There is no journal {path}.") from None
    except OSError as error:
        raise ChangeJournalError(f"{path} cannot be read: {error.strerror}.") from error


def _whole_lines(data: bytes) -> Iterator[bytes]:
    """Yield every complete line; an incomplete last line was being written when the node went down."""
    *lines, _ = data.split(b"\n")
    yield from lines


def _decode(path: Path, raw: bytes, number: int, last: str) -> JournalLine:
    try:
        line = decoded(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        before = shell(
            " To use the lines before it, copy them into a new file with `head -n {number}`.", number=number - 1
        )
        raise ChangeJournalError(
            f"Line {number} of {path} is damaged, or written by a newer racwire.{before if number > 1 else ''}"
        ) from None
    if line.after != last or line.number != number:
        raise ChangeJournalError(
            f"Line {number} of {path} does not follow from the line before: one of them was changed by hand, or two "
            "copies were merged."
        )
    if isinstance(line.event, Opened) and line.event.plan.schema != SCHEMA:
        raise ChangeJournalError(
            f"{path} has the format {line.event.plan.schema}, but this version of racwire reads {SCHEMA}."
        )
    return line


def _encoded(line: JournalLine) -> bytes:
    """Return a line as JSON. Raises ChangeError for a text that is not UTF-8: a file name can hold any bytes."""
    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError as error:
        raise ChangeError(
            f"{error.object!r} holds bytes that are not UTF-8, which a journal cannot store: choose another name."
        ) from None


def _create(path: Path, data: bytes) -> None:
    """Create a new file that is complete or absent, also after a power cut."""
    fresh = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.link(fresh, path)  # unlike a rename it never replaces another journal
    fresh.unlink()
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    """Wait for the lock; another process holds it only while it writes. Raises ChangeJournalError after 10 s: the other
    process may be suspended (Ctrl-Z).

    Some shared file systems have no locks; there the digests still reveal two processes that wrote at the same time.
    """
    until = time.monotonic() + _LOCK_LIMIT_S
    while time.monotonic() < until:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_EVERY_S)
        except OSError:
            return
        else:
            return
    raise ChangeJournalError(
        f"Another process keeps {path} locked. Find the process ({shell('fuser {path}', path=str(path))}) and continue "
        "or end it. Nothing was written."
    )
