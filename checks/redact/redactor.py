"""Replace all names in a report, its samples and a recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from checks.model.report import Report
from checks.redact.addresses import Addresses, is_kept
from checks.redact.fields import Treatment
from checks.redact.learning import Learnt
from checks.redact.names import NamePseudonyms, Reach, is_derived, reach_of
from checks.redact.originals import Identity
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.spellings import Spellings
from checks.redact.text import Text
from checks.redact.walk import rebuilt
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from checks.traffic.samples import Event, Gap, Links
from checks.traffic.timeline import Track

_BEFORE_ALL, _AFTER_ALL = float("-inf"), float("inf")


class Replaces(Protocol):
    """What replaces names (`checks.redact.redactor.Redactor`)."""

    def event(self, event: Event) -> Event:
        """A sample with pseudonyms."""

    def source(self, source: str) -> str:
        """What samples are of, with pseudonyms."""

    def text(self, text: str) -> str:
        """A text with pseudonyms."""


def all_events(track: Track) -> Iterator[Event]:
    """Every sample, gap and change of the interfaces. Raises RecordingError."""
    if isinstance(track, Recording):
        yield from track.events()
        return
    for source in track.sources():
        kind, _, node = source.partition(" ")
        if kind == "node" and (links := track.links(node, _AFTER_ALL)):
            yield links
        yield from track.window(source, _BEFORE_ALL, _AFTER_ALL)


class RedactedTrack:
    """A `checks.traffic.timeline.Track` of another one, in which everything has its pseudonym."""

    def __init__(self, track: Track, redactor: Replaces) -> None:
        self._track = track
        self._redactor = redactor

    def sources(self) -> tuple[str, ...]:
        """All sources, in the order of their first event."""
        return tuple(self._redactor.source(source) for source in self._track.sources())

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """The samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        return [self._redactor.event(e) for e in self._track.window(self._original(source), begin, end)]

    def newest(self, source: str) -> Event | None:
        """The last sample or gap of a source; None where there is none."""
        event = self._track.newest(self._original(source))
        return None if event is None else self._redactor.event(event)

    def links(self, node: str, at: float) -> Links | None:
        """The interfaces of a node as they were then; None where that is not known."""
        links = self._track.links(self._original(f"node {node}").removeprefix("node "), at)
        if links is None:
            return None
        replaced = self._redactor.event(links)
        assert isinstance(replaced, Links)
        return replaced

    def span(self) -> tuple[float, float] | None:
        """The time of the first and of the last event; None while there is none."""
        return self._track.span()

    def _original(self, source: str) -> str:
        """The source with this name; the name itself where there is none."""
        return next((s for s in self._track.sources() if self._redactor.source(s) == source), source)


T = TypeVar("T", bound=msgspec.Struct)
_EVENTS_AT_ONCE = 1000


class Redactor:
    """Learns what is to be replaced from all that is to be handed on together, then replaces it."""

    def __init__(self, pseudonyms: Pseudonyms, identity: Identity | None = None) -> None:
        """`identity` is the operator's identity, for a live report."""
        self._pseudonyms = pseudonyms
        self._addresses = Addresses(pseudonyms)
        self._learnt = Learnt()
        self._identity = identity
        self._text: Text | None = None

    def learn(self, *wholes: Report | Header) -> None:
        """Learn the names of reports. Learn all that belongs together before replacing any name."""
        for whole in wholes:
            self._learnt.struct(whole)
        self._text = None

    def learn_track(self, track: Track) -> None:
        """The same of samples. Raises RecordingError."""
        for event in all_events(track):
            self._learnt.event(event)
        self._text = None

    def report(self, report: Report) -> Report:
        """The report with pseudonyms; itself where it has them already."""
        if report.is_redacted:
            return report
        self.learn(report)
        return msgspec.structs.replace(self.struct(report), is_redacted=True)

    def track(self, track: Track) -> Track:
        """The samples with pseudonyms, replaced when they are read; call `learn_track` first."""
        return RedactedTrack(track, self)

    def recording(self, source: Path, target: Path) -> None:
        """Write a recording with pseudonyms to a file that is not there yet. Raises RecordingError; then there is no
        such file."""
        with closing(Recording.open(source)) as recording:
            self.learn(recording.header)
            self.learn_track(recording)
            with closing(Recorder.create(target, self.struct(recording.header))) as recorder:
                try:
                    self._copy(recording, recorder)
                except BaseException:
                    target.unlink(missing_ok=True)
                    raise

    def struct(self, value: T) -> T:
        """Any fact, finding or sample with pseudonyms."""
        return rebuilt(value, self._treated)

    def event(self, event: Event) -> Event:
        """A sample or a gap with pseudonyms."""
        if isinstance(event, Gap):
            return Gap(self.source(event.source), event.at, self.text(event.reason))
        return self.struct(event)

    def source(self, source: str) -> str:
        """What samples are of: `node rac2`, of which only the name is replaced."""
        kind, blank, name = source.partition(" ")
        return f"{kind}{blank}{self.text(name)}"

    def text(self, text: str) -> str:
        """A text with pseudonyms."""
        if self._text is None:
            self._text = self._prepared()
        return self._text.replaced(text)

    def _treated(self, treatment: Treatment, text: str) -> str:
        if self._text is None:
            self._text = self._prepared()
        match treatment:
            case Treatment.LINK:
                return self._text.link(text)
            case Treatment.NUMBER:
                return self._pseudonyms.database_id(text)
            case _:
                return self._text.replaced(text)

    def _copy(self, recording: Recording, recorder: Recorder) -> None:
        waiting: list[Event] = []
        for event in recording.events():
            waiting.append(self.event(event))
            if len(waiting) >= _EVENTS_AT_ONCE:
                recorder.write(waiting)
                waiting = []
        recorder.write(waiting)

    def _prepared(self) -> Text:
        """Assign pseudonyms to all learnt names, and search for them from now on."""
        learnt, pseudonyms = self._learnt, self._pseudonyms
        if self._identity is not None:
            learnt.identity(self._identity)  # after the nodes: they have the first letters
        learnt.from_domains()
        names = learnt.names
        pseudonyms.avoid(names)
        pseudonyms.avoid_addresses([*learnt.originals, *learnt.addresses])
        for network in sorted(learnt.networks, key=lambda n: (n.prefixlen, int(n.network_address))):
            if not is_kept(network):
                pseudonyms.learn(network)
        self._addresses.versions = learnt.versions
        for name, kind in learnt.in_order():
            if name in pseudonyms.names or not is_derived(name, names, learnt.vocabulary):
                pseudonyms.name(kind, name)
        known = {
            name: pseudonym
            for name, pseudonym in pseudonyms.names.items()
            if "@" not in name and (name in names or reach_of(name, learnt.vocabulary) is not Reach.WORD)
        }  # an e-mail address is known by its shape
        spellings = Spellings(self._addresses, learnt.addresses, learnt.originals, learnt.networks)
        names_of_all = NamePseudonyms({**self._numbers(), **known}, learnt.vocabulary)
        text = Text(pseudonyms, spellings, self._addresses, names_of_all)
        for told in learnt.told:
            text.replaced(told)
        return text

    def _numbers(self) -> dict[str, str]:
        """MAC addresses of the facts as parts of names, such as `enxb8599f0a1b2c`, and what databases are known by."""
        learnt, pseudonyms = self._learnt, self._pseudonyms
        macs = {mac: pseudonyms.mac(mac) for mac in learnt.macs if int(mac, 16) and not int(mac[1], 16) & 1}
        return macs | {number: pseudonyms.database_id(number) for number in learnt.database_ids}
