"""Which printed commands need root: each judged once, here. A step asks for root where one of its commands needs it.

A command that changes something counts as one that needs root.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from checks.model.command_effect import effect_of, simple_commands
from checks.model.effect import Effect
from checks.model.finding import NextStep

_ROOT_READS = (
    # Raw packets and packet filters: CAP_NET_RAW and CAP_NET_ADMIN (capabilities(7)); firewalld asks polkit.
    r"(timeout \d+ )?tcpdump\b",
    r"arping\b",
    r"(nft|iptables|ip6tables|ebtables|conntrack|firewall-cmd)\b",
    r"ip (-\S+ )*xfrm\b",
    # The kernel lets any user read the driver, counters, rings, pause frames, offloads and channels; not the registers
    # or the EEPROM (Linux, net/ethtool/ioctl.c).
    r"ethtool -[dem]\b",
    # kernel.dmesg_restrict, and the groups of journald, lldpd and container engines.
    r"(dmesg|journalctl|lldpctl|lldpcli|docker|podman|virsh)\b",
    # Names of other users' processes: CAP_SYS_PTRACE (ss(8), -p).
    r"ss -\w*p",
    # Files that only root may read, and trees with such files.
    r"(cat|grep|head|tail|ls|less)\b.* (/var/log/messages|/etc/(NetworkManager/system-connections|netplan|wicked|"
    r"systemd/network|sysconfig/network(-scripts|/)))",
    r"grep -\w*r\w*\b.* (/etc|/etc/sysconfig/network)$",
    r"crsctl config crs\b",
)
"""What the simple commands look like that only read, and need root."""


def need_root(commands: Iterable[str]) -> bool:
    """Return whether one of these commands needs root."""
    return any(_needs_root(command) for command in commands)


def wrong_users(steps: Iterable[NextStep]) -> list[NextStep]:
    """Return the steps that ask for root without need, and those for any user that need root."""
    users = [step for step in steps if step.commands and step.where.startswith(("root on ", "any user"))]
    return [step for step in users if step.where.startswith("root on ") != need_root(step.commands)]


@cache
def _needs_root(command: str) -> bool:
    if effect_of((command,)) not in (Effect.READS, Effect.ADDS_LOAD):
        return True
    return any(re.match(rule, part) for part in simple_commands(command) for rule in _ROOT_READS)
