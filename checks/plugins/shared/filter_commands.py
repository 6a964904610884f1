"""The commands that show the packet filters and the packets of a node, and load, start and disturb nothing."""

RULES = ("nft list ruleset", "grep -q . /proc/net/ip_tables_names && iptables -S")
"""The rules of nftables, and those of iptables where the kernel has such tables. `iptables -S` alone loads the module
of an unused table, and each packet passes it from then on."""
FILTERS = (
    "systemctl is-active firewalld nftables iptables",
    "systemctl -q is-active firewalld && firewall-cmd --get-active-zones",
    "nft list ruleset",
)
"""The active services, the zones and the rules. D-Bus starts a firewalld that is enabled and stopped when firewall-cmd
calls it, and its usual zone rejects blocks: so systemctl comes first."""


def of_zone(zone: str) -> str:
    """Return the command that shows what a zone of firewalld accepts."""
    return f"systemctl -q is-active firewalld && firewall-cmd --zone={zone} --list-all"


def capture(nic: str, expression: str, most: int = 50) -> str:
    """Return a capture of some headers, which ends by itself: without -p the NIC would take all packets of the
    network."""
    return f"timeout 30 tcpdump -p -c {most} -s 96 -nei {nic} {expression}"
