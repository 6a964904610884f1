"""What racwire asks before a step that needs a consent of its own. These texts decide nothing."""

from __future__ import annotations

from checks.model.investigation import SessionStep
from checks.model.sense_steps import DROPS_STEP, OPTICS_STEP
from checks.model.wording import listed


def consent_text(step: SessionStep) -> str:
    """Return what a step switches on or asks, where and for how long, as sentences."""
    nodes = listed(step.place.to or step.place.nodes)
    match step.declared:
        case name if name == DROPS_STEP:
            return (
                f"racwire watches for {step.price.seconds:g} s why the kernel of {nodes} drops packets, in a tracing "
                f"instance of its own (1 MB, at most 5,000 events a second), and sends {step.price.packets} datagrams "
                "to it meanwhile. A process of its own switches the instance off and removes it, also where racwire "
                f"is killed. It needs {step.price.rights}."
            )
        case name if name == OPTICS_STEP:
            return (
                f"racwire runs `ethtool -m` for the NICs of {listed(step.place.networks)} on each node, once: it reads "
                "the transceivers over their own slow bus, and changes nothing. It needs root on these nodes."
            )
        case _:
            return ""
