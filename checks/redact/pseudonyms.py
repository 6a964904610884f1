"""The mapping: the pseudonym of each name, network, address and MAC address, the same in every report."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from checks.model.facts import IPAddress, IPNetwork
from checks.redact.names import key_of
from checks.redact.network_pseudonyms import NetworkPseudonyms, RedactionError

SCHEMA = "racwire-redaction/1"
_ABOUT = (
    "The names and addresses that the pseudonyms in redacted reports replace. Keep this file private. In an address "
    "that is not listed, racwire replaced the network; the host number is the same."
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
"""The first word of the pseudonyms of each kind; the second word where an original is, or is part of, the first."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TWELVE_DIGITS = re.compile(r"[0-9a-f]{12}")
_DATABASE_ID = re.compile(r"[0-9]{10}")
_FIRST_DATABASE_ID = 1_000_000_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORT = 2
"""Originals of at most this length are excluded from pseudonyms only as whole words: any text contains such letters."""


class MappingFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The stored mapping, which racwire and people can read."""

    schema: str = SCHEMA
    about: str = _ABOUT
    names: dict[str, dict[str, str]] = {}
    """By kind of name: the pseudonym of each original, both in lower case."""
    networks: dict[str, str] = {}
    addresses: dict[str, str] = {}
    mac_addresses: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    """Upper parts of interface identifiers of IPv6 addresses, and hardware keys, in hexadecimal."""
    database_ids: dict[str, str] = {}
    uuids: dict[str, str] = {}
    """Of connections and of boots."""
    retired: dict[str, str] = {}
    """The original of each pseudonym that is no longer used: earlier reports contain it."""


class Pseudonyms:
    """Return the pseudonym of each original, and assign a new one where it has none yet."""

    def __init__(self, mapping: MappingFile | None = None) -> None:
        """Restore a stored mapping. Raises ValueError where it contradicts itself."""
        mapping = mapping or MappingFile()
        self._names = {kind: dict(names) for kind, names in mapping.names.items()}
        self._by_original = {
            original: pseudonym for names in mapping.names.values() for original, pseudonym in names.items()
        }
        self._macs = _NumberPseudonyms(mapping.mac_addresses, lambda n: f"02{n:010x}")
        self._identifiers = _NumberPseudonyms(mapping.identifiers, lambda n: f"2{n:011x}")
        self._database_ids = _NumberPseudonyms(mapping.database_ids, lambda n: str(_FIRST_DATABASE_ID + n))
        self._uuids = _NumberPseudonyms(mapping.uuids, lambda n: f"00000000-0000-4000-8000-{n:012x}")
        self._retired = dict(mapping.retired)
        self._originals: set[str] = set(self._by_original)
        self._addresses = {_address(a): _address(b) for a, b in mapping.addresses.items()}
        self._networks = {version: NetworkPseudonyms(version, self._addresses) for version in (4, 6)}
        for table in (
            self._by_original,
            mapping.mac_addresses,
            mapping.identifiers,
            mapping.database_ids,
            mapping.uuids,
            mapping.networks,
        ):
            if len(set(table.values())) < len(table):
                raise ValueError("two originals have the same pseudonym")
        for number in (*mapping.mac_addresses.values(), *mapping.identifiers.values()):
            if not _TWELVE_DIGITS.fullmatch(number):
                raise ValueError(f"{number} is not a number of twelve hexadecimal digits")
        for number in mapping.database_ids.values():
            if not _DATABASE_ID.fullmatch(number):
                raise ValueError(f"{number} is not a DBID")
        for uuid in mapping.uuids.values():
            if not _UUID.fullmatch(uuid):
                raise ValueError(f"{uuid} is not a UUID")
        if any(a.version != b.version for a, b in self._addresses.items()):
            raise ValueError("the pseudonym of an address is of another IP version")
        pairs = [(ipaddress.ip_network(a), ipaddress.ip_network(b)) for a, b in mapping.networks.items()]
        for version, networks in self._networks.items():
            networks.load((a, b) for a, b in pairs if a.version == b.version == version)

    def mapping(self) -> MappingFile:
        """Return the mapping to store."""
        retired = dict(self._retired)
        for networks in self._networks.values():
            retired |= {str(old): str(network) for network, old in networks.retired}
        return MappingFile(
            names={kind: names for kind, names in self._names.items() if names},
            networks={str(a): str(b) for networks in self._networks.values() for a, b in networks.pairs()},
            addresses={str(a): str(self._current(a, b)) for a, b in sorted(self._addresses.items(), key=_by_address)},
            mac_addresses=self._macs.table,
            identifiers=self._identifiers.table,
            database_ids=self._database_ids.table,
            uuids=self._uuids.table,
            retired=retired,
        )

    @property
    def names(self) -> Mapping[str, str]:
        """The pseudonym of each name, by `key_of` the name."""
        return self._by_original

    def avoid(self, originals: Iterable[str]) -> None:
        """Use no pseudonym that is or contains one of these originals; retire the pseudonyms that do."""
        self._originals |= {key_of(original) for original in originals}
        for names in self._names.values():
            for original, pseudonym in list(names.items()):
                if self._conflicts(pseudonym):
                    self._retired[pseudonym] = original
                    del names[original], self._by_original[original]

    def name(self, kind: str, original: str) -> str:
        """Return the pseudonym of a name in any case. A name that is known as another kind has that pseudonym.

        Raises RedactionError where no pseudonym is free.
        """
        key = key_of(original)
        if key not in self._by_original:
            taken = {*self._by_original.values(), *self._retired}
            pseudonym = next(p for p in _candidates(kind) if p not in taken and not self._conflicts(p))
            self._by_original[key] = pseudonym
            self._names.setdefault(kind, {})[key] = pseudonym
        return self._by_original[key]

    def mac(self, original: str) -> str:
        """Return the pseudonym of a MAC address, a locally administered address; both as twelve lower-case digits."""
        return self._macs.of(original)

    def identifier(self, original: int) -> int:
        """Return the pseudonym of a number of 48 bits: the upper part of an IPv6 interface identifier, or a key."""
        return int(self._identifiers.of(f"{original:012x}"), 16)

    def database_id(self, original: str) -> str:
        """Return the pseudonym of a DBID: ten decimal digits."""
        return self._database_ids.of(original)

    def uuid(self, original: str) -> str:
        """Return the pseudonym of a UUID in any case, in lower case."""
        return self._uuids.of(original.lower())

    def add_network(self, network: IPNetwork) -> None:
        """Assign a pseudonym to a network. Add networks before their addresses, so that subnets stay subnets.

        Raises RedactionError where no pseudonym is free.
        """
        self._networks[network.version].add(network)

    def avoid_addresses(self, originals: Iterable[IPAddress]) -> None:
        """Assign no further pseudonym to a network that contains one of these originals."""
        for address in originals:
            self._networks[address.version].avoid(address)

    def is_known(self, address: IPAddress) -> bool:
        """Whether the leaf network of the address has a pseudonym."""
        return self._networks[address.version].is_known(int(address))

    def network(self, address: IPAddress) -> int:
        """Return the pseudonym of the leaf network of an address (/24 of IPv4, /64 of IPv6); the host bits are 0.

        Raises RedactionError where no pseudonym is free.
        """
        return self._networks[address.version].pseudonym(int(address))

    def list_address(self, original: IPAddress, pseudonym: IPAddress) -> None:
        """Add an address to the mapping, for the people who read it."""
        self._addresses[original] = pseudonym

    def _current(self, original: IPAddress, pseudonym: IPAddress) -> IPAddress:
        """Return the current pseudonym of an address: its network can have another pseudonym now."""
        host_bits = 0xFF if original.version == 4 else 0xFFFF_FFFF_FFFF_FFFF
        return type(original)(self.network(original) | int(pseudonym) & host_bits)

    def _conflicts(self, pseudonym: str) -> bool:
        words = set(pseudonym.split("_"))
        return any(
            original in words or original == pseudonym or (len(original) > _SHORT and original in pseudonym)
            for original in self._originals
        )


def _candidates(kind: str) -> Iterator[str]:
    words = (*_KINDS.get(kind, ()), "name", "thing", "xx", "yy", "zz", "qq")
    for word in words:
        for number in range(2000):
            yield f"{word}_{_as_letters(number)}"
    raise RedactionError(f"There are too many names of the kind {kind}: no pseudonym is free.")


def _as_letters(number: int) -> str:
    """Return a, b, ... z, aa, ab, ...: without digits, because many names are another name and a digit."""
    text = ""
    number += 1
    while number:
        number, index = divmod(number - 1, len(_LETTERS))
        text = _LETTERS[index] + text
    return text


class _NumberPseudonyms:
    """Pseudonyms that are numbers, in ascending order."""

    def __init__(self, table: dict[str, str], make: Callable[[int], str]) -> None:
        self.table = dict(table)
        self._make = make
        self._used = set(table.values())
        self._next = 1

    def of(self, original: str) -> str:
        """Return the pseudonym of a number; a new one where it has none yet."""
        if original not in self.table:
            while (pseudonym := self._make(self._next)) in self._used or pseudonym in self.table:
                self._next += 1
            self._used.add(pseudonym)
            self.table[original] = pseudonym
        return self.table[original]


def _address(text: str) -> IPAddress:
    return ipaddress.ip_address(text)


def _by_address(pair: tuple[IPAddress, IPAddress]) -> tuple[int, int]:
    return pair[0].version, int(pair[0])
