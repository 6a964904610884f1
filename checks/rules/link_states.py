"""Rules for the state of private interfaces: without a link, slower than others, with another MTU."""

from __future__ import annotations

from collections.abc import Collection

from checks.model.finding import Status


def link_status(is_up: bool, is_member: bool = False) -> Status:
    """Return the status of a private interface by its link, as the check interfaces has it; and of a member of a bond,
    as the check bonding has it."""
    if is_up:
        return Status.PASS
    return Status.WARN if is_member else Status.FAIL


def is_slower(speed_mbps: int | None, of_network: Collection[int | None]) -> bool:
    """Return whether a NIC is slower than the fastest one of its private network; an unknown speed is not."""
    fastest = max((speed for speed in of_network if speed), default=0)
    return bool(speed_mbps) and (speed_mbps or 0) < fastest


def speed_status(speed_mbps: int | None, of_network: Collection[int | None]) -> Status:
    """Return the status of a NIC by its speed; the check link-speed has the same."""
    return Status.FAIL if is_slower(speed_mbps, of_network) else Status.INFO


def mtu_status(mtus: Collection[int]) -> Status:
    """Return the status of a private network by the MTUs of its interfaces; the check mtu-consistency has the same."""
    return Status.FAIL if len(set(mtus)) > 1 else Status.INFO


def layer_mtu_status(mtu: int, above: Collection[int]) -> Status:
    """Return the status of a layer below private interfaces by its MTU and theirs.

    A smaller MTU is a failure: the layer drops packets that the interface sends. A larger one carries all of them; the
    kernel sets the members of a bond with the bond, and sends no more through one that was raised alone
    (Linux drivers/net/bonding/bond_main.c, bond_change_mtu; MOS 563566.1, causes 11 and 12).
    """
    return Status.FAIL if any(mtu < upper for upper in above) else Status.INFO
