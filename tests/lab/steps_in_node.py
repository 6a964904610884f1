"""Make steps of guided troubleshooting on a node of the practice cluster, as a session does, and return the answers."""

from __future__ import annotations

import msgspec

from checks.model.investigation import StepAnswer
from tests.lab.node_operator import Operator
from tests.lab.practice_command import Practice

_BEFORE = """
import asyncio, itertools, os, sys, time
from pathlib import Path
import msgspec
from checks.investigate.placing_step import placing_step, udp_leg
from checks.measure.session_harm import open_investigator
from checks.model.facts import Cluster
from checks.model.hypothesis import Place
from checks.model.investigation import By, Price, Probe, Risk, SessionStep
from checks.model.journal import Journal
from checks.model.signs import Sign, SignAt
from checks.run.gathering import GATHERERS
from checks.run.settings_file import load_settings
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session

FIRST, SECOND = "192.168.10.0/24", "192.168.11.0/24"
GROUPS = "clusterware", "nodes", "networks", "database"
PASSWORD = Secret((Path(os.environ["RACWIRE_LAB_DIR"]) / "database/password").read_text().strip())

def step(*probes, **other):
    price = Price(risk=Risk.PROBE, seconds=2, packets=sum(p.sent * p.ports for p in probes))
    fields = dict(key="step", declared="step", by=By.ITSELF, place=Place(networks=(FIRST,)), price=price)
    return SessionStep(**{**fields, "probes": probes, **other})

def udp(sender, receiver, size, sent=40, network=FIRST, **other):
    fields = {name: other.pop(name) for name in ("ports", "share") if name in other}
    leg = msgspec.structs.replace(udp_leg(network, sender, receiver, size), **other)
    return Probe(legs=(leg,), sent=sent, **fields)

async def gathered(settings):
    session = Session(settings, Journal(), password=PASSWORD)
    cluster = Cluster(local_node=session.local_node, taken_at="")
    for gatherer in (g for g in GATHERERS if g.group in GROUPS):
        found = await gatherer.gather(session, cluster)
        cluster = msgspec.structs.replace(cluster, **{gatherer.group: found})
        cluster = msgspec.structs.replace(cluster, local_node=session.local_node)
    await session.close()
    return cluster

def say(answer):
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\\n")
    sys.stdout.flush()
"""
_AFTER = """
async def main():
    settings = load_settings(None)
    budget = msgspec.structs.replace(settings.investigate, seconds=SECONDS)
    # The CPUs of a machine that runs tests are busy: that is no harm done by a step.
    measure = msgspec.structs.replace(settings.measure, most_cpu_percent=100.0)
    settings = msgspec.structs.replace(settings, investigate=budget, measure=measure)
    cluster = await gathered(settings)
    async with open_investigator(cluster, settings, password=PASSWORD) as investigator:
        await session(investigator, cluster)

asyncio.run(main())
"""


def answers_of(practice: Practice, session: str, node: str = "rac1", seconds: float = 60.0) -> list[StepAnswer]:
    """Return the answers that `say` gets in the lines of a function `session(investigator, cluster)`, which run on a
    node; `seconds` is the budget."""
    environment = {name: practice.environment[name] for name in ("HOME", "RACWIRE_LAB_DIR", "XDG_STATE_HOME")}
    operator = Operator(practice.cluster, node, environment)
    try:
        ran = operator.run(_BEFORE + session + f"\nSECONDS = {seconds}\n" + _AFTER)
    finally:
        operator.leave()
    assert ran.code == 0, ran.err
    return [msgspec.json.decode(line, type=StepAnswer) for line in ran.out.splitlines()]
