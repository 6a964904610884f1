"""The table of the messages that racwire reads in Oracle's logs: the reader's search, and the message of a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.model.facts import LogKind, LogLine
from checks.rules.log_events.clusterware_messages import CLUSTERWARE_MESSAGES, TRACE_MESSAGES
from checks.rules.log_events.instance_rows import INSTANCE_MESSAGES
from checks.rules.log_events.log_message import CLUSTERWARE, INSTANCES, TRACES, LogMessage

MESSAGES = (*CLUSTERWARE_MESSAGES, *INSTANCE_MESSAGES, *TRACE_MESSAGES)

TRANSPORT = "cluster interconnect IPC version"
"""The start of the line in which an instance logs the transport that it chose."""

_NEIGHBOURS = "(CRS-16[0-3][0-9]|ORA-2730[0-9]|ORA-297[0-9][0-9])([^0-9]|$)|skgxp"
"""Messages of CSS and of the IPC of an instance that are not in the table: they are read too, and shown as lines that
racwire does not understand."""
_A_CODE = re.compile(r"(?<![\w-])((?:CRS|ORA)-[0-9]{4,5})(?![0-9])")
_A_NEIGHBOUR = re.compile(_NEIGHBOURS)
NOT_LISTED = "not listed"
"""The code of a line that has none."""


def _search(messages: Iterable[LogMessage]) -> str:
    """An expression of `grep -E` that finds each of these messages."""
    listed = tuple(messages)
    codes = "|".join(message.code for message in listed if not message.pattern)
    return "|".join((f"({codes})([^0-9]|$)", *(message.pattern for message in listed if message.pattern)))


WANTED = f"{_search((*CLUSTERWARE_MESSAGES, *INSTANCE_MESSAGES))}|{_NEIGHBOURS}|{TRANSPORT}"
"""The lines of alert logs that are read, as an expression of `grep -E`."""
WANTED_IN_TRACES = "|".join(message.expression for message in TRACE_MESSAGES)
"""The lines of the traces of ocssd, gipcd and ohasd that are read; each has its time stamp."""

_OF_KIND = {
    kind: tuple(message for message in MESSAGES if kind in message.logs) for kind in (*CLUSTERWARE, *INSTANCES, *TRACES)
}


def code_of(kind: LogKind, text: str) -> str:
    """Return the code of a line of a log with its time stamp, or `ORA-29769` for a neighbour of the messages of the
    table; empty for a line that is none."""
    if found := next((message for message in _OF_KIND[kind] if message.finds.search(text)), None):
        return found.code
    if kind in TRACES or not _A_NEIGHBOUR.search(text):
        return ""
    own = _A_CODE.search(text)
    return own[1] if own else NOT_LISTED


def message_of(kind: LogKind, line: LogLine) -> LogMessage | None:
    """Return the message of a line that was read; None where it is not in the table."""
    rows = _OF_KIND[kind]
    found = next((message for message in rows if message.finds.search(line.text)), None)
    # The time stamp, which the expression of a trace can need, is not in the text of the line.
    return found or next((message for message in rows if message.code == line.code), None)


def described() -> tuple[str, ...]:
    """Return the messages of the table for people, each once: codes, and the words that are searched."""
    return tuple(dict.fromkeys(message.code for message in MESSAGES))
