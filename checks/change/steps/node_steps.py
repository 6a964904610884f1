"""The steps of a change of one node's MTU: that node alone is stopped, the others keep running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from checks.change.plan.block_packets import full_size
from checks.change.plan.change_plan import ChangeKind, Gate, PlannedDatabase, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.progress.wanted import NODE_UP
from checks.change.steps import backup_commands, before, other_systems, outage, people, stack_commands
from checks.change.steps.draft import Draft, briefly
from checks.change.steps.recording_commands import for_time
from checks.change.steps.restarts import databases_on, start_instance, stop_instance
from checks.model.own_command import VERIFY, joined
from checks.model.shell_command import shell
from checks.model.wording import listed

SERVICES = "services-elsewhere"
"""The id of the step that moves the services away, and of its gate."""
_CAUSES = "MOS 563566.1, causes 5 and 12"
_PATHS = (Gate("df-ping"), Gate("one-byte-more"))
_SET_BACK = "{node} gets its old MTU and files back while Clusterware is down there; the other nodes keep running."
_NOT_AGAIN = "Passed: {node} runs with the MTU of the others, and another MTU there is a change of its own."
_NO_WAY_BACK = "There is no rollback: the node runs with the MTU of the others again."
_RELOCATE = (
    "PATH=$PATH:{home}/bin; if ! srvctl status service -d {name} -s {service} | grep -qwF -e {new}; then srvctl "
    "relocate service -d {name} -s {service} -oldinst {old} -newinst {new}; fi"
)
_POLICY = "A policy-managed database: -currentnode and -targetnode instead of -oldinst and -newinst."
_AWAY = f"-drain_timeout (12.2 and later) gives sessions time to leave. {_POLICY}"
_NOT_PASSED = "None beyond that of stack down: {node} can get its old MTU back before Clusterware starts there."


def _changed(step: Step, **fields: object) -> Step:
    return msgspec.structs.replace(step, **fields)


def _of_node(draft: Draft) -> Draft:
    """Return the draft as if the cluster had the changed node only: for the commands of that node."""
    return replace(draft, nodes=(draft.node,))


def _others(draft: Draft) -> tuple[str, ...]:
    return tuple(node for node in draft.nodes if node != draft.node)


def _stay(draft: Draft) -> tuple[Gate, ...]:
    """Return the gates by which the other nodes keep running, and the node stays down, until it may start again."""
    return (
        Gate("stack-down", nodes=(draft.node,), until=NODE_UP),
        Gate("autostart-off", nodes=(draft.node,), until=NODE_UP),
        Gate("stack-up", nodes=_others(draft), until=NODE_UP),
    )


def mtus(draft: Draft) -> tuple[Gate, ...]:
    """Return the gates of the MTU: on every node now, and in the files of the changed one."""
    return Gate("running-mtu", until="end"), Gate("kept-mtu", nodes=(draft.node,), until="end")


def agree(draft: Draft) -> Step:
    """Return the step that agrees on the stop of one node."""
    node = draft.node
    names = listed(f"{database.instances[node]} of {database.name}" for database in databases_on(draft, node))
    alone = listed(one.name for one in databases_on(draft, node) if len(one.instances) == 1)
    return Step(
        id="agree",
        title="agree",
        what=f"Agree on a window in which {node} is out of the cluster{f', with {names}' if names else ''}. "
        f"{briefly(_others(draft))} keep running and take its load. Inform the DBAs, the owners of the applications "
        "and the network team." + (f" {alone} is down meanwhile: it has no other instance." if alone else ""),
        why=f"{node} alone has another MTU than the others. Their MTU stays as it is, so nothing has to be stopped "
        f"there. To change an MTU while Clusterware runs on its node evicts nodes ({_CAUSES}).",
        commands=tuple(other_systems.questions(draft)),
        expected="Every person who can veto the change has agreed to it.",
        attest=f"The DBAs, the application owners and the network team agreed to the window without {node}. The other "
        f"nodes can carry its load. {other_systems.ANSWERED}{other_systems.storage(draft)}",
        attest_asks="who agreed, and the time of the window",
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def baseline(draft: Draft) -> Step:
    """Return the step that records the load while the node still has another MTU."""
    node = draft.node
    return _changed(
        before.baseline(draft),
        what=f"Record {for_time(draft.record_s)} of the usual load, with {node} as it is. Choose a load that you can "
        "repeat after the change: the same job, the same users.",
        why=f"It shows the losses while {node} has another MTU: the same load afterwards shows that they have ended.",
        # The change mends what these figures show.
        gates=(Gate("baseline-recording"),),
    )


def backups(draft: Draft) -> Step:
    """Return the step that saves the files of the node."""
    return _changed(
        before.backups(_of_node(draft)),
        what=f"Save the cluster's registry (OCR) once. On {draft.node}, save its own registry (OLR), its network "
        "files, its addresses and routes, and the GPnP profile.",
        expected=f"An OCR backup of today, and {', '.join(backup_commands.BACKUP_FILES)} in "
        f"{backup_commands.backup_directory(draft.id)} on {draft.node}.",
        gates=(Gate("backups-made", nodes=(draft.node,)),),
    )


def console_access(draft: Draft) -> Step:
    """Return the step that ensures access to the node without the private network."""
    step = people.console_access(_of_node(draft))
    return _changed(
        step,
        what=f"Log in on the console of {draft.node} (ILOM, iDRAC, iLO, or the console of the hypervisor) and stay "
        "logged in. Make sure that your own ssh sessions use the public network.",
        gates=(Gate("ssh-apart", nodes=(draft.node,)),),
    )


def services_elsewhere(draft: Draft) -> Iterator[Step]:
    """Yield the step that moves the services of the node to other nodes; nothing where no instance runs there."""
    node = draft.node
    if not databases_on(draft, node):
        return
    yield Step(
        id=SERVICES,
        title="services elsewhere",
        what=f"Make every service that {node} offers run on another node too, and let the sessions on {node} end.",
        why=f"{node} is stopped next. A service that no other node offers would be down with it.",
        commands=tuple(relocate(draft)),
        expected=f"Each database of {node} runs on another node, which offers each service of {node}.",
        gates=(Gate(SERVICES, nodes=(node,), until=NODE_UP), Gate("stack-up", nodes=_others(draft))),
        if_rolled_back="The services are moved back. Nothing was stopped.",
        no_return="None: the services can be moved back.",
    )


def relocate(draft: Draft, *, back: bool = False) -> Iterator[Commands]:
    """Yield the commands that move each service which the node alone offers to the next instance, or back."""
    for database in databases_on(draft, draft.node):
        target = next((name for node, name in database.instances.items() if node != draft.node), None)
        own = database.instances[draft.node]
        if target is None:
            continue
        old, new = (target, own) if back else (own, target)
        lines = tuple(
            shell(_RELOCATE, home=draft.home(draft.first), name=database.name, service=service, old=old, new=new)
            for service in _only_here(draft, database)
        )
        if lines:
            yield Commands(Who.DATABASE_OWNER, lines, draft.first, _POLICY if back else _AWAY, database.name)


def _only_here(draft: Draft, database: PlannedDatabase) -> tuple[str, ...]:
    """Return the services that the node offered and no other one when the plan was made."""
    places = database.services or ()
    elsewhere = {service for service, node in places if node != draft.node}
    return tuple(dict.fromkeys(service for service, node in places if node == draft.node and service not in elsewhere))


def stack_down(draft: Draft) -> Step:
    """Return the step that stops the instances and Clusterware on the node, and disables its autostart."""
    node, home = draft.node, draft.home(draft.node)
    is_back = draft.kind is ChangeKind.ROLLBACK
    others = briefly(_others(draft))
    is_up = node not in draft.down
    databases = databases_on(draft, node)
    stops = (
        *(_stop(draft, database) for database in databases),
        stack_commands.stop(node, home, databases),
    )
    return Step(
        id="stack-down",
        title="stack down",
        what=f"On {node} only: disable the autostart of Clusterware, stop the instances, then stop Clusterware. Leave "
        f"{others} running.",
        why=f"An MTU may change only while Clusterware is down on its node. With the autostart enabled, {node} would "
        f"join the cluster at its next boot, before its paths are proved ({_CAUSES}).",
        commands=(stack_commands.disable(node, home), *(stops if is_up else ())),
        expected=f"Nothing of Clusterware and no instance runs on {node}; `crsctl config crs` prints disabled there. "
        f"Clusterware is up on {others}, with the MTU of before.",
        gates=(
            *_stay(draft),
            *(
                (Gate("running-mtu", nodes=_others(draft)),)
                if is_back
                else (Gate("mtu-untouched"), Gate("other-users", nodes=(node,)))
            ),
        ),
        if_rolled_back=f"Clusterware is started on {node} again with its old MTU, and its autostart is enabled.",
        no_return=f"The stop of the first instance of {node}. The other nodes keep the databases open.",
    )


def _stop(draft: Draft, database: PlannedDatabase) -> Commands:
    """Return the command that stops the instance of the node, with what is to be written down before."""
    block = stop_instance(draft, database, draft.node)
    maybe = outage.MAYBE_STOPPED if draft.kind is ChangeKind.ROLLBACK else ""
    return msgspec.structs.replace(block, note=joined(stack_commands.recorded(database), block.note, maybe))


def set_mtu(draft: Draft) -> Step:
    """Return the step that sets the MTU of the others on every layer of the node, now and for the next boot."""
    node, is_back = draft.node, draft.kind is ChangeKind.ROLLBACK
    mtu = listed(dict.fromkeys(str(layer.mtu_after) for layer in draft.layers_of(node) if layer.role == "port"))
    step = outage.set_mtu(_of_node(draft))
    return _changed(
        step,
        what=f"Set the private interfaces of {node} {'back to' if is_back else 'to'} MTU {mtu}, with all interfaces "
        "below them (bond, VLAN parent, members), now and for the next boot. Change no other node.",
        why=f"`ip link set` acts at once, but its effect is lost at the next boot: {node} would come back with another "
        "MTU. The public interfaces are not changed.",
        commands=tuple(msgspec.structs.replace(block, others_run=True) for block in step.commands),
        expected=f"Every private interface of {node} has MTU {mtu}, and its files set "
        f"{'what they set before' if is_back else 'this MTU, too'}. The other nodes have the MTU of before.",
        gates=mtus(draft),
        if_rolled_back=_SET_BACK.format(node=node),
        no_return=_NOT_PASSED.format(node=node),
    )


def survives_boot(draft: Draft) -> Step:
    """Return the step that reboots the node, to verify that its files set the MTU at boot."""
    node = draft.node
    note = f"Reboot only {node}, with Clusterware down there. The reboot ends your session on it."
    return _changed(
        outage.survives_boot(_of_node(draft)),
        what=f"Reboot {node}.",
        commands=(Commands(Who.ROOT, ("reboot",), node, note),),
        expected=f"{node} comes back with MTU {draft.after} on every private interface, and without Clusterware.",
        gates=(Gate("rebooted", nodes=(node,)),),
        if_rolled_back=_SET_BACK.format(node=node),
        no_return=_NOT_PASSED.format(node=node),
    )


def prove_paths(draft: Draft) -> Step:
    """Return the step that sends full-size packets between the node and all others, on every private network."""
    node = draft.node
    bonds = tuple(block for block in outage.prove_paths(draft).commands if block.node == node and not block.optional)
    return _changed(
        outage.prove_paths(draft),
        what=(
            "Run ",
            VERIFY,
            f": it sends packets of the full {draft.after} bytes in both directions between {node} and every other "
            f"node, and between the others, on every private network. If {node} has a bond, verify again with each of "
            "its members down in turn.",
        ),
        why=f"The switch port of {node} was never tested with packets of this size: its NIC refused them. A port that "
        "drops them must be found before Clusterware starts there (MOS 563566.1, cause 5).",
        commands=(*_by_hand(draft), *bonds),
        expected=f"Every packet of {draft.after} bytes arrives. The sender's own kernel refuses one byte more. "
        f"Meanwhile {node} counts no failed reassembly, no full receive buffer and no drop of the CPU backlog.",
        gates=(*_PATHS, Gate("quiet-counters", nodes=(node,)), Gate("mtu-consistency")),
        if_rolled_back=_SET_BACK.format(node=node),
        no_return=_NOT_PASSED.format(node=node),
    )


def _by_hand(draft: Draft) -> Iterator[Commands]:
    """Yield the pings from the node to each other node, and those of each other node to it."""
    pairs = [(draft.node, other) for other in _others(draft)]
    for source in draft.nodes:
        lines = [
            shell(outage.PING, size=full_size(network.mtu_after, here), source=here, target=there)
            for network in draft.networks
            for one, other in (*pairs, *((b, a) for a, b in pairs))
            if one == source and (here := network.addresses.get(one)) and (there := network.addresses.get(other))
        ]
        if lines:
            yield Commands(Who.ANY_USER, tuple(lines), source, purpose="to test by hand", optional=True)


def node_up(draft: Draft) -> Step:
    """Return the step that starts Clusterware on the node."""
    node, is_back = draft.node, draft.kind is ChangeKind.ROLLBACK
    haip = (Gate("haip-path"),) if draft.has_haip else ()
    why = (
        f"{node} ran with this MTU before the change, and loses large packets again. If it does not join, that is why: "
        f"leave it down, and override the gate with that reason ({_CAUSES})."
        if is_back
        else "A node that cannot exchange full-size packets with the running nodes hangs in ora.cssd STARTING and does "
        "not join (MOS 563566.1). A switch port that was lowered in the meantime must be found before an instance "
        "sends blocks through it."
    )
    return Step(
        id=NODE_UP,
        title="node up",
        what=(
            f"Start Clusterware on {node}. Wait until it is fully up: the start continues for some minutes after the "
            "prompt returns. Then run ",
            VERIFY,
            "." if is_back else ": it sends full-size packets on every path again, before an instance starts there.",
        ),
        why=why,
        commands=(stack_commands.start(node, draft.home(node)),),
        expected="Clusterware is up on every node."
        + ("" if is_back else f" Every packet of {draft.after} bytes arrives on every path."),
        gates=(Gate("stack-up", until="end"), *(() if is_back else (*_PATHS, *haip))),
        if_rolled_back=f"Until Clusterware runs on {node}: {_SET_BACK.format(node=node)} Later there is no rollback.",
        no_return=f"The start of Clusterware on {node}: from there on, another MTU of {node} is a change of its own.",
    )


def instances(draft: Draft) -> Iterator[Step]:
    """Yield the step that enables the autostart and starts the instances and services of the node."""
    node = draft.node
    databases = databases_on(draft, node)
    is_starting = node not in draft.not_starting
    if not databases and not is_starting:
        return
    enable = (stack_commands.enable(node, draft.home(node)),) if is_starting else ()
    services = (Gate("services-up"),) if any(database.services for database in databases) else ()
    pluggables = (Gate("pdbs-open"),) if any(database.pluggables for database in databases) else ()
    yield Step(
        id="instances",
        title="instances",
        what=" ".join(
            (
                *((f"Enable the autostart of Clusterware on {node} again.",) if is_starting else ()),
                *((f"Start the instances of {node}, and move its services back.",) if databases else ()),
            )
        ),
        why=f"Clusterware is up on {node}: its instances may serve again.",
        commands=(
            *enable,
            *(start_instance(draft, database, node) for database in databases),
            *relocate(draft, back=True),
        ),
        expected=f"Every instance and service that ran on {node} before runs again.",
        gates=(
            *((Gate("autostart-on", nodes=(node,), until="end"),) if is_starting else ()),
            *((Gate("instances-up"), *services, *pluggables) if databases else ()),
        ),
        if_rolled_back=_NO_WAY_BACK,
        no_return=_NOT_AGAIN.format(node=node),
    )


def again_in_use(step: Step, draft: Draft) -> Step:
    """Return a step after the start of the node, from which there is no rollback."""
    return _changed(step, if_rolled_back=_NO_WAY_BACK, no_return=_NOT_AGAIN.format(node=draft.node))


def sign_off(draft: Draft) -> Step:
    """Return the step that verifies everything once more and signs the change off."""
    node = draft.node
    return _changed(
        people.sign_off(draft),
        expected=f"{node} has the MTU of {'before the change' if draft.kind is ChangeKind.ROLLBACK else 'the others'}, "
        "now and for the next boot. Clusterware is up on every node. The report is filed with the change.",
        gates=(Gate("running-mtu"), Gate("kept-mtu", nodes=(node,)), Gate("stack-up")),
        if_rolled_back=_NO_WAY_BACK,
        no_return=_NOT_AGAIN.format(node=node),
    )
