"""Counters of NICs, queues, CPUs and memory: real outputs of several kernels are parsed, broken ones never raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import SystemCounters, Unknown
from checks.sources.nodes.counter_difference import (
    KernelGrowth,
    KernelReading,
    difference,
    difference_text,
    parse_reading,
)
from checks.sources.nodes.system_difference import parse_system, system_growth

SNMP = "Ip: Forwarding InReceives\nIp: 2 100\n"
SYSTEM = """\
/proc/stat:cpu  52542 0 11120 236938 573 0 474 47 0 0
/proc/stat:cpu0 24257 0 5438 120965 87 0 160 21 0 0
/proc/stat:cpu1 28285 0 5682 115972 485 0 313 25 0 0
/proc/vmstat:pswpin 0
/proc/vmstat:pswpout 12
/proc/vmstat:allocstall_dma32 0
/proc/vmstat:allocstall_normal 39
/proc/vmstat:allocstall_movable 1980089
/proc/vmstat:oom_kill 0
/proc/pressure/cpu:some avg10=2.93 avg60=3.17 avg300=3.15 total=94628150260
/proc/pressure/memory:some avg10=0.00 avg60=0.00 avg300=0.00 total=0
/proc/pressure/memory:full avg10=0.00 avg60=0.00 avg300=0.00 total=17
"""
NICS = """\
eth1/carrier_changes:2
eth1/statistics/rx_crc_errors:7
eth1/statistics/rx_bytes:50226170
eth1/statistics/tx_heartbeat_errors:0
"""
# As tc of iproute2 6.1 prints it, with a separator of grep and a NIC with several queues.
QUEUES = """\
qdisc tbf 8004: dev eth1 root refcnt 3 rate 8Mbit burst 20Kb lat 41ms\x20
 Sent 6082418 bytes 1199 pkt (dropped 18, overlimits 1585 requeues 0)\x20
--
qdisc mq 0: dev eth0 root\x20
 Sent 787136348 bytes 1146663 pkt (dropped 3, overlimits 0 requeues 8004)\x20
"""
SOFTNET = (
    "000b62a5 00000000 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
    "00000000 00000000 00000000\n"
    "000b6124 00000001 00000004 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
    "00000003 00000000 00000000\n"
)


def text(system=SYSTEM, nics=NICS, queues=QUEUES, kernel=SNMP + SOFTNET):
    return f"{kernel}##racwire system\n{system}##racwire nics\n{nics}##racwire queues\n{queues}"


def reading(**parts):
    found = parse_reading(text(**parts))
    assert isinstance(found, KernelReading)
    return found


def test_every_part_is_parsed():
    known = reading().machine
    assert known.nics == {"eth1": {"carrier_changes": 2, "rx_crc_errors": 7, "rx_bytes": 50226170, "qdisc_drops": 18}}
    assert known.cpus["cpu"]["steal"] == 47
    assert (known.cpus["cpu0"]["softirq"], known.cpus["cpu0"]["squeezed"]) == (160, 2)
    assert known.cpus["cpu3"] == {"processed": 0xB6124, "dropped": 1, "squeezed": 4}, "the kernel names the CPU"
    assert known.memory == {"pswpin": 0, "pswpout": 12, "allocstall": 1980128, "oom_kill": 0}
    assert known.stalls == {"cpu": {"some": 94628150260}, "memory": {"some": 0, "full": 17}}


def test_a_kernel_of_release_7_has_one_allocstall_no_pressure_and_shorter_rows():
    known = reading(
        system="/proc/stat:cpu0 1 2 3 4 5 6 7 8 0 0\n/proc/vmstat:allocstall 39\n",
        queues="",
        kernel=f"{SNMP}0047f5d8 00000000 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
    ).machine
    assert known.memory == {"allocstall": 39}
    assert known.stalls == {}
    assert known.cpus["cpu0"]["squeezed"] == 3
    assert "qdisc_drops" not in known.nics["eth1"]


def test_growth_is_per_nic_and_per_cpu_and_goes_to_the_journal():
    before, after = (
        reading(),
        reading(nics=NICS.replace("errors:7", "errors:19"), system=SYSTEM.replace(" 47 ", " 60 ")),
    )
    change = difference(before, after)
    assert isinstance(change, KernelGrowth)
    eth1, cpu = change.machine.nic("eth1"), change.machine.cpu("cpu")
    assert eth1
    assert eth1.value("rx_crc_errors") == 12
    assert cpu
    assert cpu.value("steal") == 13
    assert change.machine.stall_us("memory", "full") == 0
    assert change.machine.stall_us("io", "full") is None
    assert "eth1: rx_crc_errors +12" in difference_text(change)
    assert "cpu: steal +13" in difference_text(change)


def test_a_driver_that_starts_again_leaves_its_counters_out_and_a_nic_that_came_is_not_counted():
    change = difference(reading(), reading(nics="eth1/statistics/rx_bytes:5\neth3/statistics/rx_bytes:5\n"))
    assert isinstance(change, KernelGrowth)
    assert isinstance(change.machine.nics, tuple)
    assert [(n.name, n.counts) for n in change.machine.nics] == [("eth1", {"qdisc_drops": 0})]


def test_without_the_parts_each_group_is_unknown_with_its_reason():
    growth = difference(*[parse_reading(SNMP)] * 2)
    assert isinstance(growth, KernelGrowth)
    for group in (growth.machine.nics, growth.machine.cpus, growth.machine.stalls, growth.machine.memory):
        assert isinstance(group, Unknown)
        assert group.reason.endswith(".")


@pytest.mark.parametrize("name", ["eth1.100", "bond0", "ens2f1np1", "p1:p1", "a b"])
def test_names_of_interfaces_need_no_pattern(name):
    known = parse_system({"nics": [f"{name}/statistics/rx_dropped:4", f"{name}/carrier_changes:x"]}, ())
    assert known.nics == {name: {"rx_dropped": 4}}


LINES = st.lists(
    st.sampled_from(
        [
            *SYSTEM.splitlines(),
            *NICS.splitlines(),
            *QUEUES.splitlines(),
            "##racwire system",
            "##racwire nics",
            "##racwire ",
        ]
    )
    | st.text(max_size=40),
    max_size=12,
)


@given(LINES, LINES)
def test_no_text_raises_or_counts_backwards(one, other):
    before, after = (parse_reading(SNMP + SOFTNET + "\n".join(lines)) for lines in (one, other))
    if isinstance(before, KernelReading) and isinstance(after, KernelReading):
        grown = system_growth(before.machine, after.machine)
        assert isinstance(grown, SystemCounters)
        for group in (grown.nics, grown.cpus, grown.stalls):
            if not isinstance(group, Unknown):
                assert all(value >= 0 for each in group for value in each.counts.values())
