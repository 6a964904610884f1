"""Rules for errors and drops that a NIC counted in the range of AWR."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import DeviceHistory, Thresholds
from checks.model.finding import Status


@dataclass(frozen=True)
class NicDrops:
    """Packets that a NIC dropped in one direction."""

    where: str
    """The direction: `on receipt`, `when sending`."""
    dropped: int
    of: int
    """Packets that the NIC passed in that direction."""

    @property
    def percent(self) -> float:
        """Dropped packets in percent; 100 where none is known to have passed."""
        return min(100.0, 100 * self.dropped / self.of) if self.of > 0 else 100.0


@dataclass(frozen=True)
class NicFaults:
    """The faults of one NIC."""

    device: DeviceHistory
    errors: dict[str, int]
    """Counts of errors, which are never normal, by name: `frame error`."""
    drops: tuple[NicDrops, ...]
    status: Status
    """A warning for any error and for many drops, INFO for a few drops, else PASS."""


def nic_faults(device: DeviceHistory, limits: Thresholds) -> NicFaults:
    """Judge one NIC. Linux also counts unwanted packets as dropped, so a few drops are normal."""
    errors = {
        "receive error": device.receive_errors,
        "receive overrun": device.receive_overruns,
        "frame error": device.receive_frame_errors,
        "send error": device.send_errors,
        "send overrun": device.send_overruns,
        "lost carrier": device.send_carrier_lost,
    }
    errors = {what: number for what, number in errors.items() if number > 0}
    drops = tuple(
        drop
        for drop in (
            NicDrops("on receipt", device.receive_dropped, device.packets_received),
            NicDrops("when sending", device.sends_dropped, device.packets_sent),
        )
        if drop.dropped > 0
    )
    grave = bool(errors) or any(drop.percent >= limits.device_drop_warn_percent for drop in drops)
    status = Status.WARN if grave else Status.INFO if drops else Status.PASS
    return NicFaults(device, errors, drops, status)


def mtu_change_status(everywhere: bool) -> Status:
    """Return the status of an MTU that changed in the range of AWR: a warning where not all NICs of the network did."""
    return Status.INFO if everywhere else Status.WARN


def tolerated_drops_percent(limits: Thresholds) -> float:
    """Return the percentage of dropped packets below which drops are normal."""
    return limits.device_drop_warn_percent
