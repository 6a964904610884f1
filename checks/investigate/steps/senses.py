"""Steps that read what no run reads: why a kernel drops packets, transceivers, pause frames by class."""

from __future__ import annotations

from collections.abc import Iterator

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.scene import SMALL_BYTES, Scene
from checks.model.investigation import By, Price, Risk, SessionStep
from checks.model.sense_steps import DROPS_STEP, OPTICS_STEP, PAUSES_STEP
from checks.model.signs import Sign, SignAt

DROP_SIGNS = (Sign.NODE_DROPS, Sign.NODE_RULE, Sign.NODE_QDISC)
WATCH_S = 6
"""Seconds for which a kernel is watched; the limit is 10."""
_PAUSES_S = 30
"""Seconds between two queries of a driver, the least that racwire leaves."""
_OPTICS_S = 3
_SENT = 60
_ODD = 25, 7
"""Bytes more than a small packet, and less than the largest: a size that the packets of others seldom have, by which
these are followed through the NIC."""


def _kernel_drops(scene: Scene) -> Iterator[SessionStep]:
    """Yield the watching of a receiver's kernel while datagrams of one size arrive: its NIC must be known by name."""
    for s, r in scene.pairs:
        if r not in scene.named:
            continue
        for size in (SMALL_BYTES + _ODD[0], scene.mtu(s, r) - _ODD[1]):
            (packets,) = scene.udp(s, r, size).legs[:1]
            yield SessionStep(
                key=scene.key(DROPS_STEP, s, r, size),
                declared=DROPS_STEP,
                by=By.ITSELF,
                place=scene.place(s, to=r),
                price=Price(
                    risk=Risk.PROBE, seconds=WATCH_S, packets=_SENT, octets=_SENT * size, rights=f"root on {r}"
                ),
                reads=tuple(SignAt(sign=sign, network=scene.network, node=r, packets=packets) for sign in DROP_SIGNS),
                where=f"root on {r}",
                needs_consent=True,
            )


def _optics(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        yield _reading(scene, OPTICS_STEP, node, Sign.OPTICS, _OPTICS_S, f"root on {node}", needs_consent=True)


def _pauses(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        yield _reading(scene, PAUSES_STEP, node, Sign.PAUSED, _PAUSES_S, f"any user on {node}")


def _reading(
    scene: Scene, declared: str, node: str, sign: Sign, seconds: float, rights: str, *, needs_consent: bool = False
) -> SessionStep:
    return SessionStep(
        key=scene.key(declared, node),
        declared=declared,
        by=By.ITSELF,
        place=scene.place(node),
        price=Price(risk=Risk.NONE, seconds=seconds, rights=rights),
        reads=(SignAt(sign=sign, network=scene.network, node=node),),
        where=rights,
        needs_consent=needs_consent,
    )


SENSES = (
    Declaration(name=DROPS_STEP, by=By.ITSELF, made=_kernel_drops),
    Declaration(name=OPTICS_STEP, by=By.ITSELF, made=_optics),
    Declaration(name=PAUSES_STEP, by=By.ITSELF, made=_pauses),
)
