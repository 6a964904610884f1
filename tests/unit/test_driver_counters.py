"""Counters of NIC drivers: `ethtool -S` as drivers print it, its growth, and what each counter means."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.facts import CounterChange, DriverCounters, Unknown
from checks.model.journal import Journal
from checks.model.settings import Settings, SshSettings
from checks.plugins.nic_counters import nic_counters
from checks.rules.driver_counts import DriverSign, driver_signs, meaning_of
from checks.sources.nic_drivers import LEAST_APART_S, queried
from checks.sources.nodes import driver_counters
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.driver_counters import driver_growth, parse_driver_counters
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from tests.fixtures.clusters import node
from tests.fixtures.databases import asked, change, counters, losing, system
from tests.support.programs import LOGGED_IN

VMXNET3 = """\
nic ens192
DRIVER=vmxnet3
     pkts tx err: 0
     pkts tx discard: 0
     drv dropped tx total: 0
        too many frags: 0
     pkts rx OOB: 7
     pkts rx err: 0
     drv dropped rx total: 3
        err: 3
        fcs: 0
     rx buf alloc fail: 1
     pkts rx OOB: 35
     pkts rx err: 0
     drv dropped rx total: 0
     rx buf alloc fail: 0
     tx timeout count: 0
"""
BNXT = """\
nic ens1f0
DRIVER=bnxt_en
     [0]: rx_discards: 12
     [0]: rx_errors: 0
     [1]: rx_discards: 5
     rx_total_discard_pkts: 17
     rx_fcs_err_frames: 0
     rx_ovrsz_frames: 2
     rx_pause_frames: 40
     tx_pause_frames: 0
     link_down_events: 1
nic ens1f1
DRIVER=bnxt_en
"""
BE2NET = """\
nic eth4
DRIVER=be2net
     rx_crc_errors: 0
     rx_drops_mtu: 4
     rx_drops_no_pbuf: 90
     rxq0: rx_drops_no_frags: 11
     rxq1: rx_drops_no_frags: 2
     eth_red_drops: 0
