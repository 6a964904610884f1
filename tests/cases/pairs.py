"""Pairs of faults, drawn with a fixed seed: merged cases made of facts, and faults of the practice cluster."""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from itertools import permutations

import msgspec

from tests.cases.loading import DIRECTORY, Case, Expect, ExpectedCause, fact_cases
from tests.cases.making import Make

SEED = 15
FACT_PAIRS, LAB_PAIRS = 30, 10
MOST_USES = 4
"""The number of pairs in which one case may be."""

_MIRROR = {"eth1": "eth2", "eth2": "eth1", "192.168.10.": "192.168.11.", "192.168.11.": "192.168.10."}
_ADDED = (
    "interface",
    "neighbour",
    "route",
    "route_in_use",
    "path",
    "boot",
    "lost",
    "ping",
    "past_loss",
    "log",
    "inactive",
)
_KEYED = ("sysctl", "counted", "system", "statistics", "facts", "host", "driver", "lldp", "mounts")
_EITHER = ("database", "oifcfg", "unread", "thresholds")


@dataclass(frozen=True)
class FaultPair:
    """Two faults at once."""

    first: Case
    second: Case
    make: Make

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first.name} + {self.second.name}"

    @property
    def case(self) -> Case:
        """The pair as one case; nothing is expected of it but both causes."""
        return Case(title=self.name, name=self.name, make=self.make, expect=Expect(exit_code=2))


def mirrored(case: Case) -> Case:
    """Return the case with its two private networks exchanged."""
    text = (DIRECTORY / f"{case.name}.toml").read_text()
    exchanged = re.sub(r"eth[12]|192\.168\.1[01]\.", lambda found: _MIRROR[found[0]], text)
    return msgspec.structs.replace(msgspec.convert(tomllib.loads(exchanged), Case), name=f"{case.name} (mirrored)")


def merged(first: Make, second: Make) -> Make | None:
    """Return the facts of both; None where they say different things about one place."""
    if first.mtu != second.mtu or first.haip != second.haip or not _places(first).isdisjoint(_places(second)):
        return None
    values: dict[str, object] = {"nodes": max(first.nodes, second.nodes)}
    for name in _ADDED:
        values[name] = (*getattr(first, name), *getattr(second, name))
    for name in _KEYED:
        one, other = getattr(first, name), getattr(second, name)
        if set(one) & set(other):
            return None
        values[name] = {**one, **other}
    for name in _EITHER:
        one, other = getattr(first, name), getattr(second, name)
        if one and other and one != other:
            return None
        values[name] = one or other
    return msgspec.structs.replace(first, **values)


def _places(make: Make) -> set[tuple[str, str]]:
    """Return node and NIC of what the case changes; of a path, both ends."""
    found = {(node, i.name) for i in make.interface for node in _names(i.node)}
    found |= {(node, r.interface) for r in make.route for node in _names(r.node)}
    found |= {(r.node, r.network) for r in make.route_in_use}
    found |= {(node, p.network) for p in make.path for node in (*_names(p.from_), *_names(p.to))}
    return found


def _names(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def fact_pairs() -> list[FaultPair]:
    """Return the pairs of cases made of facts: each case with one cause, and with another one on the other network."""
    # Another plan of the networks (oifcfg) makes another cluster of the second case: its paths would not be there.
    alone = [
        c
        for c in fact_cases()
        if len(c.expect.first) == 1 and not (c.make.unread or c.make.thresholds or c.make.oifcfg)
    ]
    chance, uses, found = random.Random(SEED), dict[str, int](), list[FaultPair]()
    candidates = list(permutations(alone, 2))
    chance.shuffle(candidates)
    drawn = set[frozenset[str]]()
    for first, second in candidates:
        names = frozenset((first.name, second.name))
        if names in drawn or any(uses.get(name, 0) >= MOST_USES for name in names) or _same_cause(first, second):
            continue
        for other in (second, mirrored(second)):
            if make := merged(first.make, other.make):
                found.append(FaultPair(first, other, make))
                drawn.add(names)
                uses.update({name: uses.get(name, 0) + 1 for name in names})
                break
        if len(found) == FACT_PAIRS:
            break
    return found


def _same_cause(first: Case, second: Case) -> bool:
    return not {*first.expect.first[0].causes}.isdisjoint(second.expect.first[0].causes)


# --- on the practice cluster ------------------------------------------------------------------------------------------

_LOSS = ("CAUSE-01", "CAUSE-08", "CAUSE-18", "CAUSE-20", "CAUSE-21")
_ROUTER = ("CAUSE-05", "CAUSE-07")
_OF_A_NIC: dict[str, str | tuple[str, ...]] = {
    "switch-mtu": "CAUSE-12",
    "switch-mtu-one-way": "CAUSE-12",
    "node-mtu": "CAUSE-05",
    "link-down": "CAUSE-37",
    "names-differ": "CAUSE-37",
    "duplicate-address": "CAUSE-39",
    "duplicate-mac": "CAUSE-80",
    "wrong-neighbour": "CAUSE-81",
    "routed": _ROUTER,
}
_OF_A_NETWORK: dict[str, str | tuple[str, ...]] = {
    "split-switch": "CAUSE-84",
    "split-switch-mtu": "CAUSE-12",
    "loss": _LOSS,
    "wrong-subnet": "CAUSE-37",
}


def lab_pairs() -> list[FaultPair]:
    """Return the pairs of faults of the practice cluster: one on each private network, at nodes drawn too."""
    chance = random.Random(SEED)
    causes = {**_OF_A_NIC, **_OF_A_NETWORK}
    candidates = [(a, b) for a, b in permutations(causes, 2) if causes[a] != causes[b]]
    chosen = chance.sample(candidates, LAB_PAIRS)
    return [_lab_pair(*(_lab_fault(name, network, chance) for network, name in enumerate(p, 1))) for p in chosen]


def _lab_fault(name: str, network: int, chance: random.Random) -> Case:
    cause = {**_OF_A_NIC, **_OF_A_NETWORK}[name]
    node = f" --node {chance.randint(1, 4)}" if name in _OF_A_NIC else ""
    fault = f"{name}{node} --network {network}"
    return Case(
        title=fault,
        name=fault,
        make=Make(nodes=4, lab=(fault,)),
        expect=Expect(exit_code=2, cause=(ExpectedCause(cause=cause),)),
    )


def _lab_pair(first: Case, second: Case) -> FaultPair:
    return FaultPair(first, second, Make(nodes=4, lab=(*(first.make.lab or ()), *(second.make.lab or ()))))
