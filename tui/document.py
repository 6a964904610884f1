"""A report or a comparison, saved to a file or printed: what somebody waited for is never lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from checks.files import OutputError, write_whole
from checks.result import ExitCode
from tui.errors import UsageError
from tui.streams import give_up_stdout, tell


def output_file(named: str, *, replace: bool, option: str = "-o") -> Path:
    """The file to write, looked at before anything is done for it. Raises UsageError."""
    output = Path(named)
    if output.is_dir():
        raise UsageError(f"{option} needs the name of a file; {named!r} is none.")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no directory {output.parent}.")
    if output.is_file() and not replace:
        raise UsageError(f"{output} is already there; name another file, or add --force to replace it.")
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

    def deliver(self, output: Path | None, code: int, *, replace: bool) -> int:
        """Save or print it, and return the exit code: the one given, or a higher one where that was not possible.

        What cannot be saved is printed, on stderr at last.
        """
        if output is not None:
            try:
                write_whole(output, self.data(), replace=replace)
            except OutputError as error:
                tell(f"{error} The {self.name} follows.")
                code = max(code, ExitCode.COULD_NOT_TELL)
            else:
                tell(f"the {self.name} is in {output}.")
                return code
        try:
            self._write(sys.stdout)
        except BrokenPipeError:
            give_up_stdout()  # the reader has seen enough; what was found is still so
        except OSError as error:
            tell(f"the {self.name} could not be written: {error.strerror}. It follows here.")
            give_up_stdout()
            code = max(code, ExitCode.COULD_NOT_TELL)
            with suppress(OSError):
                self._write(sys.stderr)
        return code

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
            super().__init__(name, json)
        else:
            super().__init__(name, lambda: as_file(text), text)


def as_file(text: Callable[[TextIO], str]) -> bytes:
    """A text as it goes into a file: plain, and without what is no Unicode."""
    with open("/dev/null", "w", encoding="utf-8") as plain:
        return text(plain).encode(errors="replace")