"""


def read(text: str) -> dict[str, DriverCounters]:
    found = parse_driver_counters(text)
    assert not isinstance(found, Unknown)
    return dict(found)


def test_counts_of_several_queues_with_one_name_are_added_up():
    (nic,) = read(VMXNET3).values()
    assert (nic.name, nic.driver) == ("ens192", "vmxnet3")
    assert nic.counts["pkts rx OOB"] == 42
    assert nic.counts["drv dropped rx total"] == 3
    assert driver_signs(nic)[DriverSign.NO_BUFFER] == {"pkts rx OOB": 42, "rx buf alloc fail": 1}


def test_names_with_colons_and_nics_without_counters():
    found = read(BNXT)
    assert list(found) == ["ens1f0"], "the other NIC printed no counters"
    assert found["ens1f0"].counts["[1]: rx_discards"] == 5
    assert driver_signs(found["ens1f0"]) == {
        DriverSign.CORRUPT: {"rx_fcs_err_frames": 0},
        DriverSign.NO_BUFFER: {"rx_total_discard_pkts": 17},
        DriverSign.TOO_LONG: {"rx_ovrsz_frames": 2},
        DriverSign.LINK: {"link_down_events": 1},
        DriverSign.PAUSED: {"rx_pause_frames": 40},
        DriverSign.PAUSES: {"tx_pause_frames": 0},
    }
    signs = driver_signs(read(BE2NET)["eth4"])
    assert signs[DriverSign.NO_BUFFER]["rxq1: rx_drops_no_frags"] == 2
    assert signs[DriverSign.TOO_LONG] == {"rx_drops_mtu": 4}


def test_the_growth_has_what_grew_and_nothing_that_fell():
    before, after = read(BNXT), read(BNXT.replace("pkts: 17", "pkts: 20").replace("frames: 40", "frames: 3"))
    growth = driver_growth(before, after)
    assert growth == (DriverCounters("ens1f0", {"rx_total_discard_pkts": 3}, "bnxt_en"),)
    assert isinstance(driver_growth(before, {}), Unknown)
    assert driver_growth(Unknown("a"), after) == Unknown("a")
    assert driver_growth(before, Unknown("b")) == Unknown("b")


def test_a_node_without_ethtool_is_unknown():
    assert parse_driver_counters("no ethtool\n") == Unknown("The node has no ethtool.")


@given(st.text(alphabet="nic DRIVER=rx_drop:0123456789 \n\r\t", max_size=400))
def test_no_output_raises(text):
    found = parse_driver_counters(text)
    assert isinstance(driver_growth(found, found), Unknown | tuple)


@pytest.mark.parametrize(
    ("driver", "name", "sign"),
    [
        ("mlx5_core", "rx_out_of_buffer", DriverSign.NO_BUFFER),
        ("mlx5_core", "rx_discards_phy", DriverSign.PORT_BUFFER),
        ("mlx5_core", "rx_prio3_discards", DriverSign.PORT_BUFFER),
        ("i40e", "port.rx_dropped", DriverSign.PORT_BUFFER),
        ("ice", "rx_dropped.nic", DriverSign.PORT_BUFFER),
        ("bnx2x", "rx_brb_discard", DriverSign.PORT_BUFFER),
        ("be2net", "rx_drops_no_pbuf", DriverSign.PORT_BUFFER),
        ("sfc", "port_rx_overflow", DriverSign.PORT_BUFFER),
        ("igb", "rx_missed_errors", DriverSign.NO_BUFFER),
        ("igb", "rx_no_buffer_count", None),  # they waited in the NIC, and are not lost
        ("igb", "tx_timeout_count", DriverSign.HUNG),
        ("mlx5_core", "rx_prio3_pause", DriverSign.PAUSED),
        ("mlx5_core", "rx_steer_missed_packets", None),
        ("ixgbe", "rx_no_dma_resources", DriverSign.NO_BUFFER),
        ("igb", "rx_queue_3_drops", DriverSign.NO_BUFFER),
        ("i40e", "port.mac_remote_faults", DriverSign.FAULT),
        ("ice", "rx_oversize.nic", DriverSign.TOO_LONG),
        ("ena", "pps_allowance_exceeded", DriverSign.LIMITED),
        ("vmxnet3", "pkts rx out of buf", DriverSign.NO_BUFFER),
        ("atlantic", "rx_out_of_buffer", None),
        ("", "rx_discards", None),
    ],
)
def test_the_meaning_depends_on_the_driver(driver, name, sign):
    assert meaning_of(driver, name) is sign


def test_names_that_could_be_options_are_not_queried():
    assert queried(["eth1", "-x", "--help", "..", "a b", *(f"eth{n}" for n in range(2, 20))])[:2] == ("eth1", "eth2")
    assert len(queried([f"eth{n}" for n in range(20)])) == 8


# --- the check --------------------------------------------------------------------------------------------------------


def found(driver: str, counts: dict[str, int], kernel=None, **groups):
    machine = system(kernel)
    drivers = (DriverCounters("eth2", counts, driver),)
    new = replace(change("rac2"), machine=replace(machine, drivers=drivers))
    facts = asked(2, counters=counters(2, new), **groups)
    return [(f.code, f.status, f.title) for f in nic_counters.run(facts) if f.code != "IC-NIC-001"]


def test_a_packet_that_kernel_and_driver_count_is_counted_once():
    kernel = {"eth2": {"rx_missed_errors": 40, "rx_errors": 40}}
    ((code, status, title),) = found("mlx5_core", {"rx_out_of_buffer": 40}, kernel)
    assert (code, status) == ("IC-NIC-003", "WARN")
    assert (
        title == "eth2 of rac2 on 192.168.11.0/24 had no buffer for 40 packets that arrived in 30 s, and dropped them."
    )


def test_pause_frames_are_information_unless_blocks_are_lost():
    counts = {"rx_pause_ctrl_phy": 9, "rx_prio0_pause": 9, "tx_pause_ctrl_phy": 2}
    ((code, status, title),) = found("mlx5_core", counts)
    assert (code, status) == ("IC-NIC-009", "INFO")
    assert title == "eth2 of rac2 on 192.168.11.0/24 received 9 pause frames and sent 2 pause frames in 30 s."
    ((_, status, _),) = found("mlx5_core", counts, activity=losing(1, 12, {2: 12}))
    assert status == "WARN"


def test_too_long_frames_have_the_words_of_their_meaning():
    ((code, status, title),) = found("be2net", {"rx_drops_mtu": 5})
    assert (code, status) == ("IC-NIC-007", "WARN")
    assert title.endswith("counted 5 errors in 30 s: frames longer than the NIC accepts.")


def test_counters_of_an_unknown_driver_prove_nothing():
    assert found("atlantic", {"rx_out_of_buffer": 900, "rx_crc_errors_phy": 3}) == []


# --- a node -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def peer(monkeypatch, tmp_path):
    """A peer whose `ethtool -S` counts its own calls, and whose `/proc` is that of this machine."""
    calls = tmp_path / "calls"
    script = f"""#!/bin/sh
