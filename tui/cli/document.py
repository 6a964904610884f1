"""A report or a comparison, saved to a file or printed: what somebody waited for is never lost."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from checks.model.exit_codes import ExitCode
from checks.run.directories import state_directory
from checks.whole_files import OutputError, write_whole
from tui.cli.errors import UsageError
from tui.cli.interrupts import write_interruptibly
from tui.cli.streams import give_up_stdout, print_message


def output_file(named: str, *, replace: bool, option: str = "-o") -> Path:
    """The file to write, looked at before anything is done for it. Raises UsageError."""
    if named == "-":
        raise UsageError(f"{option} needs the name of a file{'; without it, stdout gets it' * (option == '-o')}.")
    output = Path(named)
    if output.is_dir():
        raise UsageError(f"{option} needs the name of a file; {named!r} is none.")
    directory = Path(os.path.realpath(output)).parent
    for needed in (output.parent, directory):  # the other one where it is a link
        if not needed.is_dir():
            raise UsageError(f"{output} cannot be written: there is no directory {needed}.")
    if output.is_file() and not replace:
        raise UsageError(f"{output} is already there; name another file, or add --force to replace it.")
    if (output.is_file() or not output.exists()) and not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"{output} cannot be written: {directory} takes no file from you; name another place.")
    return output


@dataclass(frozen=True)
class Handout:
    """Something to hand on, made when it is delivered."""

    name: str
    """What it is called in a sentence: `report`."""
    data: Callable[[], bytes]
    """As it goes into a file, and to stdout too where there is no text for it."""
    text: Callable[[TextIO], str] | None = None
    """As text for a stream: a terminal has colours and a width."""
    ending: str = ""
    """Of a file of it, with the dot."""

    def deliver(self, output: Path | None, code: int, *, replace: bool) -> int:
        """Save or print it, and return the exit code: the one given, or a higher one where that was not possible.

        What cannot be saved is printed, and what cannot be printed goes to stderr; but a terminal gets text only:
        anything else is kept in a file instead. Why, and where it is, is said last.
        """
        problem = self._printed(sys.stdout) if output is None else self._saved(output, replace)
        if not problem:
            return code
        print_message(f"{problem} {self._put_elsewhere((sys.stderr,) if output is None else (sys.stdout, sys.stderr))}")
        return max(code, ExitCode.COULD_NOT_TELL)

    def _saved(self, output: Path, replace: bool) -> str:
        """Why it could not be saved, in a sentence; empty where it was."""
        try:
            data = self.data()
            write_interruptibly(lambda: write_whole(output, data, replace=replace))
        except OutputError as error:
            return str(error)
        print_message(f"the {self.name} is in {output}.")
        return ""

    def _printed(self, stream: TextIO) -> str:
        """Why it could not be printed, in a sentence; empty where it was."""
        try:
            self._write(stream)
        except BrokenPipeError:
            give_up_stdout()  # the reader has seen enough; what was found is still so
        except OSError as error:
            if stream is sys.stdout:
                give_up_stdout()
            return f"the {self.name} could not be written: {error.strerror}."
        return ""

    def _put_elsewhere(self, streams: Iterable[TextIO]) -> str:
        """Where it is instead, in a sentence: on the first of the streams that takes it, or in a file."""
        for stream in streams:
            if self.text is None and stream.isatty():
                kept = save_elsewhere(
                    self.name, self.ending, lambda path: write_whole(path, self.data(), replace=False)
                )
                if kept is not None:
                    return f"It is in {kept} instead."
            if not self._printed(stream):
                return f"The {self.name} was printed instead."
        return "It could be kept nowhere else."

    def _write(self, stream: TextIO) -> None:
        stream.flush()
        if self.text is None:
            stream.buffer.write(self.data())  # these forms are UTF-8, whatever the locale
        else:
            stream.write(self.text(stream))
        stream.flush()


class Document(Handout):
    """A handout as text, or as JSON."""

    def __init__(self, name: str, form: str, *, json: Callable[[], bytes], text: Callable[[TextIO], str]) -> None:
        """`form` is `text` or `json`."""
        if form == "json":
            super().__init__(name, json, ending=".json")
        else:
            super().__init__(name, lambda: as_file(text), text, ".txt")


def as_file(text: Callable[[TextIO], str]) -> bytes:
    """A text as it goes into a file: plain, and without what is no Unicode."""
    with open("/dev/null", "w", encoding="utf-8") as plain:
        return text(plain).encode(errors="replace")


def save_elsewhere(kind: str, ending: str, write: Callable[[Path], object]) -> Path | None:
    """Write what could not be written where it was to go into a file of racwire's state directory, or of that for
    temporary files; None where neither takes it. `write` raises OutputError where it cannot."""
    name = f"racwire-{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{ending}"
    for directory in (state_directory(), Path(tempfile.gettempdir())):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(directory / name)
        except (OutputError, OSError):
            continue
        return directory / name
    return None
