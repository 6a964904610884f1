"""Replace written addresses: IPv4 and IPv6, MAC and InfiniBand hardware addresses, in every form."""

from __future__ import annotations

import ipaddress
import re

from checks.model.facts import IPAddress, IPNetwork
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.well_known import KEPT_NETWORKS

_KEPT = [ipaddress.ip_network(text) for text in KEPT_NETWORKS]
_LINK_LOCAL = ipaddress.IPv6Network("fe80::/10")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_SOLICITED_NODE = ipaddress.IPv6Network("ff02::1:ff00:0/104")
_ORACLE_RELEASE = re.compile(r"(?:1[1289]|2[136])\.\d{1,2}\.0\.\d{1,2}")
"""Releases of four numbers, such as 12.1.0.2. Those of 10g look like addresses of private networks, and count as such
unless the facts name them as a version."""
_HALF = 0xFFFF_FFFF_FFFF_FFFF


def is_kept(network: IPNetwork) -> bool:
    """Whether the addresses of a network are not replaced."""
    return any(n.version == network.version and network.subnet_of(n) for n in (*_KEPT, _LINK_LOCAL))  # type: ignore


class Addresses:
    """Replace addresses in text. Each method takes a written address, and returns its pseudonym in that form."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self._pseudonyms = pseudonyms
        self.versions: set[str] = set()
        """Version numbers that are known to be such: no addresses, though they may look like them."""

    def ip(self, address: IPAddress) -> IPAddress:
        """The pseudonym of an address; the address itself where it identifies no site."""
        if isinstance(address, ipaddress.IPv4Address):
            return self._ip4(address)
        return self._ip6(address)

    def ip4_text(self, text: str) -> str:
        """Four numbers: an address, unless one is over 255 or they are a version."""
        numbers = [int(number) for number in text.split(".")]
        if max(numbers) > 255:
            return text
        address = ipaddress.IPv4Address(bytes(numbers))
        if self._is_version(text) and not self._pseudonyms.is_known(address):
            return text
        return str(self._ip4(address))

    def ip6_text(self, text: str) -> str | None:
        """The pseudonym of a text with colons; None where the text is no address."""
        for begin, end in ((0, None), (0, -1), (1, None), (1, -1)):
            part = text[begin:end]
            if (begin and text[0] != ":") or (end and text[-1] != ":"):
                continue
            try:
                address = ipaddress.IPv6Address(part)
            except ValueError:
                continue
            return text[:begin] + str(self._ip6(address)) + (text[end:] if end else "")
        return None

    def socket_text(self, text: str) -> str:
        """An address and port as /proc/net/tcp has them: words of four bytes, the lowest first."""
        digits, _, port = text.partition(":")
        words = [bytes.fromhex(digits[i : i + 8])[::-1] for i in range(0, len(digits), 8)]
        replaced = self.ip(ipaddress.ip_address(b"".join(words))).packed
        return "".join(replaced[i : i + 4][::-1].hex().upper() for i in range(0, len(replaced), 4)) + f":{port}"

    def hardware_text(self, text: str) -> str:
        """Pairs of digits with `:` or `-` between, or four digits with dots: of 6, 7, 8 or 20 bytes, or a key."""
        digits = re.sub(r"[:.-]", "", text)
        replaced = self._hardware(bytes.fromhex(digits)).hex()
        if text.upper() == text:
            replaced = replaced.upper()
        places = iter(replaced)
        return "".join(sign if sign in ":.-" else next(places) for sign in text)

    def _hardware(self, address: bytes) -> bytes:
        match len(address):
            case 6:
                return self._mac(address)
            case 7:  # a DHCP client identifier: its kind, and a MAC address
                return address[:1] + self._mac(address[1:])
            case 8:
                return self._identifier(int.from_bytes(address)).to_bytes(8)
            case 20 if address[4] == 0xFF:  # to several (RFC 4391): nobody's own
                return address
            case 20:  # IPoIB: flags and queue pair, then the port's GID: a prefix, and its GUID (RFC 4391)
                gid = self._ip6(ipaddress.IPv6Address(address[4:]))
                return address[:1] + bytes(3) + gid.packed
            case size:
                number = self._pseudonyms.identifier(int.from_bytes(address)).to_bytes(6)
                return (number * (size // 6 + 1))[:size]

    def _mac(self, address: bytes) -> bytes:
        if not any(address):
            return address
        if address.startswith(b"\x33\x33\xff"):  # to whoever has an IPv6 address that ends so
            return address[:3] + self._low_part(address[3:])
        if address[0] & 1:  # multicast and broadcast: nobody's own
            return address
        return bytes.fromhex(self._pseudonyms.mac(address.hex()))

    def _ip4(self, address: ipaddress.IPv4Address) -> ipaddress.IPv4Address:
        if any(address in kept for kept in _KEPT if kept.version == 4):
            return address
        replaced = ipaddress.IPv4Address(self._pseudonyms.network(address) | int(address) & 0xFF)
        self._pseudonyms.tell(address, replaced)
        return replaced

    def _ip6(self, address: ipaddress.IPv6Address) -> ipaddress.IPv6Address:
        number = int(address)
        if address in _SOLICITED_NODE:
            low = int.from_bytes(self._low_part(address.packed[-3:]))
            return ipaddress.IPv6Address(number >> 24 << 24 | low)
        if any(address in kept for kept in _KEPT if kept.version == 6):
            return address
        if address in _MAPPED or address in _NAT64 or address in _COMPATIBLE:
            inner = int(self._ip4(ipaddress.IPv4Address(number & 0xFFFF_FFFF)))
            return ipaddress.IPv6Address(number >> 32 << 32 | inner)
        identifier = self._identifier(number & _HALF)
        if address in _LINK_LOCAL:
            return ipaddress.IPv6Address(number & ~_HALF | identifier)
        replaced = ipaddress.IPv6Address(self._pseudonyms.network(address) | identifier)
        self._pseudonyms.tell(address, replaced)
        return replaced

    def _identifier(self, number: int) -> int:
        """The second half of an IPv6 address. One made of a MAC address is made of its pseudonym; else the last 16 bits
        stay, so that small numbers, and the subnets of a few addresses, do."""
        whole = number.to_bytes(8)
        if whole[3:5] == b"\xff\xfe":
            mac = self._mac(bytes([whole[0] ^ 2, *whole[1:3], *whole[5:]]))
            return int.from_bytes(bytes([mac[0] ^ 2, *mac[1:3], 0xFF, 0xFE, *mac[3:]]))
        upper = number >> 16
        return (self._pseudonyms.identifier(upper) if upper else 0) << 16 | number & 0xFFFF

    def _low_part(self, address: bytes) -> bytes:
        """The last three bytes of an address, which are those of a MAC address too."""
        return self._pseudonyms.identifier(int.from_bytes(address)).to_bytes(6)[-3:]

    def _is_version(self, text: str) -> bool:
        return text in self.versions or bool(_ORACLE_RELEASE.fullmatch(text))
