"""Steps by hand: each changes one thing, shows whether the loss goes with it, and has a way back."""

from __future__ import annotations

from collections.abc import Iterator

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.scene import Scene
from checks.model.investigation import By, Price, Risk, SessionStep
from checks.model.signs import Sign, SignAt

_SECONDS = 300


def _by_hand(scene: Scene, declared: str, nodes: tuple[str, ...], sign: Sign, minutes: int, rights: str) -> SessionStep:
    packets = 4 * scene.sent
    return SessionStep(
        key=scene.key(declared, *nodes),
        declared=declared,
        by=By.HANDS,
        place=scene.place(*nodes),
        price=Price(risk=Risk.WINDOW, minutes=minutes, seconds=_SECONDS, packets=packets, rights=rights),
        reads=(SignAt(sign=sign, network=scene.network, node=nodes[0]),),
        where=f"the cables of {' and '.join(nodes)}",
    )


def _swap_cable(scene: Scene) -> Iterator[SessionStep]:
    """Yield the exchange of a node's cable for that of another node, at both ends."""
    for node in scene.named:
        for other in [one for one in scene.nodes if one != node][:1]:
            yield _by_hand(scene, "swap-cable", (node, other), Sign.WITH_CABLE, 20, "who may touch the cables")


def _move_port(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        yield _by_hand(scene, "move-port", (node,), Sign.WITH_PORT, 15, "the network team")


def _member_down(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        if len(scene.nics(node)) > 1:
            yield _by_hand(scene, "member-down", (node,), Sign.WITH_MEMBER, 10, f"root on {node}")


HANDS = (
    Declaration(name="swap-cable", by=By.HANDS, made=_swap_cable),
    Declaration(name="move-port", by=By.HANDS, made=_move_port),
    Declaration(name="member-down", by=By.HANDS, made=_member_down),
)
