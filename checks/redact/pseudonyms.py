"""The mapping: which pseudonym stands for which name, network, address and MAC address. The same one stays the same."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from checks.model.facts import IPAddress, IPNetwork
from checks.redact.blocks import Blocks, RedactionError
from checks.redact.names import key_of

SCHEMA = "racwire-redaction/1"
_ABOUT = (
    "What the pseudonyms in redacted reports stand for. Keep it to yourself. Of an address that is not listed, the "
    "network is replaced and the number after it stays."
)
_KINDS = {
    "host": ("host", "machine", "computer"),
    "cluster": ("cluster", "group"),
    "domain": ("domain", "zone"),
    "database": ("base", "store"),
    "instance": ("inst", "sid"),
    "service": ("service", "svc"),
    "listener": ("listener", "lsnr"),
    "user": ("user", "login"),
    "person": ("person", "someone"),
    "switch": ("switch", "bridge"),
    "port": ("port", "plug"),
    "directory": ("dir", "folder"),
    "label": ("label", "tag"),
    "mail": ("mail", "letter"),
    "key": ("key", "print"),
}
"""The prefix of a pseudonym of each kind; the next word where an original is, or is part of, the first."""
_TWELVE_DIGITS = re.compile(r"[0-9a-f]{12}")
_DATABASE_ID = re.compile(r"[0-9]{10}")
_FIRST_DATABASE_ID = 1_000_000_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORT = 2
"""Originals of so few characters are kept out of pseudonyms as words only: letters occur in any."""


class MappingFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The stored mapping, readable for racwire and for people."""

    schema: str = SCHEMA
    about: str = _ABOUT
    names: dict[str, dict[str, str]] = {}
    """By kind: original to pseudonym, both in lower case."""
    networks: dict[str, str] = {}
    addresses: dict[str, str] = {}
    mac_addresses: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    """Upper parts of the second half of an IPv6 address, and keys of hardware, in hexadecimal."""
    database_ids: dict[str, str] = {}
    retired: dict[str, str] = {}
    """Replaced pseudonyms with their originals: earlier reports still use them."""


