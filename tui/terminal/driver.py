"""The Textual driver, adapted to slow lines, to lines that break silently, and to tmux and GNU screen."""

from __future__ import annotations

import asyncio
import base64
import termios
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tui.terminal.clipboard import clipboard_sequence
from tui.terminal.terminal_output import TerminalOutput

if TYPE_CHECKING:
    from textual._xterm_parser import XTermParser
    from textual.driver import Driver

_EVERY_MOVEMENT = "\x1b[?1003h"
_CLIPBOARD = "\x1b]52;c;"

_ESC = "\x1b"
_AFTER_ESC = "[OP]^_X"
"""The characters that start an escape sequence after Esc."""

RESTORED_WITHIN_S = 0.4
"""Seconds that quitting waits until the terminal has accepted the sequences that restore it."""
_FOREGROUND_EVERY_S = 0.4
"""Seconds between two looks whether racwire, which runs in the background, is in the foreground again."""


def console_driver(encoding: str) -> type[Driver]:
    """Return the driver class for a terminal of that encoding. The function defines it, so that Textual is loaded only
    for a console."""
    from textual.drivers import linux_driver
    from textual.drivers.linux_driver import LinuxDriver

    linux_driver.XTermParser = _key_parser()  # type: ignore[attr-defined]

    class ConsoleDriver(LinuxDriver):
        """Does not request mouse movements: racwire does not use them, and on a slow line each costs as much as a key.

        All output goes through `TerminalOutput`, so that Textual's own writer, which waits for the terminal, never has
        anything to write."""

        _output: TerminalOutput | None = None
        _is_suspended = False
        """Whether another program uses the terminal: racwire then writes nothing to it."""
        _is_stopping = False
        _was_continued = False
        _own_mode: list[Any] | None = None
        """The mode of the terminal that Textual has set."""
        is_lent = False
        """Whether a shell that racwire started uses the terminal."""

        def start_application_mode(self) -> None:
            """Start the use of the terminal."""
            loop = asyncio.get_running_loop()

            def caught_up() -> None:
                with suppress(RuntimeError):  # the loop is closed, and draws nothing
                    loop.call_soon_threadsafe(self._app.refresh)

            if self._file is not None:
                self._output = TerminalOutput(self._file.fileno(), encoding, caught_up)
            try:
                super().start_application_mode()  # type: ignore[no-untyped-call]
                self._own_mode = self._mode()
            except BaseException:
                self.suspend_application_mode()
                raise

        def write(self, data: str) -> None:
            """Queue data for the terminal."""
            if data == _EVERY_MOVEMENT or self._output is None:
                return
            if data.startswith(_CLIPBOARD):
                data = clipboard_sequence(base64.b64decode(data.removeprefix(_CLIPBOARD)[:-1]).decode())
            self._output.write(data)

        def disable_input(self) -> None:
            """Read no more keys; those that are typed while another program uses the terminal are for that one."""
            if not self._is_suspended:
                super().disable_input()

        def stop_application_mode(self) -> None:
            """Restore the terminal, unless another program uses it by now. In the background (SIGSTOP and `bg`, a shell
            that was killed) the kernel must not stop racwire for that, and a mode that the other program set stays."""
            from tui.terminal.job_control import is_in_background, without_stop

            if self._is_suspended:
                return
            if self._output is not None:
                self._output.start_restoring()
            if is_in_background(self.fileno) and self._mode() != self._own_mode:
                self.attrs_before = None
            with without_stop():
                super().stop_application_mode()

        def _mode(self) -> list[Any] | None:
            with suppress(termios.error):
                return termios.tcgetattr(self.fileno)
            return None

        def close(self) -> None:
            """Write the sequences that restore the terminal, unless it accepts nothing."""
            super().close()
            output, self._output = self._output, None
            if output is not None:
                output.end(RESTORED_WITHIN_S)

        # --- the terminal in other hands ------------------------------------------------------------------------------

        def suspend_application_mode(self) -> None:
            """Restore the terminal for another program."""
            super().suspend_application_mode()
            self._is_suspended = True

        def resume_application_mode(self) -> None:
            """Use the terminal again, and draw the whole screen in its present size."""
            if self._is_suspended:
                self._is_suspended = False
                super().resume_application_mode()
                self._app.refresh(layout=True)

        def stop_until_continued(self) -> bool:
            """Restore the terminal and stop the process, as Ctrl-Z does; return False where no shell could continue it.

            A shell can continue it in the background (`bg`): it then goes on without the terminal until `fg`."""
            from tui.terminal.job_control import stop_process

            if not self._is_suspended:
                self.suspend_application_mode()
            self._is_stopping, self._was_continued = True, False
            stop_process(lambda: self._was_continued)
            self._is_stopping = False
            self._use_terminal_again()
            return self._was_continued

        def _sigtstp_application(self, *_: object) -> None:
            """Handle a request to stop that comes from outside."""
            self.stop_until_continued()

        def _sigcont_application(self, *_: object) -> None:
            """Handle that the process was continued. A shell may have changed the terminal after a SIGSTOP, which
            cannot be handled."""
            from tui.terminal.job_control import is_in_background

            self._was_continued = True
            if not self._is_stopping:
                if not self._is_suspended and not self.is_lent and is_in_background(self.fileno):
                    self.suspend_application_mode()
                self._use_terminal_again()

        def _use_terminal_again(self) -> None:
            from tui.terminal.job_control import when_in_foreground

            def restart() -> None:
                if not self._is_suspended:
                    self.suspend_application_mode()
                self.resume_application_mode()

            if not self.is_lent:
                when_in_foreground(self.fileno, restart, _FOREGROUND_EVERY_S, self._is_over)

        def _is_over(self) -> bool:
            """Return whether the terminal is not needed again: racwire ends, or has lent it to a shell."""
            return self.is_lent or not self._app.is_running or bool(getattr(self._app, "is_ending", False))

    return ConsoleDriver


def _key_parser() -> type[XTermParser]:
    """Return the key parser, which reads Esc and a letter as two keys, however fast one follows the other.

    Textual reads them as Alt and the letter, and with a digit as the character that a Mac types. racwire has no command
    with Alt, and on a slow line two keys often arrive together.
    """
    from textual import events
    from textual._xterm_parser import XTermParser

    class KeyParser(XTermParser):
        """Separates Esc from the letter after it; the start of an escape sequence waits for its rest as usual."""

        def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterator[events.Key]:
            is_two_keys = len(sequence) == 2 and sequence[0] == _ESC and sequence[1].isprintable()
            if is_two_keys and sequence[1] not in _AFTER_ESC:
                alt, sequence = True, sequence[1]
            if alt:
                yield events.Key("escape", _ESC)
            yield from super()._sequence_to_key_events(sequence)

    return KeyParser
