"""Files and interfaces of a node, for tests of the boot configuration."""

from __future__ import annotations

from textwrap import dedent

from checks.sources.nodes.boot_config.device import Device
from checks.sources.nodes.sections import ConfigFile

ETH1 = Device("eth1", ("52:54:00:a1:00:01",))
ETH2 = Device("eth2", ("52:54:00:a1:00:02",))
BOND = Device("bond1", ("52:54:00:a1:00:01",), "bond")
IB = Device("ib0", ("80:00:02:08:fe:80",), "infiniband")


def file(path: str, text: str = "", **more: bool) -> ConfigFile:
    """Return the file with that text."""
    return ConfigFile(path, tuple(dedent(text).strip().splitlines()), **more)
