"""Learn all names before any is replaced, so that a name has the same pseudonym everywhere."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from checks.model import facts, report
from checks.model.facts import IPAddress, IPNetwork
from checks.redact.connect_text import values_in
from checks.redact.fields import Treatment
from checks.redact.names import key_of
from checks.redact.originals import Identity, Named, names_in, names_in_settings, names_of
from checks.redact.walk import structs, texts
from checks.redact.well_known import VOCABULARY, stays
from checks.traffic import recording
from checks.traffic.recording_shapes import Shape, shape_of
from checks.traffic.samples import Event, InstanceSample, LatencySample, NodeSample, PairsSample

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_QUAD = re.compile(r"(?<!\d)(?<!\d\.)(\d{1,3}(?:\.\d{1,3}){3})(/\d{1,2}(?!\d))?(?!\d)(?!\.\d)")
_V6_SUBNET = re.compile(r"(?<![\w:.])[0-9a-fA-F:]{2,39}/\d{1,3}(?!\d)")
_DOTTED = re.compile(r"(?<![\w-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,126}(?![\w-])")
"""A name with its domain: labels of at most 63 characters (RFC 1035), so that no word takes long to search."""
_HARDWARE = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,}", re.IGNORECASE)
_IPOIB = re.compile(r"[0-9a-f]{40}")
"""Flags and queue pair, then the port's GID, which is an IPv6 address (RFC 4391)."""
_TOLD_APART = 10_000_000
"""Of eight digits, as nearly all DBIDs are: a smaller number may count anything."""
_IN_DOMAINS = frozenset({"host", "switch", "service"})
"""Kinds of names that a domain may follow."""
_FIRST = ("domain", "cluster", "database", "host", "instance", "service")
"""Kinds of names that other names contain: a name of two kinds counts as the first of them."""
_OF_COUNTRIES = re.compile(r"(?:com?|org|net|gov|ac|edu)\.[a-z]{2}")
_NO_DOMAINS = frozenset(
    {"asm", "bak", "bin", "cfg", "conf", "db", "gz", "json", "lock", "log", "lsnr", "old", "ora", "pid", "py", "sh"}
    | {"svc", "trc", "trm", "txt", "vip", "xml", "zip"}
)
"""How names of files and of Clusterware's resources end, which no domain does."""
_SHORTEST_TEXT = 3
"""Characters that it takes for an output to name anything."""


