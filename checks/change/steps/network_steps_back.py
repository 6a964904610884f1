"""The rollback of a change of the private networks, from any step: what may have been done, and what undoes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum

import msgspec

from checks.change.plan.change_plan import Gate, NetworkPart, Plan, PlannedNetwork, Registrations, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.plan.network_change import NetworkChange, address_of, network_change, shown
from checks.change.progress.state import Change
from checks.change.progress.wanted import REGISTER, STOPPED
from checks.change.steps import network_commands, network_steps, starting
from checks.change.steps.draft import Draft
from checks.change.steps.network_steps import registry_gates
from checks.model.own_command import VERIFY

_DOWN, _BACK, _DEREGISTER = "old-network-down", "networks-back", "deregister"


class _Reached(Enum):
    """How far a change of the networks may have come."""

    NOTHING = "nothing"
    STOPPED_EARLY = "stopped early"
    """A node is down before the plan registers or stops anything."""
    REGISTERED = "registered"
    STOPPED = "stopped"


def _reached(change: Change) -> _Reached:
    plan, reached = change.plan, change.reached
    stopped = any(running is False for running in change.look.running.values())
    if reached < plan.position(REGISTER):
        return _Reached.STOPPED_EARLY if stopped else _Reached.NOTHING
    return _Reached.STOPPED if stopped or reached > plan.position(STOPPED) else _Reached.REGISTERED


def draft_back(change: Change, draft: Draft) -> Draft:
    """Return the draft with the networks and layers of the rollback."""
    opened = change.opened
    is_stopped = _reached(change) is _Reached.STOPPED
    went_down = change.reached >= change.plan.position(_DOWN)
    networks = tuple(
        network for one in opened.networks for network in _network_back(one, is_stopped=is_stopped, went_down=went_down)
    )
    names = {network.name for network in networks}
    layers = tuple(layer for layer in draft.layers if not names.isdisjoint(layer.networks))
    return replace(draft, networks=networks, layers=layers)


def _network_back(network: PlannedNetwork, *, is_stopped: bool, went_down: bool) -> Iterable[PlannedNetwork]:
    """Yield a network of the rollback: the new one only where it is to be taken down."""
    match network.part:
        case NetworkPart.NEW:
            return (msgspec.structs.replace(network, until=_BACK),) if is_stopped else ()
        case NetworkPart.OLD:
            return (msgspec.structs.replace(network, until="", since=_BACK if went_down else ""),)
    return (network,)


def steps_back(change: Change, draft: Draft) -> tuple[Step, ...]:
    """Return the steps of the rollback."""
    wanted = _change_of(change.opened)
    match _reached(change):
        case _Reached.NOTHING:
            return _nothing_done(draft, wanted)
        case _Reached.STOPPED_EARLY:
            return _only_stopped(draft, wanted)
        case _Reached.REGISTERED:
            return _only_registered(draft, wanted)
    return _restarted(draft, wanted, may_lack_old=change.reached >= change.plan.position(_DEREGISTER))


def _change_of(opened: Plan) -> NetworkChange:
    before = Registrations(opened.interconnects, opened.asm_listeners)
    both = opened.step(REGISTER).registered or before
    return network_change(opened.networks, opened.layers, before, both)


def remarks_back(opened: Plan) -> tuple[str, ...]:
    """Return the sentences of the rollback about the registry."""
    return (f"The rollback ends with the lines of oifcfg from before the change: {shown(opened.interconnects)}.",)


def _nothing_done(draft: Draft, change: NetworkChange) -> tuple[Step, ...]:
    """Return the steps for a change that registered and stopped nothing: they verify exactly that."""
    return (_untouched(draft, change), network_steps.sign_off(draft, change.before))


def _only_stopped(draft: Draft, change: NetworkChange) -> tuple[Step, ...]:
    """Return the steps for a change that registered nothing, while a node was stopped all the same."""
    start, *databases = starting.all_nodes(draft)
    proofs = (*start.gates, *registry_gates(change.before))
    start = msgspec.structs.replace(start, gates=proofs, registered=change.before)
    return (start, *databases, network_steps.sign_off(draft, change.before))


def _only_registered(draft: Draft, change: NetworkChange) -> tuple[Step, ...]:
    """Return the steps for a change that may have registered the new network, and stopped nothing."""
    return (_deregister_new(draft, change, restarted=False), network_steps.sign_off(draft, change.before))


def _restarted(draft: Draft, change: NetworkChange, *, may_lack_old: bool) -> tuple[Step, ...]:
    """Return the steps for a change that may have stopped Clusterware: restart it on the old networks, then deregister.

    `may_lack_old` says whether the line of the old network may have been deleted already.
    """
    return (
        *((_register_again(draft, change),) if may_lack_old else ()),
        network_steps.stack_down(draft),
        _networks_back(draft, change),
        network_steps.first_node(draft, None),
        network_steps.other_nodes(draft, None, "end"),
        *network_steps.databases(draft),
        network_steps.interconnect(draft, None),
        _deregister_new(draft, change, restarted=True),
        network_steps.sign_off(draft, change.before),
    )


def _untouched(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that verifies that nothing was registered or stopped."""
    return Step(
        id="untouched",
        title="untouched",
        what=(
            "So far, no step of the plan registers, stops or changes anything. Run ",
            VERIFY,
            " to confirm it. No command needs to be typed on the nodes.",
        ),
        why="Another person may have started without the plan.",
        expected="oifcfg prints the lines from before the change. Clusterware is up and starts at boot.",
        gates=(
            *registry_gates(change.before),
            *(Gate(check, until="end") for check in ("network-in-place", "stack-up")),
            *starting.autostart_on(draft, until="end"),
        ),
        registered=change.before,
    )


