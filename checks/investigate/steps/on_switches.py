"""Steps at the switch: what the network team reads there, of a port or of the whole network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.scene import Scene
from checks.model.investigation import By, Price, Risk, Step
from checks.model.shell_command import switch
from checks.model.signs import Sign, SignAt
from checks.model.vendors import PORT

_SECONDS = 30


@dataclass(frozen=True)
class _Look:
    """One reading of a switch: by kind of switch, the commands are data (`COMMANDS`)."""

    name: str
    signs: tuple[Sign, ...]
    minutes: int
    is_twice: bool = False
    of_network: bool = False
    """Whether it is of the whole network, else of the port of one node."""


_LOOKS = (
    _Look(
        "switch-port", (Sign.PORT_CRC, Sign.PORT_DISCARDS, Sign.PORT_MTU, Sign.PORT_DOWN, Sign.PAUSED), 3, is_twice=True
    ),
    _Look("switch-port-filter", (Sign.PORT_ACL, Sign.PORT_POLICED), 5, is_twice=True),
    _Look("switch-addresses", (Sign.SECOND_MAC,), 4),
    _Look("switch-vlan", (Sign.PORT_VLAN, Sign.PORT_BLOCKED), 4),
    _Look("switch-trunks", (Sign.TRUNK_MTU, Sign.TRUNK_DOWN), 4, of_network=True),
    _Look("switch-mtu", (Sign.SWITCH_MTU,), 4, of_network=True),
    _Look("switch-filters", (Sign.PORT_ACL, Sign.PORT_POLICED), 5, is_twice=True, of_network=True),
    _Look(
        "switch-aggregation", (Sign.MEMBER_DOWN, Sign.MEMBER_CRC, Sign.MEMBER_MTU), 4, is_twice=True, of_network=True
    ),
    _Look("switch-inside", (Sign.FABRIC,), 4, is_twice=True, of_network=True),
)

COMMANDS: dict[str, tuple[str, ...]] = {
    "switch-port": ("show interface {port}", "show interface {port} counters errors", "show queuing interface {port}"),
    "switch-port-filter": ("show access-lists", "show access-lists summary", "show policy-map interface {port}"),
    "switch-addresses": ("show mac address-table",),
    "switch-vlan": ("show interface {port} switchport", "show spanning-tree interface {port}"),
    "switch-trunks": ("show interface trunk", "show interface status"),
    "switch-mtu": ("show running-config | include mtu", "show system mtu"),
    "switch-filters": ("show access-lists", "show access-lists summary", "show policy-map"),
    "switch-aggregation": ("show port-channel summary", "show interface counters errors"),
    "switch-inside": ("show hardware internal errors", "show queuing interface"),
}


def _made(look: _Look, scene: Scene) -> Iterator[Step]:
    for node in ("",) if look.of_network else scene.named:
        port = _announced(scene, node) or PORT
        packets = 2 * scene.sent if look.is_twice else 0
        yield Step(
            key=scene.key(look.name, node).rstrip(),
            declared=look.name,
            by=By.COMMAND,
            place=scene.place(*([node] if node else [])),
            price=Price(
                risk=Risk.PERSON,
                minutes=look.minutes,
                seconds=_SECONDS,
                packets=packets,
                rights="the network team",
            ),
            reads=tuple(SignAt(sign=sign, network=scene.network, node=node) for sign in look.signs),
            commands=tuple(switch(command, port=port) for command in COMMANDS[look.name]),
            where=f"the switch of {scene.network}",
            is_twice=look.is_twice,
        )


def _announced(scene: Scene, node: str) -> str:
    """Return the switch port of a node, as the switch announces it; empty where it does not."""
    setup = scene.cluster.setup(node) if node else None
    known = setup.lldp if setup and isinstance(setup.lldp, tuple) else ()
    return next((one.port for one in known if one.interface in scene.nics(node) and one.port), "")


ON_SWITCHES = tuple(Declaration(name=look.name, by=By.COMMAND, made=partial(_made, look)) for look in _LOOKS)
