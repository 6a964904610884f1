"""The kernel's own text files."""

from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Interface, KernelCounters, Unknown
from checks.sources.nodes.proc import parse_counters, parse_values, with_speeds
from checks.sources.nodes.sysctls import NODE_SYSCTLS, sysctl_paths, sysctls

SNMP = """\
Ip: Forwarding DefaultTTL ReasmFails
Ip: 2 64 34
Tcp: MaxConn
Tcp: -1
TcpExt: IPReversePathFilter
TcpExt: 3
"""


def test_counters_are_found_by_group_and_name() -> None:
    counters = parse_counters(SNMP)
    assert isinstance(counters, KernelCounters)
    assert counters.value("Ip", "ReasmFails") == 34
    assert counters.value("Tcp", "MaxConn") == -1
    assert counters.value("TcpExt", "IPReversePathFilter") == 3
    assert counters.value("Udp", "InErrors") is None


def test_a_newer_or_truncated_file_is_parsed_as_far_as_possible() -> None:
    counters = parse_counters(
        "Ip: A B C\nIp: 1 2\nUdp: A\nUdp: 1 2 3\nIcmp: A B\nIcmp: 1 x\nTcp: A\nbare line\nTcp: A\n"
    )
    assert counters == KernelCounters({"Ip": {"A": 1, "B": 2}, "Udp": {"A": 1}})


def test_an_unparsable_file_is_unknown() -> None:
    assert isinstance(parse_counters("cat: /proc/net/snmp: Permission denied\n"), Unknown)


NAMES = st.text(st.sampled_from("ABCabc09"), min_size=1, max_size=6)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(-(2**63), 2**64 - 1), min_size=1), min_size=1))
def test_counters_are_returned_as_the_kernel_wrote_them(groups: dict[str, dict[str, int]]) -> None:
    text = "".join(
        f"{group}: {' '.join(values)}\n{group}: {' '.join(str(v) for v in values.values())}\n"
        for group, values in groups.items()
    )
    assert parse_counters(text) == KernelCounters(groups)


@given(st.text() | st.text(st.sampled_from("Ip: 1\n-A²")))
def test_no_text_raises_in_the_parsers(text: str) -> None:
    parse_counters(text)
    interface = Interface("eth0", 1500, "ethernet", True, "up")
    with_speeds([interface], {**parse_values(text), "eth0/speed": text, "eth0/duplex": text})


def test_unknown_speed_and_duplex_have_a_reason() -> None:
    up = Interface("eth0", 1500, "ethernet", True, "up")
    down = Interface("eth1", 1500, "ethernet", True, "down")
    virtual = Interface("eth2", 1500, "ethernet", True, "up")
    old = Interface("eth3", 1500, "ethernet", True, "up")
    values = parse_values(
        "eth0/speed:25000\neth0/duplex:full\neth2/speed:-1\neth2/duplex:unknown\neth3/speed:4294967295\n"
    )
    up, down, virtual, old = with_speeds((up, down, virtual, old), values)
    assert (up.speed_mbps, up.duplex) == (25000, "full")
    assert down.speed_mbps == Unknown("eth1 has no link, so it has no speed.")
    assert virtual.duplex == Unknown("The driver of eth2 reports no duplex.")
    assert isinstance(old.speed_mbps, Unknown)


def test_values_have_normalized_blanks_and_paths_may_contain_dots() -> None:
    values = parse_values(
        "net/ipv4/ip_local_port_range:9000\t65500\nnet/ipv4/conf/bond1.200/rp_filter:2\ngrep: x: no\n"
    )
    found = sysctls(["bond1.200"], values)
    assert found["net.ipv4.ip_local_port_range"] == "9000 65500"
    assert found["net.ipv4.conf.bond1.200.rp_filter"] == "2"


def test_a_missing_sysctl_is_unknown_and_named() -> None:
    found = sysctls(["eth0"], {})
    assert set(found) == set(sysctl_paths(["eth0"])) > set(NODE_SYSCTLS)
    missing = found["net.core.netdev_max_backlog"]
    assert isinstance(missing, Unknown)
    assert "/proc/sys/net/core/netdev_max_backlog" in missing.reason
