"""The step that raises the virtual switches of the hosts below guests."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.plan.change_plan import Step
from checks.change.plan.command_block import Commands, Who, as_comments
from checks.change.steps.draft import CONFIRMED, Draft, briefly
from checks.model.own_command import CHANGE, OwnCommand
from checks.model.vendors import HOST_QUESTIONS

_RUNNING = "Clusterware still runs on the guests: change one host after the other."
_STOPPED = "So Clusterware is already down at this step."


def hypervisor(draft: Draft) -> Step:
    """Return the step that raises virtual switch, port group and uplinks of every host, each host attested."""
    order = draft.hypervisor_order
    guests = tuple(draft.guests)
    hosts = briefly(draft.hosts) if draft.hosts else f"every host that {briefly(guests)} may run on"
    verb = "is a guest" if len(guests) == 1 else "are guests"
    return Step(
        id="hypervisor",
        title="hypervisor",
        what=f"{briefly(guests)} {verb}: packets pass the virtual switch of a host before any cable. Ask the operators "
        "of the hypervisor to raise the uplinks, the port group and the virtual switch of each private network to at "
        f"least {draft.largest} bytes, without the Ethernet header, on {hosts}. "
        + (f"{order.why} {_STOPPED}" if order.after_stop else _RUNNING),
        why="A guest sees neither the virtual switch nor LLDP, so racwire cannot read this layer: the step prove-paths "
        "tests it on the present hosts. A guest that moves to a host with a smaller MTU loses large packets.",
        commands=(*_commands(draft), _questions(draft)),
        expected="On every host, uplinks, port group and virtual switch of each private network show the larger MTU, "
        "also after a reboot of the host.",
        attest="On this host, the uplinks, the port group and the virtual switch of every private network carry the "
        "larger MTU.",
        attest_asks=CONFIRMED,
        attest_for=draft.hosts or tuple(f"hosts of {guest}" for guest in guests),
        if_rolled_back="The hosts may stay as they are: a larger MTU on a virtual switch does no harm.",
    )


def _commands(draft: Draft) -> Iterator[Commands]:
    for key in dict.fromkeys(draft.guests.values()):
        if kind := draft.kinds.hypervisors.get(key):
            notes = (
                kind.scope,
                kind.counting,
                kind.falls_short(draft.largest),
                *kind.hints,
                f"To look at it first: {'; '.join(kind.filled(kind.look or kind.verify))}.",
                f"To verify it afterwards: {'; '.join(kind.filled(kind.verify))}",
            )
            yield Commands(
                Who.OPERATOR,
                kind.commands,
                note=" ".join(filter(None, notes)),
                name=kind.name,
                place=kind.place,
            )


def _questions(draft: Draft) -> Commands:
    guests = [
        f"{node}: {', '.join(layer.interface for layer in draft.layers_of(node) if layer.level == 0)}"
        for node in draft.guests
    ]
    unknown = [node for node, kind in draft.guests.items() if not kind]
    note = (
        f"The kind of hypervisor of {briefly(unknown)} is not known; ",
        OwnCommand("new", "--hypervisor KIND", CHANGE),
        " names it, and `racwire explain switches` lists the kinds. If no virtual switch carries the private networks, "
        "such as with NICs that are passed through: --hypervisor none.",
    )
    lines = as_comments(*HOST_QUESTIONS, *guests)
    return Commands(Who.ASKED, lines, note=note if unknown else "", name="the operators of the hypervisor")
