"""Texts for lists of names, counts, durations, and directions between nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

NodePair = tuple[str, str]
"""A direction: from a node, to a node."""


_MOST_PARTS = 3


def listed(names: Iterable[str], conjunction: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    each = list(names)
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} {conjunction} {each[-1]}" if each else ""


def few(names: Iterable[str], most: int = 4) -> str:
    """Return the names, each once, and a count of those over `most`: `a, b, c, d and 3 more`."""
    each = list(dict.fromkeys(names))
    return listed(each) if len(each) <= most else f"{', '.join(each[:most])} and {len(each) - most} more"


_ORDINARY = re.compile(
    r"(A|All|An|Another|Any|At|Both|Check|Each|Enter|Every|Flows|For|Fragments|From|Gathering|Halt|If|In|Incomplete"
    r"|It|Its|Live|More|Name|Neither|No|None|Not|Nothing|Of|Only|Other|Pull|Reading|Reboot|Samples|Signal|Some"
    r"|Something|Stop|That|The|Their|There|These|They|This|Those|To|Two|User|What|When|Where|Whether|Which|While"
    r"|Without) "
)
"""First words of sentences that are neither names nor codes nor acronyms."""


def continued(sentence: str) -> str:
    """Return a sentence for use after a colon or a comma: its first word in lower case, where it is an ordinary one.
    Names, codes and acronyms stay as they are: `RACDB2 was not read`, `CRS-4639: ...`."""
    return sentence[:1].lower() + sentence[1:] if _ORDINARY.match(sentence) else sentence


def first_and_rest(reason: str, end: str = ". ") -> tuple[str, str]:
    """Return a reason up to `end` and without a full stop, for a title; and what follows."""
    first, _, rest = reason.partition(end)
    return first.rstrip("."), rest


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a mistyped one is most like, whatever its case; empty where none is."""
    names = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), sorted(names), 1)
    return names[close[0]] if close else ""


def counted(number: int, noun: str) -> str:
    """Return `1 node`, `3 nodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def all_nodes(number: int) -> str:
    """Return `this one node`, `both nodes`, `all 8 nodes`."""
    return {1: "this one node", 2: "both nodes"}.get(number, f"all {number} nodes")


def hub(pairs: Collection[NodePair], nodes: Collection[str]) -> str:
    """Return the one node at which every direction starts or ends; empty where there is none, or under three nodes."""
    if len(nodes) < 3 or not pairs:
        return ""
    shared = set.intersection(*({*pair} for pair in pairs))
    return shared.pop() if len(shared) == 1 else ""


def sides(pairs: Collection[NodePair], nodes: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """Return the sides into which these directions divide the nodes; empty where they divide them in no such way.

    Every direction between two sides is there, none within a side, and each side has two nodes or more: a side of one
    node is a fault of its own port rather than of a link between switches.
    """
    chosen, left, found = set(pairs), list(nodes), []
    while left:
        side = tuple(n for n in left if n == left[0] or not {(left[0], n), (n, left[0])} & chosen)
        found.append(side)
        left = [n for n in left if n not in side]
    crossing = {(a, b) for one in found for other in found if one is not other for a in one for b in other}
    is_divided = len(found) > 1 and crossing == chosen and all(len(side) > 1 for side in found)
    return tuple(found) if is_divided else ()


def between(pairs: Collection[NodePair], nodes: Collection[str], complete: bool = True) -> str:
    """Return the text for directions: "between rac1 and rac2, both ways"; "from every other node to rac3"; ...

    `complete` says whether these are all nodes of the cluster; otherwise "every other node" becomes "every other node
    probed".
    """
    chosen, probed = set(pairs), "" if complete else " probed"
    every = {(a, b) for a in nodes for b in nodes if a != b}
    if len(nodes) > 2 and chosen == every:
        return f"between all nodes{probed}, both ways"
    among = [n for n in nodes if any(n in pair for pair in chosen)]
    if len(among) > 2 and chosen == {(a, b) for a in among for b in among if a != b}:
        return f"between {listed(among)}, both ways"
    divided = [listed(side) for side in sides(chosen, nodes)]
    if len(divided) == 2:
        return f"between {divided[0]} on one side and {divided[1]} on the other, both ways"
    if divided:
        return f"between the groups {'; '.join(divided)}, both ways"
    centre = hub(chosen, nodes)
    if centre and len(chosen) > 1:
        to = {a for a, b in chosen if b == centre}
        from_ = {b for a, b in chosen if a == centre}
        peers = [n for n in nodes if n in to | from_]
        all_peers = f"every other node{probed}" if len(peers) == len(nodes) - 1 else ""
        if to == from_:
            return f"between {centre} and {all_peers or f'each of {listed(peers)}'}, both ways"
        if not from_:
            return f"from {all_peers or listed(peers)} to {centre}"
        if not to:
            return f"from {centre} to {all_peers or listed(peers)}"
    for node in nodes:
        own = {pair for pair in chosen if node in pair}
        if len(nodes) > 3 and len(own) == 2 * (len(nodes) - 1):
            return f"{between(own, nodes, complete)}; {between(chosen - own, nodes, complete)}"
    both = [(a, b) for a in nodes for b in nodes if a < b and {(a, b), (b, a)} <= chosen]
    single = [(a, b) for a, b in sorted(chosen) if (b, a) not in chosen]
    parts = [f"between {a} and {b}, both ways" for a, b in both] + [f"from {a} to {b}" for a, b in single]
    if len(parts) <= _MOST_PARTS:
        return "; ".join(parts)
    if within := sides(every - chosen, nodes):
        return f"{'; '.join(f'between {listed(side)}' for side in within)}, both ways"
    return f"over {len(chosen)} of {len(every)} paths{probed}"


def lasting(seconds: float) -> str:
    """Return a duration in its two largest units: `45 s`, `12 min 5 s`, `3 h 20 min`, `1 d 2 h`."""
    whole = round(seconds)
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    for place, (name, length) in enumerate(units[:-1]):
        if whole >= length:
            below, shorter = units[place + 1]
            rest = whole % length // shorter
            return f"{whole // length} {name} {rest} {below}" if rest else f"{whole // length} {name}"
    return f"{whole} s"


def span(seconds: float) -> str:
    """Return a length of time: `30 s`, `2.5 s`, `15 min`, `7 days`."""
    if seconds >= 2 * 86_400:
        return f"{seconds / 86_400:.0f} days"
    if seconds >= 2 * 3_600:
        return f"{seconds / 3_600:.0f} h"
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 or round(seconds, 1) == round(seconds) else f"{seconds:.1f} s"


def moment(text: str) -> str:
    """Return a time of the database to the minute: `2026-11-18 03:00`."""
    return text.replace("T", " ")[:16]
