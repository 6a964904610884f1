"""Sends messages to the syslog daemon of this node: never waits for it, and never fails for it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checks.model.settings_reporting import SyslogSettings
from checks.report.syslog import SyslogMessage, octets, of_event

if TYPE_CHECKING:
    from tui.cli.event_states import Tell


class Syslog:
    """The socket of the daemon. Each message connects again: a daemon that was restarted has another socket."""

    def __init__(self, settings: SyslogSettings, report: Callable[[str], None]) -> None:
        """`report` prints a sentence: once, where a message could not be sent."""
        self._settings = settings
        self._report = report
        self._has_failed = False

    def send(self, message: SyslogMessage) -> None:
        """Send a message, or lose it where the daemon does not accept it at once."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as channel:
                channel.connect(self._settings.socket)
                channel.send(octets(message, self._settings, time.time()))
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                self._report(f"syslog got no message: {self._settings.socket}: {error.strerror or error}.")


def event_sender(settings: SyslogSettings, report: Callable[[str], None]) -> Tell | None:
    """Return what sends each change of an event; None where messages to syslog are not wanted."""
    if not settings.send:
        return None
    syslog = Syslog(settings, report)
    return lambda state, event, now: syslog.send(of_event(state, event, now))
