"""The context of a `racwire change` command: the selected change, and the output of the answer."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from checks.change.progress.state import Change, ChangeError
from checks.change.record.change_journal import ChangeJournal
from checks.change.record.journal_files import current, journals
from checks.change.session.change_session import ChangeSession
from checks.model.exit_codes import ExitCode
from checks.model.settings import Settings
from tui.cli.change.hints import Hints
from tui.cli.document import Document
from tui.cli.output import columns_of, render
from tui.cli.password import Secret
from tui.cli.streams import print_message
from tui.text.line import Line

WIDEST = 100
"""Maximum columns of a paragraph: longer lines are hard to read."""

Lines = Callable[[int], Iterable[Line]]
"""The lines of an answer, for a number of columns."""


class ChangeContext:
    """A command, its settings, and the change that it works on."""

    def __init__(self, args: argparse.Namespace, settings: Settings) -> None:
        self.args = args
        self.settings = settings
        self.hints = Hints.of(args)

    def journal(self) -> ChangeJournal:
        """The journal of --file, else the journal of the open change.

        Raises ChangeError where no change, or more than one, is open; ChangeJournalError where the journal cannot be
        read.
        """
        return current(self.settings, None, self._file)

    def session(self, password: Callable[[Change], Secret | None] = lambda _: None) -> ChangeSession:
        """The session that continues the selected change; `password` returns the password of the database.

        Raises ChangeError, ChangeJournalError.
        """
        journal = self.journal()
        return ChangeSession(journal, self.settings, password(journal.change))

    def displayed(self) -> ChangeJournal:
        """The journal of the selected change for display; of the latest change where none is open.

        Raises ChangeError, ChangeJournalError.
        """
        try:
            return self.journal()
        except ChangeError:
            if self._file is not None:
                raise
            changes = [(each.change, each.path) for each in journals(self.settings) if each.change is not None]
            if not changes or any(change.is_open for change, _ in changes):
                raise
            print_message(f"no {self.hints.program} is open; this is the latest one.")
            return ChangeJournal.read(max(changes, key=lambda each: each[0].lines[-1].at)[1])

    @property
    def _file(self) -> Path | None:
        file = getattr(self.args, "file", None)
        return Path(file) if file else None

    def document(self, name: str, lines: Lines, json: Callable[[], bytes] = bytes) -> Document:
        """The answer in the format of --format."""
        form = getattr(self.args, "format", "text")
        return Document(name, form, json=json, text=lambda stream: _text(lines, stream))

    def print(self, lines: Lines, json: Callable[[], bytes] = bytes, *, code: int = ExitCode.PASS) -> int:
        """Print the answer and return `code`, or a higher exit code where stdout cannot be written."""
        return self.document("answer", lines, json).deliver(None, code)


def _text(lines: Lines, stream: TextIO) -> str:
    return render(lines(columns_of(stream, widest=WIDEST)), stream)
