"""Pseudonyms for all that a report, its samples and a recording name."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec

from checks.model.report import Report
from checks.redact.addresses import Addresses, is_kept
from checks.redact.fields import Treatment
from checks.redact.learning import Learnt
from checks.redact.names import Names, Reach, is_derived, reach_of
from checks.redact.originals import Identity
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.spellings import Spellings
from checks.redact.text import Text
from checks.redact.tracks import RedactedTrack, all_events
from checks.redact.walk import rebuilt
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from checks.traffic.samples import Event, Gap
from checks.traffic.timeline import Track

T = TypeVar("T", bound=msgspec.Struct)
_EVENTS_AT_ONCE = 1000


class Redactor:
    """Learns what is to be replaced from all that is to be handed on together, then replaces it."""

    def __init__(self, pseudonyms: Pseudonyms, identity: Identity | None = None) -> None:
        """`identity`: of whoever runs racwire, where the report is made here and now."""
        self._pseudonyms = pseudonyms
        self._addresses = Addresses(pseudonyms)
        self._learnt = Learnt()
        self._identity = identity
        self._text: Text | None = None

    def learn(self, *wholes: Report | Header) -> None:
        """What they name. All that belongs together is learnt before any of it is replaced."""
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
        """The samples with pseudonyms, replaced as they are asked for; `learn_track` comes before."""
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
        """Give pseudonyms to all that was learnt, and look for it from now on."""
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
        names_of_all = Names({**self._numbers(), **known}, learnt.vocabulary)
        text = Text(pseudonyms, spellings, self._addresses, names_of_all)
        for told in learnt.told:
            text.replaced(told)
        return text

    def _numbers(self) -> dict[str, str]:
        """MAC addresses of the facts as parts of names, such as `enxb8599f0a1b2c`, and what databases are known by."""
        learnt, pseudonyms = self._learnt, self._pseudonyms
        macs = {mac: pseudonyms.mac(mac) for mac in learnt.macs if int(mac, 16) and not int(mac[1], 16) & 1}
        return macs | {number: pseudonyms.database_id(number) for number in learnt.database_ids}
