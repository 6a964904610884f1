"""What the counters of each driver mean: names as the drivers' sources print them, with the numbers of two queues."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.facts import DriverCounters, Unknown
from checks.model.finding import Finding
from checks.plugins.nic_counters import nic_counters
from checks.rules.driver_counts import DriverSign, driver_signs, is_known, known_names, largest
from checks.sources.nic_drivers import DRIVER_COUNTERS
from checks.sources.nodes.driver_counters import parse_driver_counters
from tests.fixtures.clusters import cluster, interface, node, with_interface
from tests.fixtures.databases import asked, change, counters, system

KEPT = re.compile(re.search(r"grep -i -m \d+ -E '(.+)'", DRIVER_COUNTERS.text)[1], re.IGNORECASE)  # type: ignore[index]
"""The lines of `ethtool -S` that the program prints."""

PRINTED = {
    # drivers/net/ethernet/mellanox/mlx4/en_ethtool.c; the bus names the driver
    "mlx4_core": "rx_dropped rx_missed_errors rx_crc_errors tx_timeout rx_alloc_pages rx_pause_prio_0 rx_pause_prio_7 "
    "rx_pause_duration_prio_0 rx_pause rx_pause_duration rx_pause_transition tx_pause_prio_3 tx_pause rx_jabbers "
    "rx_in_range_length_error rx_out_range_length_error rx0_dropped rx1_dropped rx0_xdp_drop",
    # drivers/net/ethernet/microsoft/mana/mana_ethtool.c
    "mana": "stop_queue tx_cq_err hc_rx_discards_no_wqe hc_rx_err_vport_disabled hc_rx_bytes hc_tx_err_sa_enforcement "
    "hc_tx_err_mtu_violation hc_tx_bytes hc_rx_pkt_drop_phy hc_tx_pkt_drop_phy hc_tc0_rx_pause_phy "
    "hc_tc7_tx_pause_phy rx_0_xdp_drop rx_1_pkt_len0_err rx_0_coalesced_cqe_2 tx_0_mana_map_err",
    # drivers/net/ethernet/google/gve/gve_ethtool.c
    "gve": "rx_dropped tx_timeouts rx_skb_alloc_fail rx_buf_alloc_fail rx_desc_err_dropped_pkt interface_down_cnt "
    "page_alloc_fail dma_mapping_error rx_dropped_pkt[0] rx_queue_drop_cnt[0] rx_queue_drop_cnt[1] "
    "rx_no_buffers_posted[1] rx_drops_packet_over_mru[0] rx_drops_invalid_checksum[1] tx_dma_mapping_error[0]",
    # drivers/net/ethernet/intel/iavf/iavf_ethtool.c
    "iavf": "rx_unicast rx_discards rx_unknown_protocol tx_discards tx_errors tx-0.packets rx-0.packets",
    # drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c pads its names
    "cxgb4": "tx_error_frames tx_pause_frames tx_ppp3_frames tx_drop_frames rx_frames_too_long rx_jabber_errors "
    "rx_fcs_errors rx_length_errors rx_symbol_errors rx_runt_frames rx_pause_frames rx_ppp0_frames "
    "rx_bg0_frames_dropped rx_bg1_frames_dropped rx_bg0_frames_trunc bg0_frames_dropped",
    # drivers/s390/net/qeth_ethtool.c
    "qeth": "rx0_IO_buffers rx0_dropped,_no_memory rx0_dropped,_bad_format rx0_dropped,_runt tx0_linearized+error_skbs",
    # drivers/net/ethernet/ibm/ibmvnic.c
    "ibmvnic": "align_errors fcs_errors single_collision_frames late_collisions excess_collisions "
    "internal_mac_tx_errors carrier_sense too_long_frames internal_mac_rx_errors tx0_dropped_packets rx0_packets",
    # drivers/net/ethernet/ibm/ibmveth.c
    "ibmveth": "replenish_no_mem replenish_add_buff_failure rx_invalid_buffer rx_no_buffer tx_map_failed",
    # drivers/net/hyperv/netvsc_drv.c
    "hv_netvsc": "tx_scattered tx_no_memory tx_no_space tx_too_big tx_busy tx_send_full rx_comp_busy rx_no_memory "
    "stop_queue vf_rx_packets vf_tx_dropped rx_queue_0_xdp_drop cpu1_vf_rx_packets",
}
MEANT = {
    "mlx4_core": {
        DriverSign.TOO_LONG: "rx_jabbers rx_out_range_length_error",
        DriverSign.HUNG: "tx_timeout",
        DriverSign.PAUSED: "rx_pause_prio_0 rx_pause_prio_7 rx_pause",
        DriverSign.PAUSES: "tx_pause_prio_3 tx_pause",
    },
    "mana": {
        DriverSign.NO_BUFFER: "hc_rx_discards_no_wqe",
        DriverSign.DROPPED: "hc_rx_err_vport_disabled hc_rx_pkt_drop_phy rx_1_pkt_len0_err",
        DriverSign.NOT_SENT: "tx_cq_err hc_tx_err_sa_enforcement hc_tx_err_mtu_violation hc_tx_pkt_drop_phy",
        DriverSign.PAUSED: "hc_tc0_rx_pause_phy",
        DriverSign.PAUSES: "hc_tc7_tx_pause_phy",
    },
    "gve": {
        DriverSign.NO_BUFFER: "rx_skb_alloc_fail rx_buf_alloc_fail rx_queue_drop_cnt[0] rx_queue_drop_cnt[1] "
        "rx_no_buffers_posted[1]",
        DriverSign.TOO_LONG: "rx_drops_packet_over_mru[0]",
        DriverSign.DROPPED: "rx_desc_err_dropped_pkt rx_drops_invalid_checksum[1]",
        DriverSign.HUNG: "tx_timeouts",
    },
    "iavf": {DriverSign.NO_BUFFER: "rx_discards"},
    "cxgb4": {
        DriverSign.CORRUPT: "rx_fcs_errors rx_symbol_errors",
        DriverSign.PORT_BUFFER: "rx_bg0_frames_dropped rx_bg1_frames_dropped rx_bg0_frames_trunc",
        DriverSign.TOO_LONG: "rx_frames_too_long rx_jabber_errors",
        DriverSign.PAUSED: "rx_pause_frames rx_ppp0_frames",
        DriverSign.PAUSES: "tx_pause_frames tx_ppp3_frames",
    },
    "qeth": {DriverSign.NO_BUFFER: "rx0_dropped,_no_memory"},
    "ibmvnic": {
        DriverSign.CORRUPT: "align_errors fcs_errors",
        DriverSign.TOO_LONG: "too_long_frames",
        DriverSign.DROPPED: "internal_mac_rx_errors",
        DriverSign.NOT_SENT: "late_collisions excess_collisions internal_mac_tx_errors",
    },
    "ibmveth": {DriverSign.NO_BUFFER: "rx_no_buffer", DriverSign.DROPPED: "rx_invalid_buffer"},
    "hv_netvsc": {DriverSign.NO_BUFFER: "rx_no_memory"},
}


def names(text: str, driver: str) -> list[str]:
    """The names of a text; those of qeth have blanks, which are underscores here."""
    return [name.replace("_", " ") if driver == "qeth" else name for name in text.split()]


@pytest.mark.parametrize("driver", PRINTED)
def test_what_each_counter_of_a_driver_means(driver: str) -> None:
    lines = [f"     {name:<23}: {at}" for at, name in enumerate(names(PRINTED[driver], driver))]
    kept = [line for line in lines if KEPT.search(line)]
    reading = parse_driver_counters("\n".join(["nic eth1", f"DRIVER={driver}", *kept]))
    assert not isinstance(reading, Unknown)
    found = driver_signs(reading["eth1"])
    expected = {sign: set(names(text, driver)) for sign, text in MEANT[driver].items()}
    assert {sign: set(counts) for sign, counts in found.items()} == expected


@given(st.sampled_from(known_names()).flatmap(lambda pattern: st.from_regex(pattern, fullmatch=True)))
@settings(max_examples=100)
def test_the_program_prints_each_counter_that_a_table_names(name: str) -> None:
    assert KEPT.search(f"     {name}: 1"), name


def test_counts_of_queues_are_added_up_and_counters_of_the_same_packets_are_not() -> None:
    assert largest({"rx_queue_0_drops": 10, "rx_queue_1_drops": 7, "rx_drops": 17}) == 17
    assert largest({}) == 0


# --- the check --------------------------------------------------------------------------------------------------------


def found(driver: str, counts: dict[str, int], kernel: dict[str, dict[str, int]] | None = None) -> list[Finding]:
    machine = replace(system(kernel), drivers=(DriverCounters("eth2", counts, driver),))
    return list(nic_counters.run(asked(2, counters=counters(2, replace(change("rac2"), machine=machine)))))


@pytest.mark.parametrize(
    ("driver", "counts", "code", "says"),
    [
        ("mana", {"hc_rx_discards_no_wqe": 12}, "IC-NIC-003", "had no buffer for 12 packets"),
        ("gve", {"rx_queue_drop_cnt[0]": 5, "rx_queue_drop_cnt[3]": 7}, "IC-NIC-003", "had no buffer for 12 packets"),
        ("cxgb4", {"rx_bg0_frames_dropped": 9}, "IC-NIC-020", "dropped 9 packets in the buffer of its port"),
        ("mlx4_core", {"rx_pause_prio_3": 4, "rx_pause": 4}, "IC-NIC-009", "received 4 pause frames"),
        (
            "mana",
            {"hc_tx_err_mtu_violation": 3},
            "IC-NIC-007",
            "3 errors in 30 s: packets that the NIC refused to send",
        ),
        ("ibmvnic", {"fcs_errors": 2}, "IC-NIC-002", "received 2 corrupt frames"),
        ("ibmveth", {"rx_no_buffer": 8}, "IC-NIC-003", "had no buffer for 8 packets"),
    ],
)
def test_a_loss_that_a_driver_counts_is_found(driver: str, counts: dict[str, int], code: str, says: str) -> None:
    one = next(f for f in found(driver, counts) if f.code == code)
    assert says in one.title


@pytest.mark.parametrize(
    ("driver", "counts"),
    [
        ("iavf", {"rx_discards": 400}),
        ("qeth", {"rx0 dropped, no memory": 400}),
        ("virtio_net", {"rx_queue_0_drops": 150, "rx_queue_1_drops": 250}),
    ],
)
def test_packets_that_kernel_and_driver_count_are_one_finding(driver: str, counts: dict[str, int]) -> None:
    (one,) = found(driver, counts, {"eth2": {"rx_dropped": 400}})
    assert (one.code, one.data["number"]) == ("IC-NIC-003", 400)


def test_packets_that_were_not_sent_are_those_of_one_direction() -> None:
    (one,) = found("mana", {"hc_tx_err_sa_enforcement": 3})
    ((legs,),) = [seen.legs for seen in one.observed]
    assert (legs.senders, legs.receivers) == (("rac2",), None), legs


@pytest.mark.parametrize("driver", ["atlantic", "igc", "hns3"])
def test_a_driver_whose_counters_are_not_understood_is_named(driver: str) -> None:
    (one,) = found(driver, {"rx_something_dropped": 900})
    assert one.code == "IC-NIC-001"
    assert f"racwire does not understand the counters of the driver {driver}, and compared those" in one.title
    assert any(line.startswith("rac2: eth2") and f"counters of {driver} not understood" in line for line in one.seen)


@pytest.mark.parametrize("driver", ["", "mlx5_core", "gvnic"])
def test_known_drivers_and_virtual_interfaces_which_have_none_are_no_gap(driver: str) -> None:
    (one,) = found(driver, {"peer_ifindex": 4})
    assert "understand" not in one.title
    assert is_known(driver) or not driver


def test_the_receive_buffers_of_hyper_v_are_judged_beside_those_of_its_virtual_function() -> None:
    upper = with_interface(node(2), "eth2", members=("enP1s2",))
    facts = cluster([node(1), replace(upper, interfaces=(*upper.interfaces, interface("enP1s2", "", master="eth2")))])
    machine = replace(
        system(nics=("eth1", "eth2", "enP1s2")),
        drivers=(
            DriverCounters("eth2", {"rx_no_memory": 6, "vf_tx_dropped": 2}, "hv_netvsc"),
            DriverCounters("enP1s2", {"rx_out_of_buffer": 8}, "mlx5_core"),
        ),
    )
    facts = asked(facts, counters=counters(2, replace(change("rac2"), machine=machine)))
    (one,) = [f for f in nic_counters.run(facts) if f.code != "IC-NIC-001"]
    assert one.code == "IC-NIC-003"
    assert any("eth2 rx_no_memory +6" in line for line in one.seen)
    assert any("enP1s2 rx_out_of_buffer +8" in line for line in one.seen)
