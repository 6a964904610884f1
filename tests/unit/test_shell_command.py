"""Commands for people: a value that was read never becomes syntax."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.sanitize import sanitize
from checks.model.shell_command import Language, Placeholder, ShellCommand, shell, sql, switch


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
    "value", ["eth1", "ethernet 1/1", "x'; DROP TABLE t; --", "x\nreload", "-f", "Eth1/1", "10.0.0.1"]
)
def test_sql_and_switches_take_plain_values_only(value):
    plain = value in ("eth1", "Eth1/1", "10.0.0.1")
    assert sql("SELECT {what} FROM dual;", what=value) == f"SELECT {value if plain else 'WHAT'} FROM dual;"
    assert switch("show interface {port}", port=value) == f"show interface {value if plain else 'PORT'}"


def test_what_racwire_wrote_itself_stands_as_it_is():
    assert shell("cat /proc/net/bonding/* | awk '{print $1}' > $ORACLE_BASE/x") == (
        "cat /proc/net/bonding/* | awk '{print $1}' > $ORACLE_BASE/x"
    )
    assert shell("ping -I {source} {to}", source=Placeholder.PRIVATE_ADDRESS, to="10.0.0.2") == (
        "ping -I PRIVATE_ADDRESS 10.0.0.2"
    )
    assert shell("rm -- {file}", file="-rf") == "rm -- -rf"
    assert shell("ip rule del {rule}", rule="a") == "ip rule del a"
