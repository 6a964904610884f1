"""Learn all names before any name is replaced, so that a name has the same pseudonym everywhere."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from checks.model import facts, measurement, report
from checks.model.facts import IPAddress, IPNetwork
from checks.redact.connect_text import names_in_text
from checks.redact.fields import Treatment
from checks.redact.names import key_of
from checks.redact.originals import Identity, Named, names_in_facts, names_in_identity, names_in_settings
from checks.redact.walk import structs, texts
from checks.redact.well_known import VOCABULARY, is_well_known
from checks.traffic import recording
from checks.traffic.recording_shapes import Shape, shape_of
from checks.traffic.samples import Event, InstanceSample, LatencySample, NodeSample, PairsSample

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_QUAD = re.compile(r"(?<!\d)(?<!\d\.)(\d{1,3}(?:\.\d{1,3}){3})(/\d{1,2}(?!\d))?(?!\d)(?!\.\d)")
_V6_SUBNET = re.compile(r"(?<![\w:.])[0-9a-fA-F:]{2,39}/\d{1,3}(?!\d)")
_DOTTED = re.compile(r"(?<![\w-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,126}(?![\w-])")
"""A name with its domain: labels of at most 63 characters (RFC 1035), so that the search of any word is fast."""
_HARDWARE = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,}", re.IGNORECASE)
_IPOIB = re.compile(r"[0-9a-f]{40}")
"""Flags and queue pair, then the port's GID, which is an IPv6 address (RFC 4391)."""
_SMALLEST_DATABASE_ID = 10_000_000
"""A number of eight digits. Nearly every DBID is at least as large; a smaller number can be any count."""
_WITH_DOMAIN = frozenset({"host", "switch", "service"})
"""Kinds of names that a domain can follow."""
_FIRST = ("domain", "cluster", "database", "host", "instance", "service")
"""Kinds of names that other names contain. A name of two kinds gets the kind that is first in this list."""
_COUNTRY_DOMAIN = re.compile(r"(?:com?|org|net|gov|ac|edu)\.[a-z]{2}")
_NOT_DOMAINS = frozenset(
    {"asm", "bak", "bin", "cfg", "conf", "db", "gz", "json", "lock", "log", "lsnr", "old", "ora", "pid", "py", "sh"}
    | {"svc", "trc", "trm", "txt", "vip", "xml", "zip"}
)
"""Endings of files and of Clusterware resources, which are not domains."""
_SHORTEST_TEXT = 3
"""Characters. A shorter text contains no name."""


