"""The kernel settings that matter to a private interconnect: which they are, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checks.model.facts import Unknown

PROC_SYS = "/proc/sys"

NODE_SYSCTLS = (
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.ipv4.icmp_echo_ignore_all",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_low_thresh",
    "net.ipv4.ipfrag_max_dist",
    "net.ipv4.ipfrag_time",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv6.ip6frag_high_thresh",
    "net.ipv6.ip6frag_low_thresh",
    "net.ipv6.ip6frag_time",
)
"""One value for the node, or for its network namespace."""

INTERFACE_SYSCTLS = ("arp_announce", "arp_filter", "arp_ignore", "rp_filter")
"""Below net.ipv4.conf.<interface>, and below net.ipv4.conf.all."""

KERNEL_RELEASE_PATH = "kernel/osrelease"


def interface_sysctl(interface: str, name: str) -> str:
    """The key of a setting of an interface; its name stands in it as it is, dots included."""
    return f"net.ipv4.conf.{interface}.{name}"


def sysctl_paths(interfaces: Iterable[str]) -> dict[str, str]:
    """Where each sysctl stands below /proc/sys, by its key."""
    paths = {key: key.replace(".", "/") for key in NODE_SYSCTLS}
    for interface in ("all", *interfaces):
        for name in INTERFACE_SYSCTLS:
            paths[interface_sysctl(interface, name)] = f"net/ipv4/conf/{interface}/{name}"
    return paths


def sysctls(interfaces: Iterable[str], values: Mapping[str, str]) -> dict[str, str | Unknown]:
    """Every sysctl by its key, from what was read by path below /proc/sys."""
    return {
        key: values[path]
        if path in values
        else Unknown(f"{PROC_SYS}/{path} could not be read: this kernel, or this network namespace, does not have it.")
        for key, path in sysctl_paths(interfaces).items()
    }
