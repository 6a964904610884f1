"""The journal: each file, command, query and probe with its node, time, duration, outcome and output.

Findings refer to entries by node and topic; the report contains the entries unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import ClassVar

import msgspec

from checks.model.finding import EvidenceRef

TEXT_LIMIT = 64 * 1024
"""The most characters of an output that an entry keeps; the text says how many were cut."""


class Entry(msgspec.Struct, omit_defaults=True):
    """One file, command, query or probe."""

    node: str
    topic: str
    """The topic to which findings refer: `oifcfg getif`, `interfaces`, `path 192.168.11.0/24 rac1 rac2`."""
    action: str
    """The action, as an operator can repeat it: the command line, the file, the probe."""
    started_at: str
    duration_ms: float = 0.0
    outcome: str = "ok"
    """`ok`, or the failure in one sentence."""
    text: str = ""


class Journal:
    """Collects entries in the order of their start."""

    followers: ClassVar[list[Callable[[Entry], None]]] = []
    """Are called with each entry of any journal that has ended, before its text is cut."""

    def __init__(self, entries: Iterable[Entry] = (), *, keep: int | None = None) -> None:
        """Start with these entries. `keep` limits the journal to the newest entries, for long runs; None keeps all."""
        self.entries: list[Entry] = list(entries)
        self._keep = keep

    def start(self, node: str, topic: str, action: str) -> Entry:
        """Record an action whose entry grows; the caller calls `tell` at its end."""
        entry = Entry(node, topic, action, now())
        self.entries.append(entry)
        if self._keep is not None:
            del self.entries[: -self._keep]
        return entry

    def tell(self, entry: Entry) -> None:
        """Tell the followers that the action of an entry has ended."""
        for follower in self.followers:
            follower(entry)

    @contextmanager
    def entry(self, node: str, topic: str, action: str) -> Iterator[Entry]:
        """Record one action; the caller sets `text` and, after a failure, `outcome`. An exception is recorded, too."""
        entry = self.start(node, topic, action)
        began = time.perf_counter()
        try:
            yield entry
        except BaseException as error:
            entry.outcome = "interrupted" if not isinstance(error, Exception) else str(error) or type(error).__name__
            raise
        finally:
            entry.duration_ms = round((time.perf_counter() - began) * 1000, 3)
            self.tell(entry)
            if len(entry.text) > TEXT_LIMIT:
                entry.text = entry.text[:TEXT_LIMIT] + f"\n[cut: {len(entry.text) - TEXT_LIMIT} more characters]"

    def matching(self, references: Iterable[EvidenceRef]) -> list[Entry]:
        """Return the entries of the references, in journal order."""
        wanted = {(r.node, r.topic) for r in references}
        return [e for e in self.entries if (e.node, e.topic) in wanted]


def now() -> str:
    """Return the present time in ISO 8601 with this node's zone, to the millisecond."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
