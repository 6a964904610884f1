"""What the console remembers of the operator's choices: how it looks, never what it hides or does.

The file is small JSON in the state directory. A file that cannot be used is ignored with a sentence in the log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from checks.model.sanitize import as_utf8
from tui.text.home_path import short
from tui.widgets.sorting import Sorting

FILE_NAME = "console.json"
_VERSION = 1
_MOST_BYTES = 10_000
"""Of a file; ours has some 200."""

log = logging.getLogger(__name__)


class Presets(msgspec.Struct, frozen=True, omit_defaults=True):
    """The choices; the defaults where nothing was chosen."""

    version: int = 0
    """The version of the file; 0 where there is none."""
    theme: str = ""
    """The name of the theme; empty for the usual one of the terminal."""
    graphs: Literal["", "blocks", "braille"] = ""
    """The characters of the graphs."""
    all_nodes: bool = False
    """Whether Traffic shows all nodes first."""
    other_interfaces: bool = False
    """Whether Traffic shows the interfaces that are not ports of a private network."""
    nodes: Sorting = Sorting()
    """The order of all nodes on Traffic."""
    instances: Sorting = Sorting()
    """The order of the instances on Database."""


class UnusableFileError(Exception):
    """The file cannot be used: the reason, as a clause."""


class PresetFile:
    """The file of the presets. It is written in a thread, after each choice: a dead disk must not stop the console."""

    def __init__(self, state_directory: Path, report: Callable[[str], None]) -> None:
        """`report` displays a sentence to the operator, at most once: why choices are not remembered."""
        self.path = state_directory / FILE_NAME
        self._report = report
        self._chosen: dict[str, Any] = {}
        self._writing: asyncio.Task[None] | None = None
        self._is_reported = False

    def load(self) -> Presets:
        """Return the presets; the defaults where there are none, or where the file cannot be used."""
        try:
            return self._read()
        except UnusableFileError as error:
            log.warning("%s is ignored: %s.", self.path, error)
            return Presets()

    def keep(self, **chosen: Any) -> None:
        """Remember choices, each as an attribute of `Presets`."""
        self._chosen |= chosen
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def stop(self, within_s: float) -> None:
        """Wait until the file is written; a disk that does not answer in that time is abandoned."""
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=within_s)

    async def _write(self) -> None:
        while self._chosen:
            chosen, self._chosen = self._chosen, {}
            if problem := await asyncio.to_thread(self._merge, chosen):
                log.warning("%s", problem)
                if not self._is_reported:
                    self._is_reported = True
                    self._report(problem)

    def _merge(self, chosen: dict[str, Any]) -> str:
        """Add the choices to the file, where another console may have written too; return why that failed, else
        nothing."""
        from checks.whole_files import OutputError, OutputFile, write_whole

        try:
            before = self._read()
        except UnusableFileError:
            before = Presets()
        if before.version > _VERSION:
            return f"This choice is not remembered: {self.path} is of a newer racwire."
        after = msgspec.structs.replace(before, version=_VERSION, **chosen)
        if after == before:
            return ""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(OutputFile(self.path, replace=True), msgspec.json.encode(after))
        except (OSError, OutputError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            reason = cause.strerror if isinstance(cause, OSError) else str(error)
            return f"This choice is not remembered: {reason} ({short(self.path)})."
        return ""

    def _read(self) -> Presets:
        try:
            data = as_utf8(_bytes_of(self.path))
        except (FileNotFoundError, NotADirectoryError):
            return Presets()
        except OSError as error:
            raise UnusableFileError(f"it could not be read ({error.strerror})") from error
        try:
            version = msgspec.json.decode(data, type=_Head).version
            if version > _VERSION:
                return Presets(version=version)
            return msgspec.json.decode(data, type=Presets)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UnusableFileError(f"racwire did not write it like that ({error})") from error


class _Head(msgspec.Struct):
    version: int = 0


def _bytes_of(path: Path) -> bytes:
    """Return the contents of a regular file. Raises OSError, UnusableFileError; a pipe or a device does not block."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnusableFileError("it is not a regular file")
        data = os.read(handle, _MOST_BYTES + 1)
    finally:
        with suppress(OSError):
            os.close(handle)
    if len(data) > _MOST_BYTES:
        raise UnusableFileError(f"it is longer than {_MOST_BYTES:,} bytes")
    return data
