"""Replace addresses in texts: IPv4, IPv6, MAC and InfiniBand addresses, in every form."""

from __future__ import annotations

import ipaddress
import re

from checks.model.facts import IPAddress, IPNetwork
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.well_known import WELL_KNOWN_NETWORKS

_WELL_KNOWN = [ipaddress.ip_network(text) for text in WELL_KNOWN_NETWORKS]
_LINK_LOCAL = ipaddress.IPv6Network("fe80::/10")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_SOLICITED_NODE = ipaddress.IPv6Network("ff02::1:ff00:0/104")
_ORACLE_RELEASE = re.compile(r"(?:1[1289]|2[136])\.\d{1,2}\.0\.\d{1,2}")
"""Oracle releases of four numbers, such as 12.1.0.2. A release of 10g looks like an address of a private network. It
counts as an address, unless the facts contain it as a version."""
_LOW_64_BITS = 0xFFFF_FFFF_FFFF_FFFF


def is_well_known_network(network: IPNetwork) -> bool:
    """Whether no site chooses the addresses of a network, so that they are not replaced."""
    return any(n.version == network.version and network.subnet_of(n) for n in (*_WELL_KNOWN, _LINK_LOCAL))  # type: ignore


class Addresses:
    """Replace addresses. Each method takes an address in one form, and returns its pseudonym in the same form.

    Every method raises RedactionError where no pseudonym is free.
    """

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self._pseudonyms = pseudonyms
        self.versions: set[str] = set()
        """Known version numbers, which may look like addresses."""

    def ip(self, address: IPAddress) -> IPAddress:
        """Return the pseudonym of an address; the address itself where it identifies no site."""
        if isinstance(address, ipaddress.IPv4Address):
            return self._ip4(address)
        return self._ip6(address)

    def ip4_text(self, text: str) -> str:
        """Return the pseudonym of four numbers; the text itself where a number is over 255 or the text is a version."""
        numbers = [int(number) for number in text.split(".")]
        if max(numbers) > 255:
            return text
        address = ipaddress.IPv4Address(bytes(numbers))
        if self._is_version(text) and not self._pseudonyms.is_known(address):
            return text
        return str(self._ip4(address))

    def ip6_text(self, text: str) -> str | None:
        """Return the pseudonym of a text with colons; None where the text is not an address."""
        for start, end in ((0, None), (0, -1), (1, None), (1, -1)):
            part = text[start:end]
            if (start and text[0] != ":") or (end and text[-1] != ":"):
                continue
            try:
                address = ipaddress.IPv6Address(part)
            except ValueError:
                continue
            return text[:start] + str(self._ip6(address)) + (text[end:] if end else "")
        return None

    def socket_text(self, text: str) -> str:
        """Return the pseudonym of an address with a port as in /proc/net/tcp: little-endian groups of four bytes."""
        digits, _, port = text.partition(":")
        groups = [bytes.fromhex(digits[i : i + 8])[::-1] for i in range(0, len(digits), 8)]
        replaced = self.ip(ipaddress.ip_address(b"".join(groups))).packed
        return "".join(replaced[i : i + 4][::-1].hex().upper() for i in range(0, len(replaced), 4)) + f":{port}"

    def hardware_text(self, text: str) -> str:
        """Return the pseudonym of a hardware address or a key: pairs of digits with `:` or `-`, or fours with dots."""
        digits = re.sub(r"[:.-]", "", text)
        replaced = self._hardware(bytes.fromhex(digits)).hex()
        if text.upper() == text:
            replaced = replaced.upper()
        replaced_digits = iter(replaced)
        return "".join(char if char in ":.-" else next(replaced_digits) for char in text)

    def _hardware(self, address: bytes) -> bytes:
        match len(address):
            case 6:
                return self._mac(address)
            case 7:  # a DHCP client identifier: the hardware type, and a MAC address
                return address[:1] + self._mac(address[1:])
            case 8:
                return self._identifier(int.from_bytes(address)).to_bytes(8)
            case 20 if address[4] == 0xFF:  # multicast (RFC 4391), which identifies no site
                return address
            case 20:  # IPoIB: flags and queue pair, then the GID of the port (RFC 4391)
                gid = self._ip6(ipaddress.IPv6Address(address[4:]))
                return address[:1] + bytes(3) + gid.packed
            case size:
                number = self._pseudonyms.identifier(int.from_bytes(address)).to_bytes(6)
                return (number * (size // 6 + 1))[:size]

    def _mac(self, address: bytes) -> bytes:
        if not any(address):
            return address
        if address.startswith(b"\x33\x33\xff"):  # to a solicited-node address, with the end of an IPv6 address
            return address[:3] + self._low_part(address[3:])
        if address[0] & 1:  # multicast and broadcast identify no site
            return address
        return bytes.fromhex(self._pseudonyms.mac(address.hex()))

    def _ip4(self, address: ipaddress.IPv4Address) -> ipaddress.IPv4Address:
        if any(address in network for network in _WELL_KNOWN if network.version == 4):
            return address
        replaced = ipaddress.IPv4Address(self._pseudonyms.network(address) | int(address) & 0xFF)
        self._pseudonyms.list_address(address, replaced)
        return replaced

    def _ip6(self, address: ipaddress.IPv6Address) -> ipaddress.IPv6Address:
        number = int(address)
        if address in _SOLICITED_NODE:
            low = int.from_bytes(self._low_part(address.packed[-3:]))
            return ipaddress.IPv6Address(number >> 24 << 24 | low)
        if any(address in network for network in _WELL_KNOWN if network.version == 6):
            return address
        if address in _MAPPED or address in _NAT64 or address in _COMPATIBLE:
            inner = int(self._ip4(ipaddress.IPv4Address(number & 0xFFFF_FFFF)))
            return ipaddress.IPv6Address(number >> 32 << 32 | inner)
        identifier = self._identifier(number & _LOW_64_BITS)
        if address in _LINK_LOCAL:
            return ipaddress.IPv6Address(number & ~_LOW_64_BITS | identifier)
        replaced = ipaddress.IPv6Address(self._pseudonyms.network(address) | identifier)
        self._pseudonyms.list_address(address, replaced)
        return replaced

    def _identifier(self, number: int) -> int:
        """Return the pseudonym of an interface identifier, the second half of an IPv6 address.

        An identifier that contains a MAC address gets the pseudonym of that MAC address. Any other keeps its last 16
        bits, so that small numbers and small subnets stay as they are.
        """
        whole = number.to_bytes(8)
        if whole[3:5] == b"\xff\xfe":
            mac = self._mac(bytes([whole[0] ^ 2, *whole[1:3], *whole[5:]]))
            return int.from_bytes(bytes([mac[0] ^ 2, *mac[1:3], 0xFF, 0xFE, *mac[3:]]))
        upper = number >> 16
        return (self._pseudonyms.identifier(upper) if upper else 0) << 16 | number & 0xFFFF

    def _low_part(self, address: bytes) -> bytes:
        """Return the pseudonym of the last three bytes of an address, which can be those of a MAC address too."""
        return self._pseudonyms.identifier(int.from_bytes(address)).to_bytes(6)[-3:]

    def _is_version(self, text: str) -> bool:
        return text in self.versions or bool(_ORACLE_RELEASE.fullmatch(text))
