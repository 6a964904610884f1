"""Parse /proc/net/bonding and the answers of ethtool: bonds and NIC drivers. Text in, facts out; raises nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from checks.model.facts import Bond, BondMember, NicDriver, Unknown
from checks.sources.nic_drivers import HASH_MARK, NIC_LIMIT_S, NIC_MARK, NO_ETHTOOL
from checks.sources.nodes.proc import number
from checks.sources.sh_text import TIMED_OUT

_SPEED = re.compile(r"([0-9]{1,9}) ?Mbps", re.ASCII)
_MEMBER = ("Slave Interface", "Port Interface")
_ACTIVE = ("Currently Active Slave", "Currently Active Port")
_ACTOR, _PARTNER = _ENDS = ("details actor lacp pdu", "details partner lacp pdu")
_VALIDATE = "/bonding/arp_validate"
_NS_TARGETS = "NS IPv6 target/s"
_ARP_TARGETS = ("ARP IP target/s (n.n.n.n form)", f"{_NS_TARGETS} (xx::xx")
_NO_AGGREGATOR = "has no active aggregator"
_MOST_OF_A_NUMBER = 2**31


def parse_bonds(text: str) -> tuple[Bond, ...]:
    """The bonds of a section that `grep -H` printed from /proc/net/bonding: file, colon, line; sorted by name.

    A key before the first member describes the bond, a later one the last member. Words differ between releases of the
    driver, and a member that is down has the speed `Unknown`. Lines `bond0/bonding/arp_validate:none 0` are from sysfs.
    """
    lines: dict[str, list[tuple[str, str]]] = {}
    validated: dict[str, str] = {}
    for line in text.split("\n"):
        name, colon, rest = line.partition(":")
        if name.endswith(_VALIDATE):
            validated[name.removesuffix(_VALIDATE)] = rest.split(" ")[0].strip()
        elif colon and name and "/" not in name:
            # The key of the IPv6 targets has colons, as its value has.
            key, second, value = rest.partition("form):" if rest.startswith(_NS_TARGETS) else ":")
            if second or rest.strip().endswith(_NO_AGGREGATOR):
                lines.setdefault(name, []).append((key.strip(), value.strip()))
    found = (replace(_bond(name, pairs), arp_validate=validated.get(name, "")) for name, pairs in sorted(lines.items()))
    return tuple(bond for bond in found if bond.mode)


def _bond(name: str, pairs: list[tuple[str, str]]) -> Bond:
    own: dict[str, str] = {}
    members: list[dict[str, str]] = []
    end = ""
    for key, value in pairs:
        if key in _MEMBER:
            members.append({"name": value})
            end = ""
        elif key in _ENDS:
            end = f"{key} "
        else:
            (members[-1] if members else own).setdefault(f"{end}{key}", value)
    active = next((own[key] for key in _ACTIVE if key in own), "")
    return Bond(
        name,
        mode=own.get("Bonding Mode", ""),
        mii_status=own.get("MII Status", ""),
        active_member="" if active == "None" else active,
        polling_ms=_small(own.get("MII Polling Interval (ms)", "")),
        arp_polling_ms=_small(own.get("ARP Polling Interval (ms)", "")),
        arp_targets=tuple(ip for key in _ARP_TARGETS for ip in own.get(key, "").replace(",", " ").split()),
        has_active_aggregator=_has_aggregator(own),
        aggregator_id=_small(own.get("Aggregator ID", "")),
        min_links=_small(own.get("Min links", "")),
        partner_mac=own.get("Partner Mac Address", "").lower(),
        hash_policy=own.get("Transmit Hash Policy", "").partition(" ")[0],
        members=tuple(_member(values) for values in members if values["name"]),
    )


def _has_aggregator(own: dict[str, str]) -> bool | None:
    if any(key.endswith(_NO_AGGREGATOR) for key in own):
        return False
    return True if "Active Aggregator Info" in own else None


def _member(values: dict[str, str]) -> BondMember:
    speed = _SPEED.fullmatch(values.get("Speed", ""))
    duplex = values.get("Duplex", "").lower()
    return BondMember(
        values["name"],
        mii_status=values.get("MII Status", "").lower(),
        speed_mbps=int(speed[1]) if speed else None,
        duplex=duplex if duplex in ("full", "half") else "",
        link_failures=_small(values.get("Link Failure Count", "")),
        aggregator_id=_small(values.get("Aggregator ID", "")),
        is_in_no_aggregator=values.get("Aggregator ID") == "N/A",
        actor_churn=values.get("Actor Churn State", ""),
        partner_churn=values.get("Partner Churn State", ""),
        partner_mac=values.get(f"{_PARTNER} system mac address", "").lower(),
        port_state=_small(values.get(f"{_ACTOR} port state", "")),
    )


def parse_drivers(text: str) -> tuple[NicDriver, ...] | Unknown:
    """The NICs of a section of `ethtool -i`, `-g`, `-a` and `-n`, in its order; empty where none was queried."""
    lines = [line.strip() for line in text.split("\n")]
    if NO_ETHTOOL in lines:
        return Unknown("ethtool is not installed there")
    return tuple(_drivers(lines))


_DEVICE = re.compile(r"/sys/class/net/([^/:\s]+)/device/uevent:(DRIVER|PCI_SLOT_NAME)=(\S+)", re.ASCII)


def parse_drivers_in_use(text: str) -> dict[str, str]:
    """The driver of each NIC with a device, by interface."""
    return _devices(text, "DRIVER")


def parse_slots(text: str) -> dict[str, str]:
    """The PCI address of each NIC whose device is on the PCI bus itself, by interface."""
    return {name: slot.lower() for name, slot in _devices(text, "PCI_SLOT_NAME").items()}


def _devices(text: str, key: str) -> dict[str, str]:
    matched = (found for line in text.split("\n") if (found := _DEVICE.fullmatch(line.strip())))
    return {found[1]: found[3] for found in matched if found[2] == key}


def _drivers(lines: list[str]) -> Iterator[NicDriver]:
    nic: NicDriver | None = None
    part = ""
    for line in lines:
        key, colon, value = line.partition(":")
        value = value.strip()
        if line.startswith(NIC_MARK):
            if nic is not None:
                yield nic
            nic, part = NicDriver(line.removeprefix(NIC_MARK)), "driver"
        elif nic is not None and part == "hash" and line in _HASHED:
            nic = replace(nic, udp_hash=f"{nic.udp_hash}{_HASHED[line]}")
        elif nic is None or not colon:
            continue
        elif key == HASH_MARK:
            nic, part = _without_hash(nic, value), ""
        elif key.startswith("UDP over IPV4 flows use these fields"):
            nic, part = replace(nic, udp_hash=""), "hash"
        elif key.startswith("Pause parameters for"):
            part = "pause"
        elif key in ("Pre-set maximums", "Current hardware settings"):
            part = "most" if key.startswith("Pre") else "ring"
        else:
            nic = _with(nic, part, key, value)
    if nic is not None:
        yield nic


_HASHED = {
    "IP SA": "s",
    "IP DA": "d",
    "L4 bytes 0 & 1 [TCP/UDP src port]": "f",
    "L4 bytes 2 & 3 [TCP/UDP dst port]": "n",
    "L2DA": "m",
    "VLAN tag": "v",
    "L3 proto": "t",
}
"""The fields as ethtool prints them, by the letters that it takes (ethtool(8), rx-flow-hash)."""


def _without_hash(nic: NicDriver, status: str) -> NicDriver:
    """The NIC where it printed no fields: why, by the exit status of the query."""
    if not isinstance(nic.udp_hash, Unknown):
        return nic
    late = Unknown(f"the driver did not answer within {NIC_LIMIT_S} s")
    return replace(nic, udp_hash=late if status == str(TIMED_OUT) else None)


_DRIVER = {"driver": "driver", "version": "version", "firmware-version": "firmware"}
_RING = {"RX": "rx_ring", "RX Jumbo": "rx_jumbo_ring"}
_PAUSE = {"Autonegotiate": "pause_negotiated", "RX": "pause_rx", "TX": "pause_tx"}


def _with(nic: NicDriver, part: str, key: str, value: str) -> NicDriver:
    if part == "driver" and (field := _DRIVER.get(key)):
        return replace(nic, **{field: "" if value == "N/A" else value})
    if part in ("ring", "most") and (field := _RING.get(key)):
        return replace(nic, **{f"{field}_most" if part == "most" else field: _small(value) or None})
    if part == "pause" and (field := _PAUSE.get(key)) and value in ("on", "off"):
        return replace(nic, **{field: value == "on"})
    return nic


def _small(text: str) -> int | None:
    value = number(text)
    return value if value is not None and 0 <= value < _MOST_OF_A_NUMBER else None
