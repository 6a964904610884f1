"""Facts that only a change asks for: its recordings, its backups, and other copies of its journal."""

from __future__ import annotations

import msgspec

from checks.model.facts.base import Fact, NotGathered, Unknown
from checks.model.facts.grid import FileSeen, OcrBackup


class SeenRecording(Fact, frozen=True, kw_only=True):
    """What a recording holds, as far as a change asks."""

    path: str
    begun_at: str
    """ISO 8601, with the zone of the node that recorded."""
    seconds: float
    """From its first sample to its last."""
    sampled: dict[str, float] = msgspec.field(default_factory=dict)
    """The share of that time, 0 to 1, that samples of each node cover."""
    mtus: dict[str, dict[str, tuple[int, ...]]] = msgspec.field(default_factory=dict)
    """The MTUs that each private interface had meanwhile, in order: by node, by interface."""
    private_bytes_per_s: dict[str, float] = msgspec.field(default_factory=dict)
    """What went over each node's private interfaces, both ways together."""


class NoRecording(Fact, frozen=True):
    """There is no such file on this node."""

    path: str


class BeforeAfter(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured before a change and after it, each with its unit: `0.61 ms`."""

    before: str
    after: str


class RecordingsCompared(Fact, frozen=True, kw_only=True):
    """What `racwire compare` says of the recordings before and after, told shortly."""

    summary: tuple[str, ...]
    """What happened, in plain words, a sentence or two each."""
    harm: tuple[str, ...] = ()
    """What got worse by more than noise of what a change of MTU must not harm: losses, failed reassemblies, errors,
    receive times. `blocks lost from 0 to 3.2 1/s`."""
    worse: tuple[str, ...] = ()
    """What else got worse, such as CPU time."""
    open: tuple[str, ...] = ()
    """Why nothing can be told, or not of everything: the environment shifted, too few samples, losses too rare."""
    figures: dict[str, BeforeAfter] = msgspec.field(default_factory=dict)
    """By the metric's name."""


class JournalCopy(Fact, frozen=True, kw_only=True):
    """A journal of a change of this cluster that lies on another node."""

    node: str
    path: str
    begins: str
    """Its first few hundred bytes: those of a copy are the same."""
    lines: int | Unknown
    """The number of its last whole line."""
    outcome: str = ""
    """`signed off`, `rolled back`, `abandoned`; empty while it is open."""


class Changing(Fact, frozen=True, kw_only=True):
    """What was found for one change beside the facts of the cluster itself."""

    before: SeenRecording | NoRecording | Unknown | NotGathered = NotGathered()
    after: SeenRecording | NoRecording | Unknown | NotGathered = NotGathered()
    compared: RecordingsCompared | NoRecording | Unknown | NotGathered = NotGathered()
    backups: dict[str, dict[str, FileSeen | Unknown]] = msgspec.field(default_factory=dict)
    """The files that the change's backups are to be, by node and path."""
    registries: dict[str, OcrBackup | Unknown | None] = msgspec.field(default_factory=dict)
    """The newest backup of each node's own registry (OLR) that was taken by hand; None where there is none."""
    unasked: dict[str, Unknown] = msgspec.field(default_factory=dict)
    """The nodes that could not be asked for any of it, and why."""
    addresses: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """What each node's name resolves to on this node; one that is not here could not be resolved."""
    copies: dict[str, tuple[JournalCopy, ...]] = msgspec.field(default_factory=dict)
    """Journals of this cluster's changes in the same directory of each peer."""
