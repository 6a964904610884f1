"""A session of guided troubleshooting as data: a loss at rac2 that one cable, port or NIC can have made."""

from __future__ import annotations

from checks.model.hypothesis import Footprint, How, Place
from checks.model.investigation import (
    By,
    End,
    EntryEnding,
    Fared,
    Price,
    Probe,
    Risk,
    SessionRecord,
    SessionStep,
    StepAnswer,
    StepSaid,
    Suspect,
)
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic

NETWORK = "192.168.11.0/24"
STARTED = 1_795_000_000.0


def suspect(kind: str = "cable", cause: str = "CAUSE-01", *, node: str = "rac2", sign: Sign | None = None) -> Suspect:
    """Return a suspect at the port of a node, which loses a share both ways."""
    return Suspect(
        cause=cause,
        kind=kind,
        name="Faulty cable, transceiver, NIC or switch port",
        place=Place(networks=(NETWORK,), nodes=(node,)),
        footprint=(Footprint(how=How.SHARE, traffic=Traffic(networks=(NETWORK,), receivers=(node,))),),
        signs=(SignAt(sign=sign, network=NETWORK, node=node),) if sign else (),
    )


CABLE = suspect("cable", sign=Sign.WITH_CABLE)
PORT = suspect("port", sign=Sign.PORT_CRC)
NIC = suspect("NIC", sign=Sign.WITH_NIC)
BUFFER = suspect("", "CAUSE-20", sign=Sign.PORT_DISCARDS)


def way(sender: str, receiver: str) -> Traffic:
    """Return datagrams of one size from node to node."""
    return Traffic(
        networks=(NETWORK,), senders=(sender,), receivers=(receiver,), protocols=("udp",), sizes=(1500, 1500)
    )


DIRECTIONS = SessionStep(
    key=f"each-direction {NETWORK} rac1 rac2",
    declared="each-direction",
    by=By.ITSELF,
    place=Place(networks=(NETWORK,), nodes=("rac1",), to=("rac2",)),
    price=Price(risk=Risk.PROBE, seconds=12, packets=600, octets=900_000),
    probes=(Probe(legs=(way("rac1", "rac2"),), sent=300), Probe(legs=(way("rac2", "rac1"),), sent=300)),
)
SHOW = SessionStep(
    key=f"show-interface {NETWORK} rac2",
    declared="show-interface",
    by=By.COMMAND,
    place=Place(networks=(NETWORK,), nodes=("rac2",)),
    price=Price(risk=Risk.PERSON, minutes=3, seconds=30, rights="the network team"),
    reads=(
        SignAt(sign=Sign.PORT_CRC, network=NETWORK, node="rac2"),
        SignAt(sign=Sign.PORT_DISCARDS, network=NETWORK, node="rac2"),
    ),
    commands=("show interface",),
    where=f"the switch of {NETWORK}",
)
PASTED = """\
core9-sw# show interface Ethernet1/2
Ethernet1/2 is up
  Description: rack-z12, to rac2 eth2
  Hardware: 1000/10000 Ethernet, address: b859.9f0a.1b2c (bia b859.9f0a.1b2c)
    RX
    12 input error  12 CRC
"""


def record(*answers: StepAnswer, ending: EntryEnding | None = None) -> SessionRecord:
    """Return a session with these answers."""
    return SessionRecord(
        started_at=STARTED,
        cluster="prodrac",
        run_at=STARTED - 60,
        suspects=(CABLE, PORT, NIC, BUFFER),
        answers=answers,
        endings=(ending,) if ending else (),
        is_ended=ending is not None,
    )


def lossy(at: float = STARTED + 20) -> StepAnswer:
    """Return the answer of a step by racwire, that lost packets in both directions."""
    return StepAnswer(
        step=DIRECTIONS,
        said=StepSaid.DONE,
        at=at,
        fared=(Fared.SOME_LOST, Fared.SOME_LOST),
        lost=((90, 300), (84, 300)),
        packets=600,
        seconds=12.4,
        excluded=(BUFFER,),
    )


def pasted(at: float = STARTED + 200) -> StepAnswer:
    """Return the answer of a person who pasted an output."""
    return StepAnswer(
        step=SHOW,
        said=StepSaid.DONE,
        at=at,
        seen=(SHOW.reads[0],),
        looked=SHOW.reads,
        pasted=(PASTED,),
        excluded=(NIC,),
    )


def whole() -> SessionRecord:
    """Return a session that ended with two suspects that cannot be told apart."""
    return record(lossy(), pasted(), ending=EntryEnding(end=End.APART, suspects=(CABLE, PORT), at=STARTED + 200))
