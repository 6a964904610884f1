"""Percentiles in the data classes of results: none of too few values."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from checks.model.facts import Unknown
from checks.model.percentiles import least_values, percentile
from checks.model.wording import counted


def percentile_or_why(values: Sequence[float], share: float, noun: str) -> float | Unknown:
    """Return a percentile; Unknown for too few values, each of which is a `noun`."""
    found = percentile(values, share)
    return _too_few(len(values), share, noun) if found is None else found


def _too_few(count: int, share: float, noun: str) -> Unknown:
    return Unknown(f"too few: {counted(count, noun)} of {least_values(share):,}")


def keep_percentiles(part: msgspec.Struct, count: int, noun: str = "", **shares: float) -> None:
    """Take away each percentile of a part, by its field, that is one of too few values: None, or Unknown with the
    reason where `noun` names the values. The files of others hold any."""
    for field, share in shares.items():
        if isinstance(getattr(part, field), int | float) and count < least_values(share):
            msgspec.structs.force_setattr(part, field, _too_few(count, share, noun) if noun else None)