class Pseudonyms:
    """Assign pseudonyms, and store them."""

    def __init__(self, kept: MappingFile | None = None) -> None:
        """Restore a stored mapping. Raises ValueError where it contradicts itself."""
        kept = kept or MappingFile()
        self._names = {kind: dict(names) for kind, names in kept.names.items()}
        self._of = {original: pseudonym for names in kept.names.values() for original, pseudonym in names.items()}
        self._macs = _Numbers(kept.mac_addresses, lambda n: f"02{n:010x}")
        self._identifiers = _Numbers(kept.identifiers, lambda n: f"2{n:011x}")
        self._database_ids = _Numbers(kept.database_ids, lambda n: str(_FIRST_DATABASE_ID + n))
        self._retired = dict(kept.retired)
        self._originals: set[str] = set(self._of)
        self._addresses = {_address(a): _address(b) for a, b in kept.addresses.items()}
        self._blocks = {version: Blocks(version, self._addresses) for version in (4, 6)}
        for table in (self._of, kept.mac_addresses, kept.identifiers, kept.database_ids, kept.networks):
            if len(set(table.values())) < len(table):
                raise ValueError("one pseudonym stands for two things")
        for number in (*kept.mac_addresses.values(), *kept.identifiers.values()):
            if not _TWELVE_DIGITS.fullmatch(number):
                raise ValueError(f"{number} is no number of twelve hexadecimal digits")
        for number in kept.database_ids.values():
            if not _DATABASE_ID.fullmatch(number):
                raise ValueError(f"{number} is no number of a database")
        if any(a.version != b.version for a, b in self._addresses.items()):
            raise ValueError("an IPv4 address stands for an IPv6 address")
        pairs = [(ipaddress.ip_network(a), ipaddress.ip_network(b)) for a, b in kept.networks.items()]
        for version, blocks in self._blocks.items():
            blocks.load((a, b) for a, b in pairs if a.version == b.version == version)

    def kept(self) -> MappingFile:
        """The mapping to store."""
        retired = dict(self._retired)
        for blocks in self._blocks.values():
            retired |= {str(image): str(network) for network, image in blocks.moved}
        return MappingFile(
            names={kind: names for kind, names in self._names.items() if names},
            networks={str(a): str(b) for blocks in self._blocks.values() for a, b in blocks.pairs()},
            addresses={str(a): str(self._again(a, b)) for a, b in sorted(self._addresses.items(), key=_in_order)},
            mac_addresses=self._macs.table,
            identifiers=self._identifiers.table,
            database_ids=self._database_ids.table,
            retired=retired,
        )

    @property
    def names(self) -> Mapping[str, str]:
        """All names that have a pseudonym, in lower case."""
        return self._of

    def avoid(self, originals: Iterable[str]) -> None:
        """No pseudonym may be one of these, or have one in it: those that do are given up."""
        self._originals |= {key_of(original) for original in originals}
        for names in self._names.values():
            for original, pseudonym in list(names.items()):
                if self._confuses(pseudonym):
                    self._retired[pseudonym] = original
                    del names[original], self._of[original]

    def name(self, kind: str, original: str) -> str:
        """The pseudonym of a name, whatever its case; one that is known as another kind keeps that pseudonym."""
        key = key_of(original)
        if key not in self._of:
            taken = {*self._of.values(), *self._retired}
            pseudonym = next(p for p in _candidates(kind) if p not in taken and not self._confuses(p))
            self._of[key] = pseudonym
            self._names.setdefault(kind, {})[key] = pseudonym
        return self._of[key]

    def mac(self, original: str) -> str:
        """The pseudonym of a MAC address, both as twelve lower-case digits: a locally administered one."""
        return self._macs.of(original)

    def identifier(self, original: int) -> int:
        """A number of 48 bits for another one: the upper part of the second half of an IPv6 address, a key."""
        return int(self._identifiers.of(f"{original:012x}"), 16)

    def database_id(self, original: str) -> str:
        """The pseudonym of a DBID, both in decimal digits: ten of them."""
        return self._database_ids.of(original)

    def learn(self, network: IPNetwork) -> None:
        """Subnets stay subnets where they are known before the addresses in them."""
        self._blocks[network.version].learn(network)

    def avoid_addresses(self, originals: Iterable[IPAddress]) -> None:
        """No image assigned from now on holds one of these."""
        for address in originals:
            self._blocks[address.version].avoid(address)

    def is_known(self, address: IPAddress) -> bool:
        """Whether the address is in a known network."""
        return self._blocks[address.version].is_known(int(address))

    def network(self, address: IPAddress) -> int:
        """What the smallest network becomes that the address lies in: the upper 24 bits of IPv4, 64 of IPv6."""
        return self._blocks[address.version].image(int(address))

    def tell(self, original: IPAddress, pseudonym: IPAddress) -> None:
        """Add an address to the list for readers of the mapping."""
        self._addresses[original] = pseudonym

    def _again(self, original: IPAddress, pseudonym: IPAddress) -> IPAddress:
        """As `pseudonym` is by now: its network may have been given another one."""
        below = 0xFF if original.version == 4 else 0xFFFF_FFFF_FFFF_FFFF
        return type(original)(self.network(original) | int(pseudonym) & below)

    def _confuses(self, pseudonym: str) -> bool:
        words = set(pseudonym.split("_"))
        return any(
            original in words or original == pseudonym or (len(original) > _SHORT and original in pseudonym)
            for original in self._originals
        )


def _candidates(kind: str) -> Iterator[str]:
    words = (*_KINDS.get(kind, ()), "name", "thing", "xx", "yy", "zz", "qq")
    for word in words:
        for number in range(2000):
            yield f"{word}_{_in_letters(number)}"
    raise RedactionError(f"There are too many names of a {kind} to find pseudonyms for.")


def _in_letters(number: int) -> str:
    """a, b, ... z, aa, ab, ...: no digits, as many names are made of another one and a digit."""
    text = ""
    number += 1
    while number:
        number, place = divmod(number - 1, len(_LETTERS))
        text = _LETTERS[place] + text
    return text


class _Numbers:
    """Pseudonyms that are numbers, assigned one after the other."""

    def __init__(self, table: dict[str, str], made: Callable[[int], str]) -> None:
        self.table = dict(table)
        self._made = made
        self._given = set(table.values())
        self._next = 1

    def of(self, original: str) -> str:
        """The pseudonym of a number; a free one where it has none yet."""
        if original not in self.table:
            while (made := self._made(self._next)) in self._given or made in self.table:
                self._next += 1
            self._given.add(made)
            self.table[original] = made
        return self.table[original]


def _address(text: str) -> IPAddress:
    return ipaddress.ip_address(text)


def _in_order(pair: tuple[IPAddress, IPAddress]) -> tuple[int, int]:
    return pair[0].version, int(pair[0])
