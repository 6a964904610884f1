"""The sysctls that affect a private interconnect, and their paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checks.model.facts import Unknown
from checks.sources.kernel_files import INTERFACE_SYSCTLS, NODE_SYSCTLS, PROC_SYS


def interface_sysctl(interface: str, name: str) -> str:
    """The key of a sysctl of an interface; the name of the interface is unchanged, dots included."""
    return f"net.ipv4.conf.{interface}.{name}"


def sysctl_paths(interfaces: Iterable[str]) -> dict[str, str]:
    """The path of each sysctl below /proc/sys, by its key."""
    paths = {key: key.replace(".", "/") for key in NODE_SYSCTLS}
    for interface in ("all", *interfaces):
        for name in INTERFACE_SYSCTLS:
            paths[interface_sysctl(interface, name)] = f"net/ipv4/conf/{interface}/{name}"
    return paths


def sysctls(interfaces: Iterable[str], values: Mapping[str, str]) -> dict[str, str | Unknown]:
    """Every sysctl by its key, from values by path below /proc/sys; Unknown where the kernel does not have it."""
    return {
        key: values[path]
        if path in values
        else Unknown(f"{PROC_SYS}/{path} could not be read: this kernel, or this network namespace, does not have it.")
        for key, path in sysctl_paths(interfaces).items()
    }
