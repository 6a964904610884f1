"""What racwire sends at most in a session of guided troubleshooting, in sentences: for the consent."""

from __future__ import annotations

from checks.model.settings import Settings


def consent_sentences(settings: Settings) -> tuple[str, ...]:
    """Return what is sent at most, what it does not disturb, and what shows it in full."""
    budget = settings.investigate
    return (
        "racwire sends small numbers of datagrams and pings between the private addresses of the cluster's own nodes: "
        f"in one session at most {budget.seconds:.0f} s and {budget.datagrams:,} datagrams, at most 500 a second, to "
        "one receiver at a time.",
        "It stops by itself where the database loses more blocks than before, where a kernel drops packets for want of "
        "room, or where a private path is silent. Packets of its own that are lost are results.",
        "It changes nothing. `racwire plan investigate` lists all that is read and sent.",
    )