@dataclass
class LearnedNames:
    """The names and addresses that identify a site or a person, and other words that look like names."""

    names: dict[str, str] = field(default_factory=dict)
    """The kind of each name, by `key_of` the name, in the order of discovery."""
    networks: set[IPNetwork] = field(default_factory=set)
    addresses: dict[IPAddress, None] = field(default_factory=dict)
    """The addresses in facts. racwire searches for their other spellings too."""
    macs: dict[str, None] = field(default_factory=dict)
    """The MAC addresses in facts: twelve digits each."""
    database_ids: dict[str, None] = field(default_factory=dict)
    """The DBIDs that are large enough to differ from other numbers in a text."""
    originals: set[IPAddress] = field(default_factory=set)
    """All texts that look like an IPv4 address."""
    versions: set[str] = field(default_factory=set)
    vocabulary: set[str] = field(default_factory=set)
    """Words of facts that are not names of the site: counters, states, interfaces."""
    sample_texts: dict[str, None] = field(default_factory=dict)
    """The texts of samples. A sample is replaced when it is read, and its names need pseudonyms before that."""
    _read: set[str] = field(default_factory=set)
    _words: set[str] = field(default_factory=set)
    _dotted: set[str] = field(default_factory=set)
    """Words with a dot."""
    _shapes: set[Shape] = field(default_factory=set)

    def learn_identity(self, identity: Identity) -> None:
        """Learn the names of the operator's identity."""
        self._add(names_in_identity(identity))

    def learn_struct(self, whole: msgspec.Struct) -> None:
        """Learn the names in a report, a sample or a recording's header, with all structs in it."""
        parts = list(structs(whole))
        self._add(names_in_facts(parts))
        for part in parts:
            self._learn_facts(part)
            if isinstance(part, (report.Report, recording.Header)):
                self._add(names_in_settings(part.settings))
        for treatment, text in texts(whole):
            self._learn_text(treatment, text)

    def learn_event(self, event: Event) -> None:
        """Learn the names in a sample, a gap or a change of interfaces.

        A sample with the shape of an earlier one has no new names.
        """
        if isinstance(event, (NodeSample, InstanceSample, LatencySample)) or (
            isinstance(event, PairsSample) and not event.unread
        ):
            shape = shape_of(event)
            if shape in self._shapes:
                return
            self._shapes.add(shape)
        self.learn_struct(event)
        self.sample_texts.update(
            dict.fromkeys(text for treatment, text in texts(event) if treatment is Treatment.REPLACE)
        )

    def sorted_names(self) -> list[tuple[str, str]]:
        """Return the names with their kinds; first the kinds of names that other names contain."""
        return sorted(self.names.items(), key=lambda pair: _rank(pair[1]))

    def learn_domains(self) -> None:
        """Learn the domains after known hosts, and the hosts in known domains, that only raw outputs contain.

        Call this method after all others.
        """
        dotted = sorted({name for word in self._dotted for name in _DOTTED.findall(word)})
        hosts = {name for name, kind in self.names.items() if kind in _WITH_DOMAIN}
        for host, _, rest in (name.partition(".") for name in dotted):
            if key_of(host) in hosts and "." in rest and rest.rpartition(".")[2].lower() not in _NOT_DOMAINS:
                self._add([("domain", rest)])
        self._add([("domain", _domain_of_site(name)) for name, kind in self.names.items() if kind == "domain"])
        domains = {name for name, kind in self.names.items() if kind == "domain"}
        for name in (name for name in dotted if key_of(name) not in domains):
            host, _, rest = name.partition(".")
            if any(key_of(ending) in domains for ending in _parent_domains(rest)):
                self._add([("domain", rest), ("host", host)])

    def _add(self, named: Iterable[Named]) -> None:
        for kind, name in named:
            bare = name.strip()
            if kind in _WITH_DOMAIN and "." in bare and not _is_address(bare):
                bare, _, domain = bare.rstrip(".").partition(".")
                self._add([("domain", domain)])
            if not re.search(r"[^\W\d_]", bare) or is_well_known(kind, bare) or _is_address(bare):
                continue
            if kind == "domain" and bare.lower() in VOCABULARY:
                continue
            known = self.names.get(key_of(bare), kind)
            self.names[key_of(bare)] = min(known, kind, key=_rank)

    def _learn_facts(self, part: msgspec.Struct) -> None:
        """Learn the addresses, versions and DBIDs of a fact."""
        if isinstance(part, (facts.Database, facts.History)) and part.dbid >= _SMALLEST_DATABASE_ID:
            self.database_ids[str(part.dbid)] = None
        match part:
            case facts.Address():
                self._learn_subnet(f"{part.ip}/{part.prefix_length}")
                self._learn_address(part.ip)
            case facts.Port():
                self._learn_address(part.ip)
            case measurement.MeasuredPath():
                self._learn_subnet(part.network)
                self._learn_address(part.source)
                self._learn_address(part.target)
            case facts.LldpNeighbour():
                self._learn_hardware(part.chassis)
                self._learn_hardware(part.port_mac)
                for ip in part.management_ips:
                    self._learn_address(ip)
            case facts.Bond():
                self._learn_hardware(part.partner_mac)
                for ip in part.arp_targets:
                    self._learn_address(ip)
            case facts.Route():
                self._learn_address(part.gateway)
            case facts.Interface() | facts.Neighbour() | facts.NicState():
                self._learn_hardware(part.mac_address)
                if isinstance(part, facts.Neighbour):
                    self._learn_address(part.ip)
            case facts.ListedInterface() if part.prefix_length is not None:
                self._learn_subnet(f"{part.subnet}/{part.prefix_length}")
            case facts.ConfiguredInterface() | facts.PrivateNetwork():
                self._learn_subnet(part.subnet)
            case facts.Instance() | facts.Database() | facts.ActiveVersion():
                self.versions |= set(_prefixes(part.version))
            case report.Report():
                self.versions |= set(part.versions.values())

    def _learn_hardware(self, text: str) -> None:
        digits = re.sub(r"[:-]", "", text).lower()
        if re.fullmatch(r"[0-9a-f]{12}", digits):
            self.macs[digits] = None
        elif _IPOIB.fullmatch(digits):
            self.addresses[ipaddress.IPv6Address(bytes.fromhex(digits[8:]))] = None

    def _learn_text(self, treatment: Treatment, text: str) -> None:
        if treatment not in (Treatment.REPLACE, Treatment.FREE_TEXT):
            self.vocabulary.update(word.lower() for word in _LETTERS.findall(text))
            self.vocabulary.add(text.lower())
            return
        if text in self._read or len(text) < _SHORTEST_TEXT:
            return
        self._read.add(text)
        self._add(names_in_text(text))
        for word in set(text.split()) - self._words:
            self._learn_word(word)

    def _learn_word(self, word: str) -> None:
        self._words.add(word)
        if "." in word and _LETTERS.search(word):
            self._dotted.add(word)
        if word.count(".") > 2:
            for found in _QUAD.finditer(word):
                self._learn_quad(found[1], found[2])
        if ":" in word and "/" in word:
            for found in _V6_SUBNET.finditer(word):
                self._learn_subnet(found[0])

    def _learn_quad(self, quad: str, length: str | None) -> None:
        if length:
            self._learn_subnet(quad + length)
        try:
            self.originals.add(ipaddress.ip_address(quad))
        except ValueError:
            return

    def _learn_address(self, text: str) -> None:
        try:
            self.addresses[ipaddress.ip_address(text)] = None
        except ValueError:
            return

    def _learn_subnet(self, text: str) -> None:
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            return
        if "/" in text:
            self.networks.add(network)


def _prefixes(version: str) -> Iterator[str]:
    """Yield the version and its shorter forms: a text can contain a version of five numbers with four of them."""
    parts = version.split(".")
    yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _parent_domains(domain: str) -> Iterator[str]:
    """Return the domain and all its parent domains."""
    parts = domain.split(".")
    return (".".join(parts[n:]) for n in range(len(parts)))


def _domain_of_site(domain: str) -> str:
    """Return the domain of the whole site: `example.com` for `corp.example.com`."""
    parts = domain.lower().split(".")
    for n in range(2, len(parts) + 1):
        last = ".".join(parts[-n:])
        if not _COUNTRY_DOMAIN.fullmatch(last):
            return last
    return domain


def _rank(kind: str) -> int:
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


def _is_address(text: str) -> bool:
    """Whether the text is an IP address or a hardware address."""
    if _HARDWARE.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
