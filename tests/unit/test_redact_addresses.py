"""Pseudonyms of addresses: subnets stay subnets, and no two addresses become one."""

import ipaddress
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checks.model.facts import IPAddress, IPNetwork
from checks.redact import Pseudonyms, RedactionError
from checks.redact.addresses import Addresses, is_well_known_network
from checks.redact.names import NamePseudonyms
from checks.redact.network_pseudonyms import NetworkPseudonyms
from checks.redact.pseudonyms import MappingFile
from checks.redact.spellings import Spellings
from checks.redact.text import TextReplacer
from checks.redact.well_known import WELL_KNOWN_NETWORKS

any_ip4 = st.ip_addresses(v=4).filter(lambda a: not is_well_known_network(ipaddress.ip_network(f"{a}/32")))
one_ip4 = st.builds(lambda low: ipaddress.IPv4Address(0x0A140000 + low), st.integers(0, 0x3FFFF)) | any_ip4
one_ip6 = st.builds(
    lambda upper, low: ipaddress.IPv6Address(0x2A02_1234_5678_0000 + upper << 64 | low),
    st.integers(0, 0xFFFF), st.integers(0, 2**64 - 1),
)  # fmt: skip
mac = st.binary(min_size=6, max_size=6).filter(lambda b: any(b) and not b[0] & 1)


IDENTIFY_NO_SITE = """
127.0.0.1 0.0.0.0 0.0.0.255 255.255.255.0 255.255.255.255 0.0.0.0/1 128.0.0.0/1 2000::/3 fd00::/8 169.254.17.4
224.0.0.251 230.0.1.0 :: ::1 ff02::1 00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 01:00:5e:00:00:fb default
00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
19.22.0.0.0 12.1.0.2 19.3.0.0 11.2.0.4 /u01/app/12.2.0.1/grid 5.15.0-200.el8uek.x86_64 9.3(8)
2026-11-20T14:02:31.100+01:00 14:02:31 14:02:31.100 2026-11-20 300.1.2.3 1.2.3.4.5 CRS-4638:
0000:3b:00.0 1:2 00000000:0000 Net::Ping eth1@if9: eth1:1
"""


def subnets_of(address: st.SearchStrategy[IPAddress], least: int, most: int) -> st.SearchStrategy[IPNetwork]:
    return st.builds(lambda a, n: ipaddress.ip_network(f"{a}/{n}", strict=False), address, st.integers(least, most))


def text_of(pseudonyms: Pseudonyms | None = None) -> TextReplacer:
    pseudonyms = pseudonyms or Pseudonyms()
    addresses = Addresses(pseudonyms)
    return TextReplacer(pseudonyms, Spellings(addresses), addresses, NamePseudonyms({}))


@given(st.lists(one_ip4 | one_ip6, unique=True, max_size=30))
def test_no_two_addresses_get_one_pseudonym_and_no_original_stays(originals: list[IPAddress]) -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.avoid_addresses(originals)
    addresses = Addresses(pseudonyms)

    replaced = [addresses.ip(a) for a in originals]

    assert len(set(replaced)) == len(originals)
    assert not set(replaced) & set(originals)


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9), st.integers(1, 9), one_ip6)
def test_an_address_is_replaced_however_short_it_is(a: int, b: int, c: int, d: int, long: IPAddress) -> None:
    for text in (f"{a}.{b}.{c}.{d}", f"200{a}::{d}", f"({a}.{b}.{c}.{d})", str(long)):
        assert text_of().replaced(text) != text


