"""Steps at the switch: what the network team reads there, of a port or of the whole network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.scene import Scene
from checks.investigate.steps.switch_commands import commands_for
from checks.model.facts import LldpNeighbour
from checks.model.investigation import By, Price, Risk, SessionStep
from checks.model.shell_command import switch
from checks.model.signs import Sign, SignAt
from checks.model.vendors import PORT

_SECONDS = 30


@dataclass(frozen=True)
class _Look:
    """One reading of a switch: by kind of switch, the commands are data."""

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


def _made(look: _Look, scene: Scene) -> Iterator[SessionStep]:
    for node in ("",) if look.of_network else scene.named:
        known = _announced(scene, node)
        port = known.port if known and known.port else PORT
        packets = 2 * scene.sent if look.is_twice else 0
        yield SessionStep(
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
            commands=tuple(switch(command, port=port) for command in commands_for(look.name, known)),
            where=f"the switch of {scene.network}",
            is_twice=look.is_twice,
        )


def _announced(scene: Scene, node: str) -> LldpNeighbour | None:
    """Return the switch port of a node, as the switch announces it; of the whole network, that of its first node."""
    for name in (node,) if node else scene.nodes:
        setup = scene.cluster.setup(name)
        for one in setup.lldp if setup and isinstance(setup.lldp, tuple) else ():
            if one.interface in scene.nics(name):
                return one
    return None


ON_SWITCHES = tuple(Declaration(name=look.name, by=By.COMMAND, made=partial(_made, look)) for look in _LOOKS)
