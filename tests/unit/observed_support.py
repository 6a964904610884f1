"""How tests read observations: as text, and where one contradicts another."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.observation import Fate, Observation


def way(seen: Observation) -> list[str]:
    """The legs as text: `rac1>rac2 whole 9000`."""
    return [
        f"{leg.senders[0]}>{leg.receivers[0]} {leg.forms[0] if leg.forms else 'any'} "  # type: ignore[index]
        + "-".join(str(size) for size in dict.fromkeys(leg.sizes))
        for leg in seen.legs
    ]


def told(observed: Sequence[Observation]) -> list[tuple[str, int, int | None, list[str]]]:
    return [(str(one.fate), one.number, one.of, way(one)) for one in observed]


def contradictions(observed: Sequence[Observation]) -> list[Observation]:
    """Observations that all of some packets were lost, of which others say that all passed."""
    passed = [one for one in observed if one.fate is Fate.PASSED]
    lost = [one for one in observed if one.fate is Fate.LOST and one.is_total]
    return [
        one
        for one in lost
        for other in passed
        if one.legs == other.legs or (len(one.legs) == 1 and any(leg.meets(one.legs[0]) for leg in other.legs))
    ]