@given(st.lists(subnets_of(one_ip4, 8, 30), max_size=8), st.lists(one_ip4, max_size=12))
def test_an_address_stays_in_its_known_subnet(networks: list[IPNetwork], others: list[IPAddress]) -> None:
    assume(
        not any(
            n.overlaps(ipaddress.ip_network(network))
            for n in networks
            for network in WELL_KNOWN_NETWORKS
            if ":" not in network
        )
    )
    pseudonyms = Pseudonyms()
    for network in sorted(networks, key=lambda n: n.prefixlen):
        pseudonyms.add_network(network)
    addresses = Addresses(pseudonyms)

    for network in networks:
        first, last = addresses.ip(network.network_address), addresses.ip(network.broadcast_address)
        image = ipaddress.ip_network(f"{first}/{network.prefixlen}")  # its network's address is one
        assert last == image.broadcast_address
        for address in others:
            assert (addresses.ip(address) in image) == (address in network)


@given(st.lists(subnets_of(one_ip4, 8, 26), min_size=1, max_size=10), st.data())
def test_subnets_stay_subnets_in_any_order_of_learning(networks: list[IPNetwork], data: st.DataObject) -> None:
    pseudonyms = Pseudonyms()
    for network in data.draw(st.permutations(networks)):
        pseudonyms.add_network(network)

    images = dict(_pairs(pseudonyms))

    assert len(set(images.values())) == len(images)
    for a, image in images.items():
        assert a.prefixlen == image.prefixlen
        for b, other in images.items():
            assert a.overlaps(b) == image.overlaps(other)
            assert (a.network_address == b.network_address) == (image.network_address == other.network_address)
            assert (a.broadcast_address == b.broadcast_address) == (image.broadcast_address == other.broadcast_address)


def test_a_subnet_learnt_late_covers_its_addresses_and_old_pseudonyms_stay_valid() -> None:
    pseudonyms = Pseudonyms()
    addresses = Addresses(pseudonyms)
    for third in (5, 17, 18, 40):
        addresses.ip(ipaddress.ip_address(f"10.20.{third}.1"))
    before = str(addresses.ip(ipaddress.ip_address("10.20.18.1")))

    pseudonyms.add_network(ipaddress.ip_network("10.20.16.0/20"))

    image = ipaddress.ip_network(f"{addresses.ip(ipaddress.ip_address('10.20.16.0'))}/20")
    inside = [addresses.ip(ipaddress.ip_address(f"10.20.{third}.1")) in image for third in (5, 17, 18, 40)]
    assert inside == [False, True, True, False]
    mapping = pseudonyms.mapping()
    assert mapping.retired[f"{before[:-1]}0/24"] == "10.20.18.0/24"
    assert mapping.addresses["10.20.18.1"] == str(addresses.ip(ipaddress.ip_address("10.20.18.1")))


