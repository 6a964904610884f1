"""The journal: each file, command, query and probe: where, when, how long, how it ended, and what it printed.

Findings point into it by node and topic; the report shows it as it was read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

import msgspec

from checks.model.finding import EvidenceRef

TEXT_LIMIT = 64 * 1024
"""Characters of an output that are kept; what is cut is said in the text."""


class Entry(msgspec.Struct, omit_defaults=True):
    """One thing that was read or sent."""

    node: str
    topic: str
    """What it is about, as findings refer to it: `oifcfg getif`, `interfaces`, `path 192.168.11.0/24 rac1 rac2`."""
    action: str
    """What was done, as a person would repeat it: the command line, the file, the probe."""
    started_at: str
    duration_ms: float = 0.0
    outcome: str = "ok"
    """`ok`, or how it failed in one sentence."""
    text: str = ""


class Journal:
    """Collects entries in the order in which they began."""

    def __init__(self, entries: Iterable[Entry] = (), *, keep: int | None = None) -> None:
        """`keep`: only so many of the newest entries are kept, for what goes on for hours; all of them where None."""
        self.entries: list[Entry] = list(entries)
        self._keep = keep

    @contextmanager
    def entry(self, node: str, topic: str, action: str) -> Iterator[Entry]:
        """Record one action; the caller sets `text` and, when it failed, `outcome`. An exception is recorded too."""
        entry = Entry(node, topic, action, now())
        self.entries.append(entry)
        if self._keep is not None:
            del self.entries[: -self._keep]
        began = time.perf_counter()
        try:
            yield entry
        except BaseException as error:
            entry.outcome = "interrupted" if not isinstance(error, Exception) else str(error) or type(error).__name__
            raise
        finally:
            entry.duration_ms = round((time.perf_counter() - began) * 1000, 3)
            if len(entry.text) > TEXT_LIMIT:
                entry.text = entry.text[:TEXT_LIMIT] + f"\n[cut: {len(entry.text) - TEXT_LIMIT} characters more]"

    def matching(self, references: Iterable[EvidenceRef]) -> list[Entry]:
        """The entries that the references point at, in journal order."""
        wanted = {(r.node, r.topic) for r in references}
        return [e for e in self.entries if (e.node, e.topic) in wanted]


def now() -> str:
    """The time in ISO 8601 with this node's zone, to the millisecond."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
