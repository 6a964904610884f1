"""Names of switch ports: the short and the long form of one port are the same name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.model.pasted import DeviceSystem

_LONG = {
    "e": "Ethernet",
    "eth": "Ethernet",
    "et": "Ethernet",
    "ethernet": "Ethernet",
    "fa": "FastEthernet",
    "fas": "FastEthernet",
    "fastethernet": "FastEthernet",
    "gi": "GigabitEthernet",
    "gig": "GigabitEthernet",
    "gigabitethernet": "GigabitEthernet",
    "tw": "TwoGigabitEthernet",
    "twogigabitethernet": "TwoGigabitEthernet",
    "fi": "FiveGigabitEthernet",
    "fivegigabitethernet": "FiveGigabitEthernet",
    "te": "TenGigabitEthernet",
    "ten": "TenGigabitEthernet",
    "tengige": "TenGigabitEthernet",
    "tengigabitethernet": "TenGigabitEthernet",
    "twe": "TwentyFiveGigE",
    "twentyfivegige": "TwentyFiveGigE",
    "fo": "FortyGigabitEthernet",
    "fortygige": "FortyGigabitEthernet",
    "fortygigabitethernet": "FortyGigabitEthernet",
    "fif": "FiftyGigE",
    "fiftygige": "FiftyGigE",
    "hu": "HundredGigE",
    "hundredgige": "HundredGigE",
    "hundredgigabitethernet": "HundredGigE",
    "fou": "FourHundredGigE",
    "fourhundredgige": "FourHundredGigE",
    "po": "Port-channel",
    "port-channel": "Port-channel",
    "vl": "Vlan",
    "vlan": "Vlan",
    "ma": "Management",
    "management": "Management",
    "lo": "Loopback",
    "loopback": "Loopback",
    "tu": "Tunnel",
    "tunnel": "Tunnel",
}
_KEPT = frozenset(
    {"portchannel", "mgmt", "nve", "fc", "etp", "appgigabitethernet", "vxlan", "serial", "bdi", "ethernet-bp"}
)
"""Names without another form."""
_NAMED = re.compile(r"([A-Za-z][A-Za-z-]{0,30}) ?([0-9][0-9/.:]{0,20})", re.ASCII)
_OF_LINUX = re.compile(r"(?:swp|bond|br|eth|ens|eno|enp|p|ib|team|vlan|peerlink|sup-eth)[\w.-]{0,24}", re.ASCII)
_OF_JUNOS = re.compile(
    r"(?:[a-z]{2}-[0-9]{1,3}/[0-9]{1,3}/[0-9]{1,3}(?::[0-9]{1,2})?|(?:ae|em|me|fxp|lo|reth|vme|irb|vlan)[0-9]{1,5})"
    r"(?:\.[0-9]{1,5})?|(?:vme|irb|vlan)\.[0-9]{1,5}",
    re.ASCII,
)


def port_name(text: str) -> str:
    """Return the long form of a port's name: `Eth1/1` is `Ethernet1/1`, `Po20` and `port-channel20` are
    `Port-channel20`; a unit of Junos (`xe-0/0/1.0`) is its port. A name that is not known stays as it is."""
    name = text.strip().rstrip(",:")
    if _OF_JUNOS.fullmatch(name):
        return name.partition(".")[0]
    if found := _NAMED.fullmatch(name):
        if found[1] in ("eth", "PortChannel"):
            return name
        return f"{_LONG[found[1].casefold()]}{found[2]}" if found[1].casefold() in _LONG else name
    return name


def is_port(text: str) -> bool:
    """Return whether a word is the name of a port, a port-channel or an interface."""
    found = _NAMED.fullmatch(text)
    if found and " " not in text and (found[1].casefold() in (*_LONG, *_KEPT) and len(found[1]) > 1):
        return True
    return bool(_OF_JUNOS.fullmatch(text) or (_OF_LINUX.fullmatch(text) and any(map(str.isdigit, text))))


_OF_SYSTEMS = (
    (DeviceSystem.CUMULUS, re.compile(r"swp[0-9]{1,3}(?:s[0-9])?", re.ASCII)),
    (DeviceSystem.JUNOS, re.compile(r"(?:ge|xe|et)-[0-9]{1,3}/[0-9]{1,3}/[0-9]{1,3}.{0,12}", re.ASCII)),
    (DeviceSystem.EOS, re.compile(r"Et[0-9][0-9/]{0,8}(?:\(.{0,9})?", re.ASCII)),
    (DeviceSystem.NXOS, re.compile(r"Eth[0-9]{1,3}/[0-9/]{1,8}(?:\(.{0,9})?", re.ASCII)),
    (
        DeviceSystem.IOS_XE,
        re.compile(
            r"\(?(?:(?:Gi|Te|Twe|Tw|Fo|Hu|Fa)[0-9]{1,2}(?:/[0-9/]{1,8})?"
            r"|(?:Ten|TwentyFive|Forty|Hundred)?Gig\w{1,11}[0-9][0-9/]{0,9}|Port-channel[0-9]{1,4})[(),]{0,2}.{0,9}",
            re.ASCII,
        ),
    ),
    (DeviceSystem.NXOS, re.compile(r"\(?port-channel[0-9]{1,4}[(),]{0,2}.{0,9}", re.ASCII)),
)


def system_of(words: Iterable[str]) -> DeviceSystem:
    """Return the system that names its ports so, by the first word that is such a name."""
    for word in words:
        for system, pattern in _OF_SYSTEMS:
            if pattern.fullmatch(word):
                return system
    return DeviceSystem.UNKNOWN


_SPELT = frozenset(_LONG) - {"vlan", "vl"}
"""What can be a word of its own before a number: `ethernet 1/1`. `vlan 811` only restricts what is shown."""
_SHORTEST = re.compile(r"e[0-9]{1,3}/[0-9/]{1,8}")
"""`e1/2`, as it is typed; no output has it."""


def port_in(words: tuple[str, ...]) -> str:
    """Return the port that commands name: `show interface ethernet 1/1 status`; empty where they name none, or
    several."""
    found: set[str] = set()
    for at, word in enumerate(words):
        if is_port(word) or _SHORTEST.fullmatch(word):
            found.add(port_name(word))
        elif at + 1 < len(words) and word.casefold() in _SPELT and re.fullmatch(r"[0-9][0-9/.:]{0,20}", words[at + 1]):
            found.add(port_name(word + words[at + 1]))
    return next(iter(found)) if len(found) == 1 else ""
