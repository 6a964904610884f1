"""Commands for people: a value that was read never becomes syntax."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.sanitize import sanitize
from checks.model.shell_command import Language, Placeholder, ShellCommand, for_each, shell, sql, switch


@given(st.text(min_size=1))
def test_a_value_is_one_word_of_the_shell_or_the_name_of_its_field(value):
    words = shlex.split(shell("ip link show {nic}", nic=value))
    is_name = value == sanitize(value) and not value.startswith("-")
    assert words == ["ip", "link", "show", value if is_name else "NIC"]


@given(st.text(min_size=1))
def test_over_ssh_a_value_is_one_word_at_the_other_end(value):
    line = ShellCommand("ssh rac2 ip link show {nic}", {"nic": value}, Language.SSH).line
    far = shlex.split(" ".join(shlex.split(line)[2:]))
    assert far in (["ip", "link", "show", value], ["ip", "link", "show", "NIC"])
    assert (far[-1] == "NIC") == (value.startswith("-") or value != sanitize(value) or value == "NIC")


@pytest.mark.parametrize(
    "value", ["eth1", "ethernet 1/1x", "x'; DROP TABLE t; --", "x\nreload", "-f", "Eth1/1", "10.0.0.1"]
)
def test_sql_and_switches_take_plain_values_only(value):
    plain = value in ("eth1", "Eth1/1", "10.0.0.1")
    assert sql("SELECT {what} FROM dual;", what=value) == f"SELECT {value if plain else 'WHAT'} FROM dual;"
    assert switch("show interface {port}", port=value) == f"show interface {value if plain else 'PORT'}"


@pytest.mark.parametrize(
    "port",
    [
        "Ethernet1/1 ; reload", "Ethernet1/1;reload", "Ethernet1/1\nreload", "Ethernet1/1\rreload", "Et1|no more",
        "Ethernet1/1?", "Ethernet1/1 !", "Ethernet1/1-48", "Ethernet1/1,Ethernet1/2", "Ethernet1-4", "Ethernet 1/1-2",
        "ge-0/0/1; run request system reboot", "ge-0/0/[0-47]", "ge-0/0/*", "xe-0/0/1 { disable; }", "ge-0/0/1 #",
        "Et1 > flash:x", "Et1 | bash reload", "$(reload)", "", "Ethernet1/1\u2028reload", "-f", "Ethernet\u00a01/1",
    ],
)  # fmt: skip
def test_what_a_switch_would_read_as_syntax_or_as_several_ports_is_not_written(port):
    assert switch("interface {port}", port=port) == "interface PORT"


@pytest.mark.parametrize(
    "port",
    ["Ethernet1/1", "Eth1/1/1:4", "ge-0/0/1", "xe-0/0/1.0", "et-0/0/1:0", "port-channel10", "Port-Channel 10", "swp1s0",
     "GigabitEthernet1/0/1", "TenGigE0/0/0/1", "1/1/c1/1", "Bundle-Ether1", "Te 1/0/1"],
)  # fmt: skip
def test_the_port_of_each_vendor_stands_as_it_is(port):
    assert switch("interface {port}", port=port) == f"interface {port}"


@pytest.mark.parametrize(
    "name", ["x; DROP TABLE t", "x'||'y", "x\n/", 'x" y', "x--y", "x/*y*/", "x&y", "x\u2028y", "&&1", "x)", ""]
)
def test_what_a_database_would_read_as_syntax_is_not_written(name):
    assert sql("DROP RESTORE POINT {name};", name=name) == "DROP RESTORE POINT NAME;"


def test_what_racwire_wrote_itself_stands_as_it_is():
    assert shell("cat /proc/net/bonding/* | awk '{print $1}' > $ORACLE_BASE/x") == (
        "cat /proc/net/bonding/* | awk '{print $1}' > $ORACLE_BASE/x"
    )
    assert shell("ping -I {source} {to}", source=Placeholder.PRIVATE_ADDRESS, to="10.0.0.2") == (
        "ping -I PRIVATE_ADDRESS 10.0.0.2"
    )
    assert shell("rm -- {file}", file="-rf") == "rm -- -rf"
    assert shell("ip rule del {rule}", rule="a") == "ip rule del a"


def test_several_words_stay_words():
    route = ("10.0.0.0/8", "dev", "eth0;reboot", "-6", "a\nb")
    assert shell("ip route del {route}", route=route) == "ip route del 10.0.0.0/8 dev 'eth0;reboot' ROUTE ROUTE"
    lines = for_each("ethtool {nic}", "ethtool -S {nic}", nic=("eth1", "eth 2", "eth1"))
    assert lines == ("ethtool eth1", "ethtool -S eth1", "ethtool 'eth 2'", "ethtool -S 'eth 2'")


def test_values_that_a_language_takes_stand_as_they_are():
    assert shell("racwire grants --user {user}", user="C##RACWIRE") == "racwire grants --user C##RACWIRE"
    assert shell("ls {file}", file="#x") == "ls '#x'"
    assert sql("ALTER USER {user};", user='"Rac Wire"') == 'ALTER USER "Rac Wire";'
    assert sql("ALTER USER {user};", user='"a";x"') == "ALTER USER USER;"
    assert sql("SELECT {what} FROM dual;", what="a--b") == "SELECT WHAT FROM dual;"
    assert switch("show interface {port}", port="Ethernet 1/1") == "show interface Ethernet 1/1"
    assert switch("show interface {port}", port="Ethernet 1/1 no shutdown") == "show interface PORT"
