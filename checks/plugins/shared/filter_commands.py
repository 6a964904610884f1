"""The commands that show the packet filters and the packets of a node, and load, start and disturb nothing."""

from checks.model.shell_command import shell

NFTABLES = "grep -q '^nf_tables ' /proc/modules && nft list ruleset"
"""The rules of nftables where the kernel has its module: for root, `nft` alone loads it (nfnetlink_rcv_msg)."""
RULES = (NFTABLES, "grep -q . /proc/net/ip_tables_names && iptables -S")
"""The rules of nftables, and those of iptables where the kernel has such tables. `iptables -S` alone loads the module
of an unused table, and each packet passes it from then on."""
FILTERS = (
    "systemctl is-active firewalld nftables iptables",
    "systemctl -q is-active firewalld && firewall-cmd --get-active-zones",
    NFTABLES,
)
"""The active services, the zones and the rules. D-Bus starts a firewalld that is enabled and stopped when firewall-cmd
calls it, and its usual zone rejects blocks: so systemctl comes first."""


def of_zone(zone: str) -> str:
    """Return the command that shows what a zone of firewalld accepts."""
    return shell("systemctl -q is-active firewalld && firewall-cmd --zone={zone} --list-all", zone=zone)


def capture(nic: str, *expression: str) -> str:
    """Return a capture of some headers, which ends by itself: without -p the NIC would take all packets of the
    network."""
    return shell("timeout 30 tcpdump -p -c 50 -s 96 -nei {nic} {expression}", nic=nic, expression=expression)
