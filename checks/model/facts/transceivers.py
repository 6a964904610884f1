"""Facts about the optical transceivers of a node's private NICs: light, temperature, and the module's own limits."""

from __future__ import annotations

from checks.model.facts.base import Fact


class OpticalLimits(Fact, frozen=True):
    """The limits of one value, as the module itself has them: beyond `warning` it is unusual, beyond `alarm` out of its
    specification."""

    low_alarm: float
    low_warning: float
    high_warning: float
    high_alarm: float


class OpticalLane(Fact, frozen=True):
    """The light of one lane of a module, in milliwatts; None where the module does not measure it."""

    number: int
    sent_mw: float | None = None
    received_mw: float | None = None


class OpticalModule(Fact, frozen=True):
    """The module of one NIC, as `ethtool -m` prints it."""

    interface: str
    kind: str
    """`SFP`, `QSFP28`: the identifier; empty where it is not known."""
    is_copper: bool = False
    """Whether it is a copper cable or a copper module: no light."""
    lanes: tuple[OpticalLane, ...] = ()
    """Empty where the module measures no light."""
    temperature_c: float | None = None
    sent_limits: OpticalLimits | None = None
    """In milliwatts; None where the module has none."""
    received_limits: OpticalLimits | None = None
    temperature_limits: OpticalLimits | None = None
    """In degrees Celsius."""
    is_average: bool = True
    """Whether the received power is an average; else the amplitude of its modulation (OMA), which is not compared."""


class UnreadModule(Fact, frozen=True):
    """A NIC whose driver shows no module: it has none, is virtual, or refuses."""

    interface: str
    reason: str
    """A predicate in a few words: `did not answer in time`."""


class NodeOptics(Fact, frozen=True):
    """The modules of one node's private NICs and of the members of their bonds."""

    name: str
    modules: tuple[OpticalModule, ...] = ()
    without: tuple[UnreadModule, ...] = ()