@dataclass
class Learnt:
    """The names that identify a site or a person, and the words that distinguish them from others."""

    names: dict[str, str] = field(default_factory=dict)
    """Each name (`key_of`) with its kind, in the order found."""
    networks: set[IPNetwork] = field(default_factory=set)
    addresses: dict[IPAddress, None] = field(default_factory=dict)
    """Those of the facts: they are looked for in other spellings too."""
    macs: dict[str, None] = field(default_factory=dict)
    """The same of MAC addresses: twelve digits each."""
    database_ids: dict[str, None] = field(default_factory=dict)
    """DBIDs that are long enough to differ from other numbers in a text."""
    originals: set[IPAddress] = field(default_factory=set)
    """All that look like an address."""
    versions: set[str] = field(default_factory=set)
    vocabulary: set[str] = field(default_factory=set)
    """Words that the facts need: names of counters, states, interfaces."""
    told: dict[str, None] = field(default_factory=dict)
    """Texts of samples, which are replaced when they are read: their names need pseudonyms before that."""
    _read: set[str] = field(default_factory=set)
    _words: set[str] = field(default_factory=set)
    _dotted: set[str] = field(default_factory=set)
    """Words with a dot in them."""
    _shapes: set[Shape] = field(default_factory=set)

    def identity(self, identity: Identity) -> None:
        """The identity of the operator."""
        self._take(names_of(identity))

    def struct(self, whole: msgspec.Struct) -> None:
        """A report or a recording's header, with all within."""
        parts = list(structs(whole))
        self._take(names_in(parts))
        for part in parts:
            self._facts(part)
            if isinstance(part, (report.Report, recording.Header)):
                self._take(names_in_settings(part.settings))
        for treatment, text in texts(whole):
            self._text(treatment, text)

    def event(self, event: Event) -> None:
        """A sample, gap or change of interfaces; one like others of the same source has no more names."""
        if isinstance(event, (NodeSample, InstanceSample, LatencySample)):
            shape = shape_of(event)
            if shape in self._shapes:
                return
            self._shapes.add(shape)
        if not isinstance(event, PairsSample) or event.unread:
            self.struct(event)
            self.told.update(dict.fromkeys(text for treatment, text in texts(event) if treatment is Treatment.REPLACE))

    def in_order(self) -> list[tuple[str, str]]:
        """The names with their kinds: those that others may be made of first."""
        return sorted(self.names.items(), key=lambda pair: _rank(pair[1]))

    def from_domains(self) -> None:
        """Domains after hosts that are known, and hosts in domains that are known, where only raw outputs name them:
        looked for when all has been read."""
        dotted = sorted({name for word in self._dotted for name in _DOTTED.findall(word)})
        hosts = {name for name, kind in self.names.items() if kind in _IN_DOMAINS}
        for host, _, rest in (name.partition(".") for name in dotted):
            if key_of(host) in hosts and "." in rest and rest.rpartition(".")[2].lower() not in _NO_DOMAINS:
                self._take([("domain", rest)])
        self._take([("domain", _of_site(name)) for name, kind in self.names.items() if kind == "domain"])
        domains = {name for name, kind in self.names.items() if kind == "domain"}
        for name in (name for name in dotted if key_of(name) not in domains):
            host, _, rest = name.partition(".")
            if any(key_of(ending) in domains for ending in _endings(rest)):
                self._take([("domain", rest), ("host", host)])

    def _take(self, named: Iterable[Named]) -> None:
        for kind, name in named:
            bare = name.strip()
            if kind in _IN_DOMAINS and "." in bare and not _is_address(bare):
                bare, _, domain = bare.rstrip(".").partition(".")
                self._take([("domain", domain)])
            if not re.search(r"[^\W\d_]", bare) or stays(kind, bare) or _is_address(bare):
                continue
            if kind == "domain" and bare.lower() in VOCABULARY:
                continue
            known = self.names.get(key_of(bare), kind)
            self.names[key_of(bare)] = min(known, kind, key=_rank)

    def _facts(self, part: msgspec.Struct) -> None:
        """Addresses, versions and DBIDs as facts have them: for sure."""
        if isinstance(part, (facts.Database, facts.History)) and part.dbid >= _TOLD_APART:
            self.database_ids[str(part.dbid)] = None
        match part:
            case facts.Address():
                self._subnet(f"{part.ip}/{part.prefix_length}")
                self._address(part.ip)
            case facts.Port():
                self._address(part.ip)
            case facts.Interface() | facts.Neighbour():
                digits = re.sub(r"[:-]", "", part.mac_address).lower()
                if re.fullmatch(r"[0-9a-f]{12}", digits):
                    self.macs[digits] = None
                elif _IPOIB.fullmatch(digits):
                    self.addresses[ipaddress.IPv6Address(bytes.fromhex(digits[8:]))] = None
            case facts.ListedInterface() if part.prefix_length is not None:
                self._subnet(f"{part.subnet}/{part.prefix_length}")
            case facts.ConfiguredInterface() | facts.PrivateNetwork():
                self._subnet(part.subnet)
            case facts.Instance() | facts.Database() | facts.ActiveVersion():
                self.versions |= set(_beginnings(part.version))
            case report.Report():
                self.versions |= set(part.versions.values())

    def _text(self, treatment: Treatment, text: str) -> None:
        if treatment is not Treatment.REPLACE:
            self.vocabulary.update(word.lower() for word in _LETTERS.findall(text))
            self.vocabulary.add(text.lower())
            return
        if text in self._read or len(text) < _SHORTEST_TEXT:
            return
        self._read.add(text)
        self._take(values_in(text))
        for word in set(text.split()) - self._words:
            self._word(word)

    def _word(self, word: str) -> None:
        self._words.add(word)
        if "." in word and _LETTERS.search(word):
            self._dotted.add(word)
        if word.count(".") > 2:
            for found in _QUAD.finditer(word):
                self._quad(found[1], found[2])
        if ":" in word and "/" in word:
            for found in _V6_SUBNET.finditer(word):
                self._subnet(found[0])

    def _quad(self, quad: str, length: str | None) -> None:
        if length:
            self._subnet(quad + length)
        try:
            self.originals.add(ipaddress.ip_address(quad))
        except ValueError:
            return

    def _address(self, text: str) -> None:
        try:
            self.addresses[ipaddress.ip_address(text)] = None
        except ValueError:
            return

    def _subnet(self, text: str) -> None:
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            return
        if "/" in text:
            self.networks.add(network)


def _beginnings(version: str) -> Iterator[str]:
    """A version of five numbers stands with four of them too."""
    parts = version.split(".")
    yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _endings(domain: str) -> Iterator[str]:
    """The name and all its domains."""
    parts = domain.split(".")
    return (".".join(parts[n:]) for n in range(len(parts)))


def _of_site(domain: str) -> str:
    """The domain that all of a site's hosts are in, as far as it is known: `example.com` of `corp.example.com`."""
    parts = domain.lower().split(".")
    for n in range(2, len(parts) + 1):
        last = ".".join(parts[-n:])
        if not _OF_COUNTRIES.fullmatch(last):
            return last
    return domain


def _rank(kind: str) -> int:
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


def _is_address(text: str) -> bool:
    """Of the network, or of hardware."""
    if _HARDWARE.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
