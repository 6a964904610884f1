"""What the operating system refused an instance: ORA-27504 and ORA-27300 to ORA-27303 are one error in several lines.

The status decides, and not the name of the function: `sskgxpsnd2` is where any message is sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from checks.rules.log_events.log_message import LogEvent

_NO_BUFFER_SPACE, _TOO_LONG = 105, 90
_FIRST_WORDS = re.compile(r"ORA-27300:[^:\uff1a]{0,80}[:\uff1a]\s{0,3}([A-Za-z_]\w*(?: if cable)?)")
_STATUS = re.compile(r"(\d{1,5})\D{0,10}$")
_PLACE = re.compile(r"ORA-27302:[^:\uff1a]{0,80}[:\uff1a]\s{0,3}(\w{1,40})")
_INTERFACE = re.compile(r"requested interface (\S{1,60})")
_WITH_IP = re.compile(r"interface with IP(?: address)? (\S{1,60})")
_TRACED = re.compile(r"\bip '([^':]{1,60})(?::\d{1,5})?'.{0,120}?(?:ifname '([^']{1,30})'|$)")
_OF_THE_NETWORK = frozenset({"sendmsg", "recvmsg", "sendto", "recvfrom", "send", "recv", "socket", "bind", "connect"})
_LOST = frozenset({"if_not_found", "check if cable"})
_SAYS = {"No buffer space": _NO_BUFFER_SPACE, "Message too long": _TOO_LONG}
"""The English words of the kernel, for an error whose status was not read."""

STATUS_MEANS = {
    1: "a packet filter refused it",
    11: "the socket had no room at that moment",
    12: "the kernel had no memory for it",
    22: "the kernel took an argument for invalid",
    32: "the other end had closed the connection",
    99: "the address is not on the node",
    100: "the network was down",
    101: "no route led to the network",
    104: "the other end reset the connection",
    110: "it timed out",
    111: "the other end refused it",
    113: "no neighbour answered ARP, or no route led to the host",
}
"""Error numbers of Linux (errno-base.h, errno.h) that a sender can see, and what they mean."""


@dataclass(frozen=True)
class OsError:
    """What the lines of one error report."""

    event: LogEvent | None
    """None where the lines do not say enough."""
    is_of_network: bool
    status: int | None = None
    interface: str = ""


def os_error(lines: Sequence[tuple[str, str]]) -> OsError:
    """Return what one error is, from the codes and texts of its lines, in any language."""
    texts = dict(reversed(lines))
    called = _FIRST_WORDS.search(texts.get("ORA-27300", ""))
    operation = called[1] if called else ""
    found = _STATUS.search(texts.get("ORA-27300", ""))
    message = texts.get("ORA-27301", "")
    status = int(found[1]) if found else next((n for words, n in _SAYS.items() if words in message), None)
    place = _PLACE.search(texts.get("ORA-27302", ""))
    named = interface_in(texts.get("ORA-27303", ""))
    if operation in _LOST or named:
        return OsError(LogEvent.INTERFACE_LOST, True, interface=named)
    if operation and operation not in _OF_THE_NETWORK and "skgxp" not in (place[1] if place else ""):
        return OsError(None, False, status)
    if status is None:
        return OsError(None, True)
    event = {_NO_BUFFER_SPACE: LogEvent.NO_BUFFERS, _TOO_LONG: LogEvent.TOO_LONG}.get(status, LogEvent.SEND_FAILED)
    return OsError(event, True, status)


def interface_in(text: str) -> str:
    """Return the address or the NIC that a line names as lost; empty where it names none."""
    if traced := _TRACED.search(text):
        return f"{traced[2]} ({traced[1]})" if traced[2] else traced[1]
    found = _INTERFACE.search(text) or _WITH_IP.search(text)
    return found[1].rstrip(".,;") if found else ""
