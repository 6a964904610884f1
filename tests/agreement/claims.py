"""What the texts claim: about which place, how it stands, and as of when. It knows the words of the screens, and
nothing of what made them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from tests.agreement.places import Texts
from tests.agreement.truth import BEGIN, EVERY, NODES, SUBNETS, Place

_TIME = r"((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d)"
_NETWORKS = {subnet: number for number, subnet in SUBNETS.items()}


class Claim(NamedTuple):
    """What one place says about a thing."""

    where: str
    place: Place
    kind: str
    """`bad`, `new`, `planned`, `was`, `verified`, `unknown`, `well`; of events `lasts`, `lasted`, `open`."""
    as_of: float = 0.0
    since: float = 0.0
    until: float = 0.0
    proved: float = 0.0
    is_alone: bool = True
    """Whether the claim is about this place alone."""
    is_cause: bool = False
    """Whether its row is that of a cause."""
    is_below: bool = False
    """Whether its row is below that of a cause."""
    text: str = ""

    @property
    def is_alarm(self) -> bool:
        return self.kind in ("bad", "new")

    @property
    def is_present(self) -> bool:
        return self.kind in ("bad", "new", "planned", "well", "lasts")


_STANDINGS = (
    ("planned", re.compile(rf"[Pp]lanned by the step [\w ]+, as of {_TIME}"), ("as_of",)),
    ("verified", re.compile(rf"[Ww]as so until {_TIME}, verified {_TIME}"), ("until", "proved")),
    ("verified", re.compile(rf"[Oo]ver, verified {_TIME}"), ("proved",)),
    ("was", re.compile(rf"[Ww]as so until {_TIME}(?:; v proves it|, not verified)"), ("until",)),
    ("new", re.compile(rf"[Nn]ew since the run: since {_TIME}, as of {_TIME}"), ("since", "as_of")),
    ("new", re.compile(rf"[Nn]ew since the run: since {_TIME}\."), ("as_of",)),
    ("unknown", re.compile(rf"not known since [^;.]*?{_TIME}"), ("since",)),
    ("unknown", re.compile(rf"[Cc]ould not be read at {_TIME}"), ("since",)),
    ("bad", re.compile(rf"\b[Ss]ince {_TIME}, as of {_TIME}"), ("since", "as_of")),
    ("well", re.compile(rf"\b[Aa]s of {_TIME}"), ("as_of",)),
)
_EVENT_STANDINGS = (
    ("planned", re.compile(rf"[Pp]lanned by the step [\w ]+, as of {_TIME}"), ("as_of",)),
    ("open", re.compile(rf"[Nn]ot known whether it lasts, as of {_TIME}"), ("as_of",)),
    ("lasts", re.compile(rf"[Ll]asts, as of {_TIME}"), ("as_of",)),
    ("lasts", re.compile(rf"\b[Ll]ast {_TIME}"), ("last",)),
    ("lasted", re.compile(rf"[Uu]ntil {_TIME}, verified {_TIME}"), ("until", "proved")),
    ("lasted", re.compile(rf"[Uu]ntil {_TIME}"), ("until",)),
)
_LIST = r"((?:{}(?:, | and )?)+)"
_RACS, _PRODS = _LIST.format(r"rac\d"), _LIST.format(r"prod\d")


def _nics(kind: str, words: str) -> Callable[[str], set[Place]]:
    find = re.compile(rf"(?:eth\d(?:, | and )?)+ of {_RACS}{words}")

    def places(text: str) -> set[Place]:
        found = find.search(text)
        if found is None:
            return set()
        pairs = re.findall(rf"((?:eth\d(?:, | and )?)+) of {_RACS}", found.group(0))
        return {
            Place(kind, node, int(nic[3:]))
            for nics, nodes in pairs
            for nic in re.findall(r"eth\d", nics)
            for node in re.findall(r"rac\d", nodes)
        }

    return places


def _nodes(kind: str, pattern: str) -> Callable[[str], set[Place]]:
    find = re.compile(pattern)

    def places(text: str) -> set[Place]:
        found = find.search(text)
        names = re.findall(r"(?:rac|prod)(\d)", found.group(1)) if found else []
        return {Place(kind, f"rac{number}") for number in names}

    return places


_FAULTS: dict[str, Callable[[str], set[Place]]] = {
    "IC-IFACE-004": _nics("link", " has no link"),
    "IC-MTU-002": _nics("mtu", " ha(?:s|ve) MTU 1500"),
    "IC-GRID-006": _nodes("stack", rf"{_RACS} is not an active"),
    "IC-IFACE-033": _nodes("node", rf"{_RACS} is down: "),
    "IC-LOST-002": _nodes("loss", rf"{_PRODS} lost [\d,]+ of"),
    "IC-RPF-004": _nodes("setup", rf"strict on [\w ]+ of {_RACS}"),
}
_EVENTS = (
    _nics("link", r"(?:, (?:eth\d(?:, | and )?)+ of (?:rac\d(?:, | and )?)+)* ha(?:s|ve|d) no link"),
    _nodes("instance", rf"{_PRODS} (?:is|are|was|were) down"),
    _nodes("node", rf"{_RACS} (?:does|do|did) not answer"),
    _nodes("loss", rf"blocks? (?:was|were) lost on {_RACS}"),
    _nodes("loss", rf"blocks lost on {_RACS}"),
    _nics("mtu", r" changed"),
)
_WELL = {
    "IC-IFACE-001": lambda text: _ports("link", text) | {Place("node", node) for node in _named(text)},
    "IC-MTU-001": lambda text: _ports("mtu", text),
    "IC-GRID-001": lambda text: {Place("stack", node) for node in NODES} if "all 3 nodes" in text else set[Place](),
    "IC-LOST-001": _nodes("loss", rf"{_PRODS} received"),
}


def _named(text: str) -> set[str]:
    return set(re.findall(r"rac\d", next((line for line in text.splitlines()[1:] if "rac" in line), "")))


def _ports(kind: str, text: str) -> set[Place]:
    network = next((number for subnet, number in _NETWORKS.items() if subnet in text), 0)
    return {Place(kind, node, network) for node in _named(text)}


class Clock:
    """Reads the times of texts: as seconds of a clock that nothing sets."""

    def __init__(self, set_by_s: float) -> None:
        self._set_by_s = set_by_s

    def read(self, text: str) -> float:
        whole = text if len(text) > 8 else f"{datetime.fromtimestamp(BEGIN, UTC):%Y-%m-%d} {text}"
        return datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp() - BEGIN - self._set_by_s


def claims_in(texts: Texts, clock: Clock) -> Iterator[Claim]:
    """Yield what the texts claim about places."""
    for block in texts["checks"]:
        yield from _of_row(block, clock)
    for block in texts["events"]:
        yield from _of_event(block, clock)
    for block in texts["paths"]:
        yield from _of_cell(block, clock)


def _of_row(block: str, clock: Clock) -> Iterator[Claim]:
    found = re.search(r"\b(IC-[A-Z]+-\d{3})\b", block)
    code = found.group(1) if found else ""
    is_well = code in _WELL
    if code:
        places = {**_FAULTS, **_WELL}.get(code, lambda _: set())(block)
    else:
        places = next((places for find in _EVENTS if (places := find(block))), set())
    said = _standing(block, _STANDINGS, clock)
    if said is None or not places:
        return
    kind, times = said
    if kind == "well" and not is_well:
        kind = "bad"  # of one of which a part is not known
    is_cause, is_below = block[3:4] in ("▾", "▸"), block[1:3] == "  "
    # A cause is over when all that shows it is.
    is_alone = len(places) == 1 and not (is_cause and kind in ("was", "verified"))
    for place in places:
        yield Claim("checks", place, kind, **times, is_alone=is_alone, is_cause=is_cause, is_below=is_below, text=block)


def _of_event(block: str, clock: Clock) -> Iterator[Claim]:
    places = next((places for find in _EVENTS if (places := find(block))), set())
    said = _standing(block, _EVENT_STANDINGS, clock)
    assert said is not None, block
    begin = re.search(_TIME, block)
    assert begin is not None
    kind, times = said
    if "last" in times:  # the end of a sample: the block was lost in it
        times["as_of"] = times.pop("last") - EVERY
    for place in places:
        times["since"] = clock.read(begin.group(1))
        yield Claim("events", place, kind, **times, is_alone=len(places) == 1, text=block)


def _of_cell(block: str, clock: Clock) -> Iterator[Claim]:
    found = re.match(r"(\S+) (\S) +(rac\d)→(rac\d): ", block)
    if found is None:
        return
    network, letter, a, b = found.groups()
    place = Place("path", a, _NETWORKS[network], b)
    said = _standing(block, _STANDINGS, clock)
    kind, times = said or ("unread", {})
    if kind == "well" and letter != "P":
        kind = "unread" if letter == "?" else "bad"
    if (letter == "?") != (kind in ("unknown", "unread")) or (letter == "~") != (kind == "planned"):
        kind = f"{kind}, shown as {letter}"
    yield Claim("paths", place, kind, **times, text=block)


def _standing(block: str, standings: object, clock: Clock) -> tuple[str, dict[str, float]] | None:
    for kind, pattern, names in standings:  # type: ignore[attr-defined]
        if found := pattern.search(block):
            return kind, {name: clock.read(text) for name, text in zip(names, found.groups(), strict=True)}
    return None
