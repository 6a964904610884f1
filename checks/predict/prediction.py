"""A prediction as data: every number with its formula, its inputs and its interval."""

from __future__ import annotations

import msgspec

from checks.model.facts import Unknown
from checks.model.interconnect_load import WireTime

SCHEMA = "racwire-prediction/1"


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A measured figure, and what it becomes."""

    name: str
    """The figure: `packets in`."""
    subject: str
    """The node or instance; empty for the cluster."""
    unit: str
    """`1/s`, `Mb/s`, `%`, `us`; empty for a plain number."""
    now: float
    """The figure in the measured time."""
    after: float
    """The predicted figure for the same load."""
    low: float
    """The interval of `after`: the load changes from stretch to stretch, and some inputs are known within limits."""
    high: float
    formula: str
    """How `after` is calculated from `inputs`."""
    inputs: dict[str, str]
    """The measured or assumed values, each with its unit."""


class NotPredicted(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that cannot be predicted, with the reason."""

    name: str
    subject: str
    reason: str
    """One sentence."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The prediction for one cluster and one measured time."""

    schema: str = SCHEMA
    cluster: str
    measured_at: str
    """The start of the measured time, ISO 8601."""
    seconds: float
    stretches: int
    """The number of stretches that the measured time was divided into; the intervals come from them."""
    mtu_before: dict[str, int]
    """The MTU of the private interfaces of each node."""
    mtu_after: int
    block_bytes: int
    is_block_assumed: bool
    """Whether no database was connected, so that the block size is Oracle's default."""
    wire: WireTime | Unknown = Unknown("not calculated")
    """What a network could at most bring for this load, at any MTU."""
    estimates: tuple[Estimate, ...]
    not_predicted: tuple[NotPredicted, ...] = ()
    remarks: tuple[str, ...] = ()
