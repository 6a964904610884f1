"""Frames by size: the counters of each driver, the standard groups of the kernel, and what the shares show."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.facts import DriverCounters, Unknown
from checks.model.finding import Status
from checks.plugins.packet_size_shares import packet_sizes
from checks.report.pictures_facts import size_figures
from checks.rules.frame_sizes import SizeUse, frame_sizes
from checks.rules.size_classes import class_of, size_classes
from checks.sources.nodes.driver_counters import driver_growth, parse_driver_counters
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import activity, asked, change, counters, own_activity, system

SMALL = ["64", "65-127", "128-255", "256-511", "512-1023"]
TO_JUMBO = ["to 64", *SMALL[1:], "1024-1518", "1519-2047", "2048-4095"]


def steps(form: str, *ends: str) -> dict[str, int]:
    """Counters of one driver, each with a number of its own."""
    return {form.format(end): 10 * (place + 1) for place, end in enumerate(ends)}


DRIVERS = {
    "mlx5_core": (
        steps("rx_{}_bytes_phy", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_1518",
              "1519_to_2047", "2048_to_4095", "4096_to_8191", "8192_to_10239"),
        {"rx": [*TO_JUMBO, "4096-8191", "8192-10239"]},
    ),
    "mlx4_en": (
        steps("rx_{}_bytes_packets", "lt_64", "127", "255", "511", "1023", "1518", "1522", "1548", "gt_1548"),
        {"rx": ["to 64", *SMALL[1:], "1024-1518", "1519-1522", "1523-1548", "from 1549"]},
    ),
    "i40e": (
        steps("port.rx_size_{}", "64", "127", "255", "511", "1023", "1522", "big")
        | steps("port.tx_size_{}", "64", "127", "255", "511", "1023", "1522", "big"),
        {way: ["to 64", *SMALL[1:], "1024-1522", "from 1523"] for way in ("rx", "tx")},
    ),
    "ice": (
        steps("rx_size_{}.nic", "64", "127", "255", "511", "1023", "1522", "big"),
        {"rx": ["to 64", *SMALL[1:], "1024-1522", "from 1523"]},
    ),
    "bnxt_en": (
        steps("tx_{}_frames", "64b", "65b_127b", "128b_255b", "256b_511b", "512b_1023b", "1024b_1518b", "good_vlan",
              "1519b_2047b", "2048b_4095b", "4096b_9216b", "9217b_16383b"),
        {"tx": [*TO_JUMBO, "4096-9216", "9217-16383"]},
    ),
    "bnxt_en before Linux 4.17": (
        steps("rx_{}_frames", "64b", "65b_127b", "128b_255b", "256b_511b", "512b_1023b", "1024b_1518", "1519b_2047b"),
        {"rx": TO_JUMBO[:-1]},
    ),
    "bnx2x": (
        steps("tx_{}_byte_packets", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_1522",
              "1523_to_9022"),
        {"tx": ["to 64", *SMALL[1:], "1024-1522", "1523-9022"]},
    ),
    "tg3": (
        steps("rx_{}_octet_packets", "64_or_less", "65_to_127", "128_to_255", "256_to_511", "512_to_1023",
              "1024_to_1522", "1523_to_2047", "2048_to_4095", "4096_to_8191", "8192_to_9022"),
        {"rx": ["to 64", *SMALL[1:], "1024-1522", "1523-2047", "2048-4095", "4096-8191", "8192-9022"]},
    ),
    "qede of an older NIC": (
        steps("rx_{}_byte_packets", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_1518",
              "1519_to_1522", "1519_to_2047", "2048_to_4095", "4096_to_9216", "9217_to_16383"),
        {"rx": [*TO_JUMBO, "4096-9216", "9217-16383"]},
    ),
    "qede of a newer NIC": (
        steps("tx_{}_byte_packets", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_1518",
              "1519_to_max"),
        {"tx": [*TO_JUMBO[:6], "from 1519"]},
    ),
    "cxgb4": (
        steps("rx_frames_{}", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_1518",
              "1519_to_max"),
        {"rx": [*TO_JUMBO[:6], "from 1519"]},
    ),
    "cxgb3": (
        steps("TxFrames{}", "64", "65To127", "128To255", "256To511", "512To1023", "1024To1518", "1519ToMax"),
        {"tx": [*TO_JUMBO[:6], "from 1519"]},
    ),
    "enic": (
        steps("rx_frames_{}", "64", "127", "255", "511", "1023", "1518", "to_max"),
        {"rx": [*TO_JUMBO[:6], "from 1519"]},
    ),
    "sfc": (
        steps("port_rx_{}", "lt64", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_15xx",
              "15xx_to_jumbo", "gtjumbo", "bad_gtjumbo"),
        {"rx": ["to 64", *SMALL[1:], "1024-1522", "from 1523"]},
    ),
    "hns3": (
        steps("mac_tx_{}_oct_pkt_num", "64", "65_127", "128_255", "256_511", "512_1023", "1024_1518", "1519_2047",
              "2048_4095", "4096_8191", "8192_9216", "9217_12287", "12288_16383"),
        {"tx": [*TO_JUMBO, "4096-8191", "8192-9216", "9217-12287", "12288-16383"]},
    ),
    "ionic": (
        steps("frames_rx_{}", "64b", "65b_127b", "128b_255b", "256b_511b", "512b_1023b", "1024b_1518b", "1519b_2047b",
              "2048b_4095b", "4096b_8191b", "8192b_9215b", "other"),
        {"rx": [*TO_JUMBO, "4096-8191", "8192-9215"]},
    ),
    "a driver with the standard groups": (
        steps("rx-rmon-etherStatsPkts{}Octets", "64to64", "65to127", "128to255", "256to511", "512to1023",
              "1024toMax"),
        {"rx": [*TO_JUMBO[:5], "from 1024"]},
    ),
}  # fmt: skip
WITHOUT = {
    "virtio_net": {"rx_queue_64_packets": 7, "rx_queue_0_drops": 1, "rx127_packets": 2},
    "ena": {"queue_0_rx_bytes": 1, "bw_in_allowance_exceeded": 0},
    "vmxnet3": {"pkts rx OOB": 3, "ucast pkts rx": 64},
    "ixgbe": {"rx_no_dma_resources": 4, "tx_queue_64_bytes": 3, "rx_packets": 64},
    "be2net": {"rx_drops_mtu": 4, "rxq7: rx_bytes": 3},
    "veth": {"peer_ifindex": 64},
}


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_classes_of_each_driver(driver):
    counts, expected = DRIVERS[driver]
    found = size_classes(counts)
    assert {way: [size.label for size in classes] for way, classes in found.items()} == expected
    for classes in found.values():
        assert all(a.high is not None and a.high < b.low for a, b in pairwise(classes))
    assert all(size.frames in counts.values() for classes in found.values() for size in classes)


@pytest.mark.parametrize("driver", WITHOUT)
def test_drivers_without_classes_have_none(driver):
    assert size_classes(WITHOUT[driver]) == {}


def test_a_class_in_another_is_no_class_of_its_own():
    found = size_classes(
        {"rx_64_byte_packets": 1, "rx_1519_to_1522_byte_packets": 9, "rx_1519_to_2047_byte_packets": 7}
    )
    assert [(size.label, size.frames) for size in found["rx"]] == [("to 64", 1), ("1519-2047", 9)]


def test_the_standard_groups_complete_a_driver_that_counts_one_direction():
    own = steps("rx_{}_bytes_phy", "64", "65_to_127")
    standard = {f"{way}-rmon-etherStatsPkts{end}Octets": 99 for way in ("rx", "tx") for end in ("64", "65to127")}
    found = size_classes(own | standard)
    assert [size.frames for size in found["rx"]] == [10, 20]
    assert [size.frames for size in found["tx"]] == [99, 99]


@given(st.text(max_size=60) | st.from_regex(r"(port.)?[rt]x_(size_|frames_)?[0-9]{1,9}(_to_)?[0-9]{0,9}(_bytes_phy)?"))
def test_no_name_raises(name):
    class_of(name)
    assert isinstance(size_classes({name: 1, "rx_64_bytes_phy": 2, "rx_65_to_127_bytes_phy": 0}), dict)


# --- two readings -----------------------------------------------------------------------------------------------------

JSON = (
    'nic eno1\nDRIVER=fsl_enetc\nrmon [{"ifname":"eno1","rmon":{"etherStatsJabbers":0,'
    '"rx-pktsNtoM":[{"low":0,"high":64,"val":31},{"low":65,"high":127,"val":265},{"low":1024,"high":0,"val":6}],'
    '"tx-pktsNtoM":[{"low":0,"high":64,"val":0},{"low":65,"high":127,"val":12}]}}]\n'
)
TEXT = (
    "nic eno1\nDRIVER=fsl_enetc\nrmon Standardstatsforeno1:rmon-etherStatsJabbers:0"
    "rx-rmon-etherStatsPkts64Octets:31rx-rmon-etherStatsPkts65to127Octets:265"
    "rx-rmon-etherStatsPkts1024toMaxOctets:6tx-rmon-etherStatsPkts64to64Octets:0tx-rmon-etherStatsPkts65to127Octets:12\n"
)


def growth(before: str, after: str) -> DriverCounters:
    found = driver_growth(parse_driver_counters(before), parse_driver_counters(after))
    assert not isinstance(found, Unknown)
    (nic,) = found
    return nic


@pytest.mark.parametrize("text", [JSON, TEXT])
def test_the_standard_groups_as_json_and_as_text(text):
    (nic,) = parse_driver_counters(text).values()
    found = size_classes(nic.counts)
    assert [(size.label, size.frames) for size in found["rx"]] == [("to 64", 31), ("65-127", 265), ("from 1024", 6)]
    assert [(size.label, size.frames) for size in found["tx"]] == [("to 64", 0), ("65-127", 12)]


def test_classes_that_did_not_grow_stay_and_other_counters_do_not():
    nic = growth(JSON + "rx_errors: 4\n", JSON.replace('"val":265', '"val":365') + "rx_errors: 4\n")
    assert [size.frames for size in size_classes(nic.counts)["rx"]] == [0, 100, 0]
    assert "rx_errors" not in nic.counts


def test_after_a_reset_there_are_no_classes_and_a_counter_of_32_bits_may_overflow():
    nic = growth(JSON, JSON.replace('"val":265', '"val":2'))
    assert nic.sizes_fell
    assert size_classes(nic.counts) == {}
    full = "nic eth1\nDRIVER=tg3\n rx_64_or_less_octet_packets: 4294967290\n rx_65_to_127_octet_packets: 5\n"
    nic = growth(full, full.replace("4294967290", "4"))
    assert not nic.sizes_fell
    assert [size.frames for size in size_classes(nic.counts)["rx"]] == [10, 0]


@given(st.text(alphabet='rmon nic[{"rx-pktsNtoM":low,high}val]0165Octets\n', max_size=300))
def test_no_answer_raises(text):
    found = parse_driver_counters(f"nic eth1\nrmon {text}\n")
    assert isinstance(driver_growth(found, found), Unknown | tuple)


# --- the check --------------------------------------------------------------------------------------------------------

I40E = ("64", "127", "255", "511", "1023", "1522", "big")


def i40e(rx: tuple[int, ...], tx: tuple[int, ...] = ()) -> dict[str, int]:
    pairs = [(way, counts) for way, counts in (("rx", rx), ("tx", tx)) if counts]
    return {f"port.{way}_size_{end}": n for way, counts in pairs for end, n in zip(I40E, counts, strict=True)}


BLOCKS_IN_SIX = (0, 900, 300, 1_000, 2_000, 10_000, 0)
BLOCKS_IN_ONE = (0, 900, 300, 1_000, 0, 12, 2_000)


def built(counts: dict[str, int], driver: str = "i40e", *, mtu: int = 9000, fell: bool = False, **groups):
    nics = (DriverCounters("eth2", counts, driver, fell),)
    machine = replace(system(), drivers=nics if driver != "none" else ())
    nodes = [with_interface(node(n), "eth2", mtu=mtu) for n in (1, 2)]
    second = replace(change("rac2"), machine=machine)
    first = replace(change("rac1"), machine=replace(system(), drivers=nics))
    return asked(cluster(nodes), counters=counters(2, first, second), **groups)


def found(facts):
    return [f for f in packet_sizes.run(facts) if "eth2" in f.title]


def test_a_large_mtu_that_is_not_used_is_a_warning_with_the_classes_as_data():
    (finding,) = found(built(i40e(BLOCKS_IN_SIX, BLOCKS_IN_SIX)))
    assert (finding.code, finding.status) == ("IC-SIZE-002", Status.WARN)
    assert finding.title == (
        "The MTU of eth2 of rac1 and eth2 of rac2 on 192.168.11.0/24 is 9000, and frames that are full at MTU 1500 "
        "carried 78 % or more of the bytes in 30 s."
    )
    assert finding.data["rac1 eth2 rx_1024_1522_bytes_frames"] == 10_000
    assert finding.data["rac2 eth2 tx_1523_max_bytes_frames"] == 0
    assert finding.seen[0] == "rac1: eth2 14,200 frames in, 10,000 of them full at MTU 1500, 0 larger"
    assert ("eth2 of rac1", "1024-1522", "70.4 %", "#######...", "70.4 %", "#######...") in finding.table.rows
    assert finding.next[0].commands[0] == "ip route show table all dev eth2"


def test_a_large_mtu_that_is_used_passes():
    (finding,) = found(built(i40e(BLOCKS_IN_ONE)))
    assert (finding.code, finding.status) == ("IC-SIZE-001", Status.PASS)
    assert "4,000 frames" in finding.title
    assert ("eth2 of rac1", "from 1523", "47.5 %", "#####.....", "?", "") in finding.table.rows


@pytest.mark.parametrize(
    ("frames", "mtu", "use"),
    [
        ((0, 9, 9, 9, 0, 299, 0), 9000, SizeUse.FEW),
        ((0, 9, 9, 9, 0, 300, 0), 9000, SizeUse.UNUSED),
        ((0, 9, 9, 9, 0, 300, 0), 1500, SizeUse.STANDARD),
        ((0, 9, 9, 99_000, 0, 900, 0), 9000, SizeUse.MIXED),
        ((0, 9, 9, 9, 0, 5_000, 1_000), 9000, SizeUse.MIXED),
        ((0, 9, 9, 9, 0, 900, 901), 9000, SizeUse.USED),
        ((0, 0, 0, 0, 0, 0, 0), 9000, SizeUse.FEW),
    ],
)
def test_what_the_sizes_show(frames, mtu, use):
    sizes = frame_sizes(built(i40e(frames), mtu=mtu))
    assert {size.use for size in sizes.known if size.nic.name == "eth2"} == {use}
    (finding,) = found(built(i40e(frames), mtu=mtu))
    assert finding.status is (
        Status.WARN if use is SizeUse.UNUSED else Status.PASS if use is SizeUse.USED else Status.INFO
    )


def test_a_full_frame_with_a_tag_is_as_full_as_one_without():
    counts = {f"rx_{end}_bytes_phy": 0 for end in ("64", "65_to_127", "1024_to_1518", "2048_to_4095")}
    sizes = frame_sizes(built(counts | {"rx_1519_to_2047_bytes_phy": 5_000}, "mlx5_core"))
    assert {size.use for size in sizes.known if size.nic.name == "eth2"} == {SizeUse.UNUSED}


def test_idle_instances_prove_nothing():
    idle = own_activity(1, {"gc cr blocks received": 3, "gc current blocks received": 0, "gc cr blocks served": 0,
                            "gc current blocks served": 9})  # fmt: skip
    (other, finding) = sorted(found(built(i40e(BLOCKS_IN_SIX), activity=activity(2, idle))), key=lambda f: f.status)
    assert (finding.code, finding.nodes) == ("IC-SIZE-002", ("rac2",))
    assert (other.code, other.status, other.nodes) == ("IC-SIZE-004", Status.INFO, ("rac1",))


@pytest.mark.parametrize("driver", WITHOUT)
def test_a_driver_without_classes_is_unknown_with_its_name(driver):
    (finding,) = found(built(WITHOUT[driver], driver))
    assert (finding.code, finding.status) == ("IC-SIZE-005", Status.UNKNOWN)
    assert finding.title.endswith(f"not known: the driver {driver} reports no counters of frames by size.")


def test_counters_that_fell_are_unknown():
    (finding,) = found(built({}, fell=True))
    assert finding.status is Status.UNKNOWN
    assert "a counter fell" in finding.title


def test_drivers_that_were_not_queried_are_skipped_with_the_reason():
    machine = replace(system(), drivers=Unknown("The interval is under 30 s."))
    facts = asked(2, counters=counters(2, *(replace(change(n), machine=machine) for n in ("rac1", "rac2"))))
    (finding,) = packet_sizes.run(facts)
    assert (finding.code, finding.status) == ("IC-SIZE-006", Status.SKIPPED)
    assert "the interval is under 30 s." in finding.title.lower()


# --- the picture ------------------------------------------------------------------------------------------------------


def test_the_page_has_a_histogram_for_each_network_with_its_classes():
    (figure,) = size_figures(built(i40e(BLOCKS_IN_SIX, BLOCKS_IN_ONE)))
    assert figure.title == "Frames by size on 192.168.11.0/24, in 30 s"
    assert figure.axis == ("to 64", "65-127", "128-255", "256-511", "512-1023", "1024-1522", "from 1523")
    assert [strip.name for strip in figure.strips] == ["rac1 eth2 in", "rac1 eth2 out", "rac2 eth2 in", "rac2 eth2 out"]
    assert figure.strips[0].caption == "14,200 frames, 70.4 % of 1024-1522 bytes"
    heights = re.findall(r'd="M0,100([^"]+)" class="bars"', figure.strips[0].picture)
    assert heights == ["V100h1v-6h1v2h1v-3h1v-7h1v-55h1v69h1V100Z"]


def test_without_classes_or_frames_there_is_no_picture():
    assert size_figures(built(WITHOUT["ena"], "ena")) == ()
    assert size_figures(built(i40e((0,) * 7))) == ()
