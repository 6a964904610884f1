"""Which printed commands need root: each judged once, here. The user of a step follows from its commands.

A command that changes something counts as one that needs root, unless it is one of racwire.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from checks.model.command_effect import effect_of, simple_commands
from checks.model.effect import Effect

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
    r"(cat|grep|head|tail|ls|less)\b.* (/etc/NetworkManager/system-connections|/var/log/messages|/etc/wicked)\b",
    r"grep -\w*r\w*\b.* /etc$",
    r"crsctl config crs\b",
)
"""What the simple commands look like that only read, and need root."""


def need_root(commands: Iterable[str]) -> bool:
    """Return whether one of these commands needs root."""
    return any(_needs_root(command) for command in commands)


@cache
def _needs_root(command: str) -> bool:
    if effect_of((command,)).rank > Effect.READS.rank:
        return True
    return any(re.match(rule, part) for part in simple_commands(command) for rule in _ROOT_READS)