[ "$1" = -S ] || exit 1
printf 'x\\n' >> {calls}
printf 'NIC statistics:\\n     rx_packets: 5\\n     rx_no_dma_resources: %s00\\n' "$(wc -l < {calls})"
"""
    (tmp_path / "bin").mkdir()
    for name, text in {
        "bin/ethtool": script,
        "rsh": f"#!/bin/sh\nexport PATH={tmp_path}/bin:/usr/bin:/bin; {LOGGED_IN}\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("RACWIRE_RSH", shlex.quote(str(tmp_path / "rsh")))
    return calls


async def read_change(interval_s: float) -> tuple[CounterChange, Journal]:
    session = Session(Settings(ssh=SshSettings()), Journal(), None)
    session.local_node = "rac1"
    try:
        found = await read_counter_changes(session, [node(2)], interval_s, {"rac2": ("lo",)})
    finally:
        await session.close()
    (change,) = found.nodes
    return change, session.journal


async def test_a_short_interval_asks_no_driver(peer):
    change, journal = await read_change(0.05)
    assert not peer.exists()
    assert isinstance(change.machine.drivers, Unknown)
    assert f"under {LEAST_APART_S} s" in change.machine.drivers.reason
    assert {entry.topic for entry in journal.entries} == {"ssh", "counters over time", "storage connections"}


async def test_a_long_interval_asks_each_driver_twice(peer, monkeypatch):
    monkeypatch.setattr(driver_counters, "LEAST_APART_S", 0.01)
    change, journal = await read_change(0.05)
    assert peer.read_text() == "x\n" * 2
    assert change.machine.drivers == (DriverCounters("lo", {"rx_no_dma_resources": 100}, ""),)
    entries = [entry for entry in journal.entries if entry.topic == "driver counters"]
    assert [entry.action for entry in entries] == ["ethtool -S lo; ethtool --json -S lo --groups rmon"] * 2
    assert "rx_packets" not in entries[0].text


async def test_a_shell_that_cannot_be_opened_leaves_the_kernels_counters(monkeypatch):
    async def refused(_session, name):
        raise ShellError(f"{name} has no sh.")

    monkeypatch.setattr(driver_counters, "LEAST_APART_S", 0.01)
    monkeypatch.setattr(Session, "shell", refused)
    session = Session(Settings(), Journal(), None)
    session.local_node = "rac1"
    found = await read_counter_changes(session, [node(1)], 0.05, {"rac1": ("lo",)})
    (change,) = found.nodes
    assert change.machine.nic("lo") is not None
    assert change.machine.drivers == Unknown("rac1 has no sh.")
