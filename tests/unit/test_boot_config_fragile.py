"""Lines of scripts and rules that set an MTU in addition to the network service."""

import pytest

from checks.model.facts import FragileMtu
from checks.sources.nodes.boot_config.fragile import parse_fragile
from tests.unit.boot_config_support import file


@pytest.mark.parametrize(
    ("path", "line", "interface", "mtu"),
    [
        ("/etc/rc.d/rc.local", "/sbin/ip link set dev eth1 mtu 9000", "eth1", 9000),
        ("/etc/rc.local", "ip link set eth1 mtu 9000", "eth1", 9000),
        ("/etc/rc.local", "ip -d link set mtu 9000 dev bond1.200", "bond1.200", 9000),
        ("/etc/rc.local", "ifconfig eth1 mtu 9000 up", "eth1", 9000),
        ("/etc/rc.local", "echo 9000 > /sys/class/net/eth1/mtu", "eth1", 9000),
        ("/etc/rc.local", "for i in eth1 eth2; do ip link set $i mtu 9000; done", "", 9000),
        ("/etc/rc.local", "ip link set eth1 mtu $MTU", "eth1", None),
        ("/etc/udev/rules.d/70.rules", 'ACTION=="add", KERNEL=="eth1", ATTR{mtu}="9000"', "eth1", 9000),
        ("/etc/udev/rules.d/70.rules", 'KERNEL=="eth*", RUN+="/sbin/ip link set %k mtu 9000"', "", 9000),
        ("/etc/systemd/system/jumbo.service", "ExecStart=/sbin/ip link set eth1 mtu 9000", "eth1", 9000),
        ("/etc/crontab", "@reboot root ip link set eth1 mtu 9000", "eth1", 9000),
    ],
)
def test_a_line_that_sets_an_mtu_is_found(path, line, interface, mtu):
    assert parse_fragile([file(path, line)]) == (FragileMtu(interface, path, line, mtu),)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/etc/rc.local", "# ip link set eth1 mtu 9000"),
        ("/etc/rc.local", "systemctl start mtur"),
        ("/etc/cron.d/watch", "*/5 * * * * root ip link show eth1 | grep mtu"),
    ],
)
def test_comments_other_words_and_timed_jobs_are_ignored(path, line):
    assert parse_fragile([file(path, line)]) == ()


def test_in_a_stanza_of_ifupdown_the_interface_is_in_the_line_above():
    text = "iface eth1 inet static\n  mtu 9000\niface eth2 inet static\n  mtu 1500"
    lines = parse_fragile([file("/etc/network/interfaces", text)])
    assert [(f.interface, f.mtu) for f in lines] == [("eth1", 9000), ("eth2", 1500)]
