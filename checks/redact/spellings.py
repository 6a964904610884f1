"""Replace addresses in unusual spellings.

- as part of a name: `ip-10-20-0-1`, `192_168_10_1`
- with a port, as tcpdump writes it: `192.168.10.1.1521`
- in an object identifier of SNMP
- in hexadecimal digits as in /proc/net: `0A14000A`, and 32 digits for IPv6; as four bytes: `0a:14:00:0a`
- as one decimal number, and in a web address: `169086977`, `2a02%3A1234`

Versions, counters and checksums can look the same. So such an address is replaced only if a port follows it, if the
report has it in the usual form too, or if it is in a subnet of the report, in 192.168.0.0/16 or in 172.16.0.0/12.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import Literal

from checks.model.facts import IPAddress, IPNetwork
from checks.redact.addresses import Addresses

_NUMBER = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_QUAD = re.compile(rf"(?<!\d){_NUMBER}([-_.]){_NUMBER}\2{_NUMBER}\2{_NUMBER}(?!\d)")
_PORT = re.compile(r"\.(\d{4,5})(?!\w|\.\d)")
_DIGITS = re.compile(
    r"(?<![0-9A-Z])(?:0x)?([0-9A-F]{32}|[0-9A-F]{16}|[0-9A-F]{8})(?![0-9A-Z]|:[0-9A-F]{4}(?!\w))", re.IGNORECASE
)
_BYTES = re.compile(
    r"(?<![0-9A-F])(?<![0-9A-F][:.,-])(?:0x|\\x)?([0-9A-F]{2})([:,-](?:0x)?|\\x)([0-9A-F]{2})\2([0-9A-F]{2})\2([0-9A-F]{2})"
    r"(?![0-9A-F]|[:,-][0-9A-F])",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"(?<![\w.])\d{8,10}(?![\w]|\.\d)")
_ORDERS: tuple[Literal["big", "little"], ...] = ("big", "little")
_LARGEST_SUBNET = {4: 16, 6: 48}
"""Prefix length. A larger network, such as 10.0.0.0/8, contains numbers that look like versions and dates."""
_PRIVATE = (ipaddress.ip_network("192.168.0.0/16"), ipaddress.ip_network("172.16.0.0/12"))
_MAPPED, _MAPPED_IN_PROC = bytes(10) + b"\xff\xff", bytes(8) + b"\0\0\xff\xff"
_LINK_LOCAL = ipaddress.IPv6Network("fe80::/64")


class Spellings:
    """Replace the addresses in a text that are not in the usual form."""

    def __init__(
        self,
        addresses: Addresses,
        known: Collection[IPAddress] = (),
        in_texts: Collection[IPAddress] = (),
        networks: Collection[IPNetwork] = (),
    ) -> None:
        """`known` has the addresses of facts, `in_texts` those that texts have in the usual form."""
        self._addresses = addresses
        self._own = [n for n in networks if n.version == 4 and n.prefixlen >= _LARGEST_SUBNET[4]]
        self._subnets = [*_PRIVATE, *(n for n in networks if n.prefixlen >= _LARGEST_SUBNET[n.version])]
        self._in_texts = frozenset(in_texts)
        """Some may be versions. Their hexadecimal form would look like a small number, and is not replaced."""
        self._known = {*known, *(n.network_address for n in self._subnets), *filter(self._is_in_subnet, in_texts)}
        self._identifiers = {address.packed[8:] for address in known if address.version == 6}

    def replaced(self, text: str) -> str:
        """Return the text with every such address replaced.

        Raises RedactionError where no pseudonym is free.
        """
        text = _DECIMAL.sub(self._decimal, _BYTES.sub(self._bytes, _DIGITS.sub(self._digits, text)))
        return self._replace_quads(text)

    def _bytes(self, found: re.Match[str]) -> str:
        """Return the pseudonym of four bytes with something between them."""
        replaced = iter(self._replaced_bytes(bytes.fromhex("".join(found.group(1, 3, 4, 5)))).hex())
        starts = [found.start(group) - found.start() for group in (1, 3, 4, 5)]
        places = {at + digit for at in starts for digit in (0, 1)}
        is_upper = found[0].upper() == found[0]
        new = (next(replaced) if at in places else char for at, char in enumerate(found[0]))
        return "".join(char.upper() if is_upper else char for char in new)

    def _decimal(self, found: re.Match[str]) -> str:
        number = int(found[0])
        if number >> 32 or not any(ipaddress.IPv4Address(number.to_bytes(4, o)) in self._known for o in _ORDERS):
            return found[0]
        return str(int.from_bytes(self._replaced_bytes(number.to_bytes(4))))

    def _replace_quads(self, text: str) -> str:
        """Replace addresses of four decimal numbers, which can start at any place in a row of numbers."""
        pieces: list[str] = []
        at = start = 0
        while found := _QUAD.search(text, start):
            start = found.end(1)
            separator, quad = found[2], ".".join(found.group(1, 3, 4, 5))
            if self._is_known(quad) or (separator == "." and self._has_port(found)):
                pieces += (text[at : found.start()], self._addresses.ip4_text(quad).replace(".", separator))
                at = start = found.end()
        return "".join((*pieces, text[at:]))

    @staticmethod
    def _has_port(found: re.Match[str]) -> bool:
        before = found.string[max(0, found.start() - 2) : found.start()]
        port = _PORT.match(found.string, found.end())
        return port is not None and int(port[1]) < 1 << 16 and not re.fullmatch(r"\d\.", before)

    def _digits(self, found: re.Match[str]) -> str:
        digits = found[1]
        replaced = self._replaced_bytes(bytes.fromhex(digits)).hex()
        return found[0].removesuffix(digits) + (replaced.upper() if digits.upper() == digits else replaced)

    def _replaced_bytes(self, data: bytes) -> bytes:
        match len(data):
            case 4:
                for order in (1, -1):  # in network byte order, and in that of /proc/net/route
                    address = ipaddress.IPv4Address(data[::order])
                    if address in self._known or any(address in subnet for subnet in self._own):
                        return ipaddress.IPv4Address(self._addresses.ip4_text(str(address))).packed[::order]
            case 8 if data in self._identifiers or data[3:5] == b"\xff\xfe":
                return self._addresses.ip(ipaddress.IPv6Address(_LINK_LOCAL[0].packed[:8] + data)).packed[8:]
            case 16 if data.startswith((_MAPPED, _MAPPED_IN_PROC)):
                return data[:12] + self._replaced_bytes(data[12:])
            case 16:
                whole = ipaddress.IPv6Address(data)
                if self._is_known(str(whole)) or whole in _LINK_LOCAL or data[11:13] == b"\xff\xfe":
                    return self._addresses.ip(whole).packed
        return data

    def _is_known(self, text: str) -> bool:
        address = ipaddress.ip_address(text)
        return address in self._known or address in self._in_texts or self._is_in_subnet(address)

    def _is_in_subnet(self, address: IPAddress) -> bool:
        return any(address in subnet for subnet in self._subnets if subnet.version == address.version)