def _register_again(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that registers the old network again, which may have been deleted."""
    return Step(
        id="register",
        title="register again",
        what="With Clusterware up on every node, register the old network again"
        + (", with its ASM listener" if change.old_listeners else "")
        + ". If a node is down, start Clusterware there first.",
        why="Clusterware starts only on registered networks, and oifcfg needs every node up to change them.",
        commands=(
            network_commands.set_interconnects(draft, change.old_lines),
            *network_commands.add_listeners(draft, change.old_listeners),
        ),
        expected=f"`oifcfg getif` also prints {shown(change.old_lines)}.",
        gates=(*registry_gates(change.both, until="stack-down"), Gate("stack-up")),
        registered=change.both,
    )


def _networks_back(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that takes the new network down and brings the old one up, while Clusterware is down."""
    up = f" Bring {change.old.name} up again, now and for the next boot." if change.old else ""
    return Step(
        id="networks-back",
        title="networks back",
        what=f"Take {change.new.name} down on every node; its files stay as they are.{up}",
        why="Clusterware starts on the registered networks whose interfaces are up. With the new interface down it "
        "starts on the old networks alone, although oifcfg still has the new line: that needs all nodes up to be "
        "deleted.",
        commands=tuple(_backs(draft, change)),
        expected=f"No node has an interface up on {change.new.name}. The old private networks are up on every node.",
        gates=(Gate("network-gone", until="deregister"), Gate("network-in-place", until="end"), Gate("df-ping")),
    )


def _backs(draft: Draft, change: NetworkChange) -> Iterator[Commands]:
    for node in draft.nodes:
        new, old = change.new_ports.get(node), change.old_ports.get(node)
        if new and change.shares_nic(node) and change.old:
            yield network_commands.of_address(new, address_of(change.old, node), up=True)
            yield network_commands.of_address(new, address_of(change.new, node), up=False)
            continue
        lines = (
            *(network_commands.down(new, for_good=False) if new else ()),
            *(network_commands.up(old, for_good=True) if old else ()),
        )
        yield Commands(Who.ROOT, lines, node)


def _deregister_new(draft: Draft, change: NetworkChange, *, restarted: bool) -> Step:
    """Return the step that deletes the new line, and leaves the new interface as it was before the change."""
    ups = [
        Commands(Who.ROOT, network_commands.up(layer, for_good=False), node)
        for node, layer in change.new_ports.items()
        if restarted and not change.shares_nic(node)
    ]
    return Step(
        id="deregister",
        title="deregister",
        what=f"Delete the line of {change.new.name} from oifcfg"
        + (", and remove its ASM listener" if change.new_listeners else "")
        + (". Then bring its interfaces up, as they were before the change." if ups else "."),
        why="Nothing uses the new network: Clusterware was "
        + ("started without it." if restarted else "not restarted since it was registered."),
        commands=(
            *network_commands.remove_listeners(draft, change.new_listeners),
            network_commands.delete_interconnects(draft, change.new_lines),
            *ups,
        ),
        expected="`oifcfg getif` prints the lines from before the change.",
        gates=(*registry_gates(change.before, until="end"), Gate("stack-up", until="end")),
        registered=change.before,
    )