def test_a_full_network_has_room_for_its_parent_subnets() -> None:
    pseudonyms = Pseudonyms()
    for third in range(256):
        pseudonyms.add_network(ipaddress.ip_network(f"10.20.{third}.0/24"))
    for third in range(0, 256, 64):
        pseudonyms.add_network(ipaddress.ip_network(f"10.20.{third}.0/18"))

    images = dict(_pairs(pseudonyms))

    eighteen = [images[ipaddress.ip_network(f"10.20.{third}.0/18")] for third in range(0, 256, 64)]
    for third in range(256):
        image = images[ipaddress.ip_network(f"10.20.{third}.0/24")]
        assert [image.subnet_of(n) for n in eighteen] == [n == third // 64 for n in range(4)]


def test_too_many_networks_are_refused_in_a_sentence() -> None:
    blocks = NetworkPseudonyms(4)
    for first in range(1, 16):
        blocks.add(ipaddress.ip_network(f"{first}.0.0.0/8"))

    with pytest.raises(RedactionError, match="more networks than pseudonyms for them"):
        blocks.add(ipaddress.ip_network("16.0.0.0/8"))


@given(st.lists(one_ip4 | one_ip6, unique=True, min_size=1, max_size=8), st.lists(mac, min_size=1, max_size=4))
def test_a_restored_mapping_assigns_the_same_pseudonyms(originals: list[IPAddress], macs: list[bytes]) -> None:
    first = Pseudonyms()
    words = [str(a) for a in originals] + [m.hex(":") for m in macs]
    once = [text_of(first).replaced(word) for word in words]

    again = [text_of(Pseudonyms(first.mapping())).replaced(word) for word in reversed(words)]

    assert again[::-1] == once


@given(st.lists(mac, unique=True, max_size=10))
def test_mac_addresses_stay_distinct_and_become_locally_administered(originals: list[bytes]) -> None:
    text = text_of()

    replaced = [text.replaced(m.hex(":")) for m in originals]

    assert len(set(replaced)) == len(originals)
    assert all(int(m[:2], 16) & 3 == 2 for m in replaced)
    assert not set(replaced) & {m.hex(":") for m in originals}
    assert [text.replaced(m.hex("-").upper()) for m in originals] == [m.replace(":", "-").upper() for m in replaced]


@given(mac, st.integers(0, 0xFFFF))
def test_an_ipv6_address_made_from_a_mac_address_reveals_no_part_of_it(address: bytes, subnet: int) -> None:
    identifier = bytes([address[0] ^ 2]) + address[1:3] + b"\xff\xfe" + address[3:]
    text = text_of()
    own = bytes.fromhex(text.replaced(address.hex(":")).replace(":", ""))

    for upper in (0xFE80 << 48, 0x2A02_1234_5678_0000 + subnet):
        replaced = ipaddress.ip_address(
            text.replaced(str(ipaddress.IPv6Address(upper << 64 | int.from_bytes(identifier))))
        )
        assert replaced.packed[8:] == bytes([own[0] ^ 2]) + own[1:3] + b"\xff\xfe" + own[3:]


@pytest.mark.parametrize("text", IDENTIFY_NO_SITE.split())
def test_an_address_that_identifies_no_site_is_unchanged(text: str) -> None:
    assert text_of().replaced(text) == text


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("10.20.0.1/24", r"240\.1\.0\.1/24"),
        ("10.20.0.1:1521,", r"240\.1\.0\.1:1521,"),
        ("(10.20.0.1)", r"\(240\.1\.0\.1\)"),
        ("ip=10.20.0.1;", r"ip=240\.1\.0\.1;"),
        ("1.0.20.10.in-addr.arpa", r"1\.0\.1\.240\.in-addr\.arpa"),
        ("0100140A:0016", "010001F0:0016"),
        ("0000000000000000FFFF00000100140A:0016", "0000000000000000FFFF0000010001F0:0016"),
        ("::ffff:10.20.0.1", r"::ffff:240\.1\.0\.1|::ffff:f001:1"),
        ("64:ff9b::10.20.0.1", "64:ff9b::f001:1"),
        ("[2a02:1234:5678:9::7]:1521", r"\[3fff:0:1:1::7\]:1521|\[3fff:\S+::7\]:1521"),
        ("2a02:1234:5678:9::7:", r"3fff:\S+::7:"),
        ("dst:2a02:1234:5678:9::7/64", r"dst:3fff:\S+::7/64"),
        ("fe80::2%eth1", "fe80::2%eth1"),
        ("1.1.1.1", r"240\.0\.1\.1"),
        ("9.1.1.2", r"240\.0\.1\.2"),
        ("2001::1", "3fff::1"),
        ("2001::1,", "3fff::1,"),
        ("10.20.0.1/4", r"240\.1\.0\.1/4"),
        ("2a02:1234:5678:9::7/8", r"3fff:\S+::7/8"),
        ("b859.9f0a.1b2c", r"0200\.0000\.0001"),
        ("01:b8:59:9f:0a:1b:2c", "01:02:00:00:00:00:01"),
        ("SHA256:" + "q" * 43, "key_a"),
        ("kim@elsewhere.org", "mail_a@mail.invalid"),
    ],
)  # fmt: skip
def test_an_address_is_recognized_in_every_form(text: str, shape: str) -> None:
    assert re.fullmatch(shape, text_of().replaced(text))


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("192.168.10.1.1521", "240.0.1.1.1521"),
        ("192.168.10.77.22", "240.0.1.77.22"),
        ("172.17.4.9.52344:", "240.17.1.9.52344:"),
        ("8.8.4.4.40000", "240.1.1.4.40000"),
        ("1.3.6.1.2.1.4.20.1.1.192.168.10.1", "1.3.6.1.2.1.4.20.1.1.240.0.1.1"),
        ("ip-192-168-10-1.eu", "ip-240-0-1-1.eu"),
        ("7-192-168-10-1-1521", "7-240-0-1-1-1521"),
        ("trace_192_168_10_1_9.trc", "trace_240_0_1_1_9.trc"),
        ("C0A80A01", "F0000101"),
        ("0xc0a80a01", "0xf0000101"),
        ("000AA8C0", "000100F0"),
        ("fe80000000000000ba599ffffe0a1b2c", "fe80000000000000000000fffe000001"),
        ("0xba599ffffe0a1b2c", "0x000000fffe000001"),
        ("19.22.0.0.0", "19.22.0.0.0"),
        ("19_22_0_0", "19_22_0_0"),
        ("19.24.0.0.240716", "19.24.0.0.240716"),
        ("10.2.0.5.0", "10.2.0.5.0"),
        ("1.2.3.4.5", "1.2.3.4.5"),
        ("2026-11-20-14-02", "2026-11-20-14-02"),
        ("0000000A", "0000000A"),
        ("DEADBEEF", "DEADBEEF"),
        ("d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e"),
    ],
)
def test_a_known_address_is_found_in_other_spellings_and_similar_numbers_stay(text: str, replaced: str) -> None:
    pseudonyms = Pseudonyms()
    addresses = Addresses(pseudonyms)
    known = [ipaddress.ip_address("192.168.10.1")]
    networks = [ipaddress.ip_network("192.168.10.0/24"), ipaddress.ip_network("10.0.0.0/8")]
    for network in networks:
        pseudonyms.add_network(network)

    spellings = Spellings(addresses, known, [ipaddress.ip_address("10.0.0.0")], networks)

    assert TextReplacer(pseudonyms, spellings, addresses, NamePseudonyms({})).replaced(text) == replaced


