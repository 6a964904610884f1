"""Prints a report or a comparison, or writes it to a file. Where that fails, it goes elsewhere: no result is lost."""

from __future__ import annotations

import argparse
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
from checks.whole_files import OutputError, OutputFile, trusted_target, write_whole
from tui.cli.errors import UsageError
from tui.cli.interrupts import write_interruptibly
from tui.cli.streams import give_up_stdout, print_message


def chosen_output(args: argparse.Namespace) -> OutputFile | None:
    """The file of `-o`; None for stdout. Raises UsageError where the file cannot be written."""
    return None if args.output is None else output_file(args.output, args)


def output_file(named: str, args: argparse.Namespace, option: str = "-o") -> OutputFile:
    """The output file, checked before the command does its work. Raises UsageError where the file cannot be written;
    `option` names the option in the message."""
    if named == "-":
        raise UsageError(f"{option} needs the name of a file{'; leave it out to print on stdout' * (option == '-o')}.")
    output = Path(named)
    if output.is_dir():
        raise UsageError(f"{option} needs the name of a file; {named!r} is not one.")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no directory {output.parent}.")
    try:
        target = trusted_target(output)
    except OutputError as error:
        raise UsageError(str(error)) from None
    directory = target.parent
    if not directory.is_dir():
        raise UsageError(f"{output} cannot be written: there is no directory {directory}.")
    if target.is_file() and not args.force:
        raise UsageError(f"{output} is already there; name another file, or add --force to replace it.")
    if not os.access(directory, os.W_OK | os.X_OK):
        is_read_only = os.statvfs(directory).f_flag & os.ST_RDONLY
        why = f"the file system of {directory} is read-only" if is_read_only else f"you may not write to {directory}"
        raise UsageError(f"{output} cannot be written: {why}; name another place.")
    return OutputFile(output, args.force, args.mode)


@dataclass(frozen=True)
class Handout:
    """A result, rendered when it is delivered."""

    name: str
    """The noun in messages: `report`."""
    data: Callable[[], bytes]
    """Returns the bytes of the file; stdout gets them too where `text` is None."""
    text: Callable[[TextIO], str] | None = None
    """Returns the text for a stream: a terminal has colours and a width."""
    ending: str = ""
    """The file name ending, with the dot."""

    def deliver(self, output: OutputFile | None, code: int, *, quiet: bool = False) -> int:
        """Write the result to `output`, or print it. Return `code`, or a higher exit code where that failed. `quiet`:
        do not say that the file was written.

        A result that cannot be written is printed, and a result that cannot be printed goes to stderr. A terminal gets
        text only: other formats go to a file of their own. The last message gives the reason and the place.
        """
        problem = self._printed(sys.stdout) if output is None else self._saved(output, quiet=quiet)
        if not problem:
            return code
        print_message(
            f"{problem} {self._deliver_elsewhere((sys.stderr,) if output is None else (sys.stdout, sys.stderr))}"
        )
        return max(code, ExitCode.COULD_NOT_TELL)

    def _saved(self, output: OutputFile, *, quiet: bool) -> str:
        """A sentence with the reason why the file could not be written; empty on success."""
        try:
            data = self.data()
            write_interruptibly(lambda: write_whole(output, data))
        except OutputError as error:
            return str(error)
        if not quiet:
            print_message(f"the {self.name} is in {output}.")
        return ""

    def _printed(self, stream: TextIO) -> str:
        """A sentence with the reason why the result could not be printed; empty on success."""
        try:
            self._write(stream)
        except BrokenPipeError:
            give_up_stdout()  # the reader has closed the pipe; the exit code stays the same
        except OSError as error:
            if stream is sys.stdout:
                give_up_stdout()
            return f"the {self.name} could not be written: {error.strerror}."
        return ""

    def _deliver_elsewhere(self, streams: Iterable[TextIO]) -> str:
        """Print the result on the first stream that accepts it, or write it to a file. Return a sentence that names the
        place."""
        for stream in streams:
            if self.text is None and stream.isatty():
                saved = save_elsewhere(self.name, self.ending, lambda path: write_whole(OutputFile(path), self.data()))
                if saved is not None:
                    return f"The {self.name} is in {saved} instead."
            if not self._printed(stream):
                return f"The {self.name} was printed instead."
        return f"The {self.name} could not be saved elsewhere."

    def _write(self, stream: TextIO) -> None:
        stream.flush()
        if self.text is None:
            stream.buffer.write(self.data())  # these formats are UTF-8 in every locale
        else:
            stream.write(self.text(stream))
        stream.flush()


class Document(Handout):
    """A result as text or as JSON."""

    def __init__(self, name: str, form: str, *, json: Callable[[], bytes], text: Callable[[TextIO], str]) -> None:
        """Render the result as `form`: `text` or `json`."""
        if form == "json":
            super().__init__(name, json, ending=".json")
        else:
            super().__init__(name, lambda: as_file(text), text, ".txt")


def as_file(text: Callable[[TextIO], str]) -> bytes:
    """The bytes of a text file: without colours, and with a replacement character for invalid Unicode."""
    with open("/dev/null", "w", encoding="utf-8") as plain:
        return text(plain).encode(errors="replace")


def save_elsewhere(kind: str, ending: str, write: Callable[[Path], object]) -> Path | None:
    """Write to a new file in racwire's state directory, or else in the directory for temporary files.

    Returns its path, or None where both fail. `write` raises OutputError where it cannot write the file.
    """
    name = f"racwire-{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{ending}"
    for directory in (state_directory(), Path(tempfile.gettempdir())):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(directory / name)
        except (OutputError, OSError):
            continue
        return directory / name
    return None
