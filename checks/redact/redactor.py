"""Replace all names in a report, its samples and a recording."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec

from checks.model.measurement import Measurement
from checks.model.report import Report
from checks.redact.addresses import Addresses, is_well_known_network
from checks.redact.fields import Treatment
from checks.redact.keys import with_keys_of
from checks.redact.learning import LearnedNames
from checks.redact.names import MatchScope, NamePseudonyms, is_derived, match_scope_of
from checks.redact.originals import Identity
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.spellings import Spellings
from checks.redact.text import TextReplacer
from checks.redact.walk import rebuilt
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording, all_events
from checks.traffic.samples import Event, Gap, Links
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Track


class RedactedTrack:
    """A `checks.traffic.timeline.Track` with pseudonyms in the samples of another one, replaced when they are read.

    The methods raise RecordingError where the samples cannot be read.
    """

    def __init__(self, track: Track, redactor: Redactor) -> None:
        self._track = track
        self._redactor = redactor

    def sources(self) -> tuple[SourceId, ...]:
        """Return all sources, in the order of their first event."""
        return tuple(self._redactor.source(source) for source in self._track.sources())

    def window(self, source: SourceId, begin: float, end: float) -> list[Event]:
        """Return the samples and gaps of a source that ended after `begin` and not after `end`, sorted by time."""
        return [self._redactor.event(e) for e in self._track.window(self._original(source), begin, end)]

    def newest(self, source: SourceId) -> Event | None:
        """Return the last sample or gap of a source; None where there is none."""
        event = self._track.newest(self._original(source))
        return None if event is None else self._redactor.event(event)

    def links(self, node: str, at: float) -> Links | None:
        """Return the interfaces of a node at a time; None where they are not known."""
        links = self._track.links(self._original(SourceId.node(node)).name, at)
        if links is None:
            return None
        replaced = self._redactor.event(links)
        assert isinstance(replaced, Links)
        return replaced

    def span(self) -> tuple[float, float] | None:
        """Return the times of the first and the last event; None while there is no event."""
        return self._track.span()

    def gap_begins(self) -> list[Gap]:
        """Return the gap with which each source stopped answering after a sample, in order of time."""
        gaps = (self._redactor.event(gap) for gap in self._track.gap_begins())
        return [gap for gap in gaps if isinstance(gap, Gap)]

    def _original(self, source: SourceId) -> SourceId:
        """Return the source with this pseudonym; the argument itself where there is none."""
        return next((s for s in self._track.sources() if self._redactor.source(s) == source), source)


T = TypeVar("T", bound=msgspec.Struct)
_BATCH = 1000


class Redactor:
    """Learn the names in all parts of a shared report, then replace them.

    Every method that replaces names raises RedactionError where no pseudonym is free.
    """

    def __init__(self, pseudonyms: Pseudonyms, identity: Identity | None = None) -> None:
        """`identity` is the operator's identity, for a live report."""
        self._pseudonyms = pseudonyms
        self._addresses = Addresses(pseudonyms)
        self._learned = LearnedNames()
        self._identity = identity
        self._replacer: TextReplacer | None = None

    def learn(self, *parts: Report | Header | Measurement) -> None:
        """Learn the names in parts of a shared report: learn all of them before replacing any name."""
        for part in parts:
            self._learned.learn_struct(part)
        self._replacer = None

    def learn_track(self, track: Track) -> None:
        """Learn the names in samples. Raises RecordingError."""
        for event in all_events(track):
            self._learned.learn_event(event)
        self._replacer = None

    def report(self, report: Report) -> Report:
        """Return the report with pseudonyms; the report itself where it is redacted already."""
        if report.is_redacted:
            return report
        self.learn(report)
        return self._redacted(report)

    def _redacted(self, report: Report) -> Report:
        return msgspec.structs.replace(with_keys_of(self.struct(report), report), is_redacted=True)

    def track(self, track: Track) -> Track:
        """Return the samples with pseudonyms, replaced when they are read. Call `learn_track` first."""
        return RedactedTrack(track, self)

    def recording(self, source: Path, target: Path) -> None:
        """Write a recording with pseudonyms to a new file, with its runs. The journal of a change is left out, and the
        header says so: it has texts of every kind, such as commands and reasons, of which no name is known.

        Raises RecordingError where the recording cannot be read or the file exists; a partly written file is deleted.
        """
        with closing(Recording.open(source)) as recording:
            runs, header = recording.runs(), recording.header
            self.learn(header, *(run.report for run in runs))
            self.learn_track(recording)
            if recording.journal():
                header = msgspec.structs.replace(header, lacks_journal=True)
            with closing(Recorder.create(target, self.struct(header), schema=recording.schema)) as recorder:
                try:
                    self._copy(recording, recorder)
                    for run in runs:
                        recorder.add_run(msgspec.structs.replace(run, report=self._redacted(run.report)))
                except BaseException:
                    target.unlink(missing_ok=True)
                    raise

    def struct(self, value: T) -> T:
        """Return a fact, a finding or a sample with pseudonyms."""
        return rebuilt(value, self._replaced)

    def event(self, event: Event) -> Event:
        """Return a sample, a gap or a change of interfaces with pseudonyms."""
        return self.struct(event)

    def source(self, source: SourceId) -> SourceId:
        """Return the source of samples with a pseudonym for its name."""
        return source.renamed(self.text)

    def text(self, text: str) -> str:
        """Return a text with pseudonyms."""
        return self._current_replacer().replaced(text)

    def _replaced(self, treatment: Treatment, text: str) -> str:
        replacer = self._current_replacer()
        match treatment:
            case Treatment.INTERFACE:
                return replacer.interface_name(text)
            case Treatment.FREE_TEXT:
                return replacer.free_text(text)
            case Treatment.DATABASE_ID:
                return self._pseudonyms.database_id(text)
            case _:
                return replacer.replaced(text)

    def _copy(self, recording: Recording, recorder: Recorder) -> None:
        waiting: list[Event] = []
        for event in recording.events():
            waiting.append(self.event(event))
            if len(waiting) >= _BATCH:
                recorder.write(waiting)
                waiting = []
        recorder.write(waiting)

    def _current_replacer(self) -> TextReplacer:
        """Return the replacer of all names learned so far."""
        if self._replacer is None:
            self._replacer = self._make_replacer()
        return self._replacer

    def _make_replacer(self) -> TextReplacer:
        """Assign pseudonyms to all learned names, and return a replacer that searches for them."""
        learned, pseudonyms = self._learned, self._pseudonyms
        if self._identity is not None:
            learned.learn_identity(self._identity)  # last: the pseudonyms of the nodes get the first letters
        learned.learn_domains()
        names = learned.names
        pseudonyms.avoid(names)
        pseudonyms.avoid_addresses([*learned.originals, *learned.addresses])
        for network in sorted(learned.networks, key=lambda n: (n.prefixlen, int(n.network_address))):
            if not is_well_known_network(network):
                pseudonyms.add_network(network)
        self._addresses.versions = learned.versions
        for name, kind in learned.sorted_names():
            if name in pseudonyms.names or not is_derived(name, names, learned.vocabulary):
                pseudonyms.name(kind, name)
        known = {
            name: pseudonym
            for name, pseudonym in pseudonyms.names.items()
            if "@" not in name
            and (name in names or match_scope_of(name, learned.vocabulary) is not MatchScope.WHOLE_WORD)
        }  # no e-mail addresses: their form identifies them
        spellings = Spellings(self._addresses, learned.addresses, learned.originals, learned.networks)
        name_pseudonyms = NamePseudonyms({**self._numbers(), **known}, learned.vocabulary)
        replacer = TextReplacer(pseudonyms, spellings, self._addresses, name_pseudonyms)
        for text in learned.sample_texts:
            replacer.replaced(text)
        return replacer

    def _numbers(self) -> dict[str, str]:
        """Return the pseudonyms of MAC addresses without separators, as in `enxb8599f0a1b2c`, and of DBIDs."""
        learned, pseudonyms = self._learned, self._pseudonyms
        macs = {mac: pseudonyms.mac(mac) for mac in learned.macs if int(mac, 16) and not int(mac[1], 16) & 1}
        return macs | {number: pseudonyms.database_id(number) for number in learned.database_ids}
