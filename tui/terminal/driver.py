"""Textual's driver, made fit for slow lines, for lines that break without a word, and for tmux and GNU screen."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.terminal.clipboard import clipboard_sequence
from tui.terminal.terminal_output import TerminalOutput

if TYPE_CHECKING:
    from textual._xterm_parser import XTermParser
    from textual.driver import Driver

_EVERY_MOVEMENT = "\x1b[?1003h"
_CLIPBOARD = "\x1b]52;c;"

_ESC = "\x1b"
_AFTER_ESC = "[OP]^_X"
"""What begins an escape sequence, after Esc."""

GIVEN_BACK_WITHIN_S = 0.4
"""How long leaving waits for the terminal to take what gives it back; one that takes nothing is left as it is."""


def console_driver() -> type[Driver]:
    """The driver. Made here, so that Textual is loaded only where a console is."""
    from textual.drivers import linux_driver
    from textual.drivers.linux_driver import LinuxDriver

    linux_driver.XTermParser = _key_parser()  # type: ignore[attr-defined]

    class ConsoleDriver(LinuxDriver):
        """Leaves out the request to be told of each movement of the mouse: nothing here follows it, and on a slow line
        each costs as much as a key. Everything else goes to the terminal by `Output`, so that Textual's own writer,
        which waits for the terminal, never has anything to write."""

        _output: TerminalOutput | None = None

        def start_application_mode(self) -> None:
            """Take the terminal."""
            loop = asyncio.get_running_loop()

            def caught_up() -> None:
                with suppress(RuntimeError):  # the loop is closed: nothing is drawn any more
                    loop.call_soon_threadsafe(self._app.refresh)

            if self._file is not None:
                self._output = TerminalOutput(self._file.fileno(), self._file.encoding, caught_up)
            super().start_application_mode()  # type: ignore[no-untyped-call]

        def write(self, data: str) -> None:
            """Write to the terminal, some time."""
            if data == _EVERY_MOVEMENT or self._output is None:
                return
            if data.startswith(_CLIPBOARD):
                data = clipboard_sequence(base64.b64decode(data.removeprefix(_CLIPBOARD)[:-1]).decode())
            self._output.write(data)

        def stop_application_mode(self) -> None:
            """Give the terminal back."""
            if self._output is not None:
                self._output.leave()
            super().stop_application_mode()

        def close(self) -> None:
            """Write what gives the terminal back, unless it takes nothing."""
            super().close()
            output, self._output = self._output, None
            if output is not None:
                output.end(GIVEN_BACK_WITHIN_S)

    return ConsoleDriver


def _key_parser() -> type[XTermParser]:
    """The parser of what is typed, for which Esc and a letter are two keys however soon one follows the other.

    Textual takes them for a letter with Alt, and a digit for the sign that a Mac types with it. Nothing here is done by
    Alt, and over a slow line two keys often arrive as one.
    """
    from textual import events
    from textual._xterm_parser import XTermParser

    class KeyParser(XTermParser):
        """Splits Esc from the letter after it; what begins an escape sequence waits for the rest of it as ever."""

        def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterator[events.Key]:
            is_two_keys = len(sequence) == 2 and sequence[0] == _ESC and sequence[1].isprintable()
            if is_two_keys and sequence[1] not in _AFTER_ESC:
                alt, sequence = True, sequence[1]
            if alt:
                yield events.Key("escape", _ESC)
            yield from super()._sequence_to_key_events(sequence)

    return KeyParser
