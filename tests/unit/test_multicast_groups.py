"""The multicast groups of a node, as the kernel prints them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import JoinedGroup, Unknown
from checks.sources.host_sections import HOST_COMMANDS
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.setup_text import parse_setup

IGMP = """\
Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter
1\tlo        :     1      V3
\t\t\t\t{all}     1 0:00000000\t\t0
3\teth1      :     3      V2
\t\t\t\t{mdns}     4 1:00000123\t\t1
\t\t\t\t{gipc}     3 0:00000000\t\t0
\t\t\t\t{all}     1 0:00000000\t\t0
7\tbond1.200@x:     1      V3
\t\t\t\t{gipc}     1 0:00000000\t\t0
"""
IGMP6 = "3    eth1            ff0200000000000000000000000000fb     1 0000000C 0\n"
LITTLE = {"all": "010000E0", "mdns": "FB0000E0", "gipc": "000100E6"}
BIG = {"all": "E0000001", "mdns": "E00000FB", "gipc": "E6000100"}


def groups(text: str, machine: str = "x86_64"):
    parts = {name: OutputSection() for name in HOST_COMMANDS}
    parts |= {"multicast groups": OutputSection(text), "boot": OutputSection(f"machine {machine}")}
    host = parse_setup("rac1", parts).host
    assert not isinstance(host, Unknown)
    return host.groups_joined


@pytest.mark.parametrize(("machine", "hexadecimal"), [("x86_64", LITTLE), ("aarch64", LITTLE), ("s390x", BIG)])
def test_the_groups_of_each_interface(machine, hexadecimal):
    assert groups(IGMP.format_map(hexadecimal) + IGMP6, machine) == (
        JoinedGroup("bond1.200@x", "230.0.1.0"),
        JoinedGroup("eth1", "224.0.0.251"),
        JoinedGroup("eth1", "230.0.1.0"),
        JoinedGroup("eth1", "ff02::fb"),
    )


def test_a_node_that_joined_none_differs_from_one_that_was_not_read():
    assert groups("Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n") == ()
    assert isinstance(groups(""), Unknown)
    assert isinstance(groups(IGMP6), Unknown)


@given(st.text(st.sampled_from("Idx0123456789ABCDEFabcdef\t :\n"), max_size=200))
def test_no_text_is_an_error(text):
    groups(f"Idx{text}")