def test_four_numbers_like_a_release_are_an_address_if_their_network_is_known() -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.add_network(ipaddress.ip_network("12.1.0.0/24"))

    assert text_of(pseudonyms).replaced("12.1.0.2") != "12.1.0.2"


def _pairs(pseudonyms: Pseudonyms) -> list[tuple[IPNetwork, IPNetwork]]:
    return [(ipaddress.ip_network(a), ipaddress.ip_network(b)) for a, b in pseudonyms.mapping().networks.items()]


def test_the_uuids_of_connections_and_boots_are_replaced_in_every_place_alike() -> None:
    pseudonyms = Pseudonyms()
    connection, boot = "3f8a4c1e-9b0d-4e55-8c6f-0a1b2c3d4e5f", "B7C61B0E-51B4-4E2F-A5E4-6A3B19E8F0D2"
    one, other = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
    replaced = text_of(pseudonyms).replaced(
        f"eth1:{connection}:802-3-ethernet:eth1:/etc/ens192-{connection}.nmconnection boot_id {boot}"
    )
    assert replaced == f"eth1:{one}:802-3-ethernet:eth1:/etc/ens192-{one}.nmconnection boot_id {other}"
    again = Pseudonyms(pseudonyms.mapping())
    assert text_of(again).replaced(f"boot_id {boot.lower()}") == f"boot_id {other}"
    assert text_of(again).replaced("release 19-0000-11 is no UUID") == "release 19-0000-11 is no UUID"


def test_a_mapping_with_something_else_than_uuids_is_refused() -> None:
    with pytest.raises(ValueError, match="hello is not a UUID"):
        Pseudonyms(MappingFile(uuids={"3f8a4c1e-9b0d-4e55-8c6f-0a1b2c3d4e5f": "hello"}))
