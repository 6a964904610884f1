"""The steps outside the nodes in their place, and the remarks of a plan on them."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.plan.change_plan import ChangeKind, Step
from checks.change.steps.draft import Draft, briefly
from checks.change.steps.hypervisors import hypervisor
from checks.change.steps.switches import switch
from checks.model.own_command import CHANGE, OwnCommand, Text, joined


def steps(draft: Draft, *, after_stop: bool) -> Iterator[Step]:
    """Yield the steps that come before the stop of Clusterware, or those after it; none where the MTU is lowered."""
    if draft.kind is not ChangeKind.RAISE:
        return
    if draft.switch_order.after_stop is after_stop:
        yield switch(draft)
    if draft.guests and draft.hypervisor_order.after_stop is after_stop:
        yield hypervisor(draft)


def remarks(draft: Draft) -> Iterator[Text]:
    """Yield a remark for each step after the stop of Clusterware, for nodes that may be guests, and for each kind that
    carries less than the plan."""
    if draft.kind is not ChangeKind.RAISE:
        return
    if (order := draft.switch_order).after_stop:
        ask = (
            "If no pair compares them, abandon this change and plan again: ",
            OwnCommand("new", "--switch-pair no", CHANGE),
            " puts the switches before the outage.",
        )
        yield joined("The switches are changed while Clusterware is down.", order.why, ask if order.asks else "")
    if draft.guests and draft.hypervisor_order.after_stop:
        yield f"The hypervisor is changed while Clusterware is down. {draft.hypervisor_order.why}"
    if draft.maybe_guests:
        is_guest = "is a guest" if len(draft.maybe_guests) == 1 else "are guests"
        yield (
            f"It is not known whether {briefly(draft.maybe_guests)} {is_guest} of a hypervisor: neither CPU nor DMI "
            "was read. If so, abandon this change and plan again: ",
            OwnCommand("new", "--hypervisor KIND", CHANGE),
            ".",
        )
    known = {**draft.kinds.switches, **draft.kinds.hypervisors}
    for kind in (known[key] for key in dict.fromkeys((*draft.switches, *draft.guests.values())) if key in known):
        if short := kind.falls_short(draft.largest):
            yield f"{kind.name}: {kind.counting} {short}"
