"""Change the running cluster from one desired state to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from racwire_lab.cluster import (
    alert_logs,
    clusterware,
    counted_faults,
    databases,
    far_end,
    foreign_hosts,
    frame_counters,
    holders,
    hypervisors,
    live_faults,
    node_programs,
    port_faults,
    port_queues,
    second_hosts,
    ssh_logins,
    stack,
    storage_server,
    wiring,
)
from racwire_lab.cluster.desired import Desired, desired
from racwire_lab.cluster.drop_rules import DropRule, ruleset
from racwire_lab.cluster.host_faults import HostChange, HostState, write_rings
from racwire_lab.cluster.processes import LabJob, Process, into, run_all
from racwire_lab.cluster.state import State
from racwire_lab.cluster.topology import PortId

_CHANGES_WHAT_WAS_LEARNT = ("foreign", "hosts", "second", "switch_steps")
"""The parts of a state, with the NICs, whose change makes the nodes' entries of neighbours and routes wrong."""


@dataclass(frozen=True)
class RunningCluster:
    """The processes that the network of the cluster consists of."""

    directory: Path
    rootless: bool
    init: Process
    nodes: dict[str, Process]
    routers: dict[PortId, Process]
    hypervisors: dict[str, Process]

    def in_switch(self, lines: Iterable[str]) -> LabJob:
        """Return the job that runs these ip commands in the switch's namespace."""
        return self._batch(self.init, lines, "set up the practice switch")

    def in_node(self, node: str, lines: Iterable[str]) -> LabJob:
        """Return the job that runs these ip commands in a node's namespace."""
        return self._batch(self.nodes[node], lines, f"set up the network of {node}")

    def in_router(self, port: PortId, lines: Iterable[str]) -> LabJob:
        """Return the job that runs these ip commands in a router's namespace."""
        return self._batch(self.routers[port], lines, f"set up the router before {port.name}")

    def in_hypervisor(self, node: str, lines: Iterable[str]) -> LabJob:
        """Return the job that runs these ip commands in the namespace of a node's hypervisor."""
        return self._batch(self.hypervisors[node], lines, f"set up the hypervisor of {node}")

    def rules(self, holder: Process, family: str, rules: tuple[DropRule, ...]) -> LabJob:
        """Return the job that replaces all nft rules of a namespace. Rules that only count may be impossible here."""
        command = ["nft", "--file", "-"]
        if not any(rule.drops for rule in rules):
            command = ["sh", "-c", "nft --file - 2>/dev/null || true"]
        argv = [*into(holder, "net", rootless=self.rootless), *command]
        return LabJob(argv, ruleset(family, rules), "set the packet filter")

    def reassembly(self, node: str, size_bytes: int) -> LabJob:
        """Return the job that sets a node's memory for the reassembly of fragments."""
        # Old kernels refuse a lower limit above the upper one: the lower limit becomes 0 first and gets its value last.
        low, high = "ipfrag_low_thresh", "ipfrag_high_thresh"
        script = (
            f"cd /proc/sys/net/ipv4; echo 0 >{low} && echo {size_bytes} >{high} && echo {size_bytes * 3 // 4} >{low}"
        )
        argv = [*into(self.nodes[node], "mount", "net", rootless=self.rootless), "sh", "-c", script]
        return LabJob(argv, "", f"set the reassembly memory of {node}")

    def _batch(self, holder: Process, lines: Iterable[str], purpose: str) -> LabJob:
        argv = [*into(holder, "net", rootless=self.rootless), "ip", "-batch", "-"]
        return LabJob(argv, "".join(f"{line}\n" for line in lines), purpose)


def running_cluster(directory: Path, state: State) -> RunningCluster:
    """Return the processes of a saved cluster."""
    return RunningCluster(directory, state.rootless, state.init, state.nodes, state.routers, state.hypervisors)


def desired_of(state: State) -> Desired:
    """Return the desired state of a saved cluster."""
    return desired(
        state.shape, state.faults, state.port_mtus, state.blocks_per_s, state.prioritised_packets, state.hands
    )


def build(running: RunningCluster, target: Desired) -> None:
    """Build the network of a new cluster, without faults. Raises LabError when a command fails."""
    ports = [line for port in target.nics for line in _new_port(running, target, port)]
    run_all([running.in_switch([*wiring.bridges(target.networks), *ports])])
    run_all(running.in_hypervisor(node, _hidden_ports(running, target, node)) for node in running.hypervisors)
    run_all(
        running.in_node(
            node,
            ["link set lo up", *_new_nics(target, node)],
        )
        for node in running.nodes
    )
    run_all(
        job
        for node, holder in running.nodes.items()
        for job in frame_counters.counting_job(node, holder, target.nics, rootless=running.rootless)
    )
    if target.switch_rules:
        run_all([running.rules(running.init, "bridge", target.switch_rules)])
    queues = port_queues.QueueChange(running.init, running.nodes, frozenset(), target.queues, running.rootless)
    run_all(queues.added())
    hosts = [
        HostChange(running.directory, node, running.nodes[node], running.rootless, HostState(), host)
        for node, host in target.hosts.items()
    ]
    run_all(job for host in hosts for job in host.made(has_haip=False))
    _wire(running, target, [port for port, cable in target.cables.items() if cable.uplink_mtu])
    _start_storage(running, target)
    _write_states(running, target)


def _is_hidden(running: RunningCluster, target: Desired, port: PortId) -> bool:
    return port.node in running.hypervisors and target.networks[port.network].private


def _new_port(running: RunningCluster, target: Desired, port: PortId) -> list[str]:
    if _is_hidden(running, target, port):
        return hypervisors.new_uplink(port, target.cables[port].bridge, running.hypervisors[port.node].pid)
    return wiring.new_port(port, target.cables[port].bridge, target.nics[port], running.nodes[port.node].pid)


def _hidden_ports(running: RunningCluster, target: Desired, node: str) -> list[str]:
    ports = [port for port in target.nics if port.node == node and _is_hidden(running, target, port)]
    return [line for p in ports for line in hypervisors.hidden_port(p, target.nics[p], running.nodes[node].pid)]


def _new_nics(target: Desired, node: str) -> list[str]:
    nics = [(target.networks[port.network], nic) for port, nic in target.nics.items() if port.node == node]
    return [line for network, nic in nics for line in wiring.new_nic(network, nic)]


def change(running: RunningCluster, before: Desired, after: Desired) -> dict[PortId, Process]:
    """Change the cluster from one state to the other. Return the routers that run afterwards.

    Raises LabError when a command fails.
    """
    # The kernel may lack packet filters. Their rules come first: if they fail, nothing has been changed yet.
    _change_rules(running, before, after)
    live = live_faults.AlternationChange(
        running.directory, running.init, running.nodes, before.alternations, after.alternations, running.rootless
    )
    live.end()
    halves = {trunk.second for trunk in {*before.trunks} ^ {*after.trunks}}
    recabled = [
        port
        for port, cable in after.cables.items()
        if before.cables[port] != cable or halves.intersection((cable.bridge, before.cables[port].bridge))
    ]
    removed = [line for port in recabled for line in wiring.unwire(port, before.cables[port])]
    if before.trunks != after.trunks:
        removed += [*wiring.join(before.trunks), *wiring.split(after.trunks)]
    strangers = tuple(host for host in after.foreign if host not in before.foreign)
    removed += foreign_hosts.ended(running.directory, tuple(h for h in before.foreign if h not in after.foreign))
    removed += foreign_hosts.made(strangers)
    noise = foreign_hosts.NoiseChange(
        running.directory, running.init, running.nodes, before.noisy, after.noisy, running.rootless
    )
    second = second_hosts.SecondHostChange(
        running.directory, running.init, before.second, after.second, running.rootless
    )
    removed += [*noise.removed(), *noise.added(), *second.removed(), *second.added(wiring.bridge)]
    removed += [off for on, off in reversed(before.switch_steps) if off and (on, off) not in after.switch_steps]
    removed += [on for on, off in after.switch_steps if (on, off) not in before.switch_steps]
    if removed:
        run_all([running.in_switch(removed)])
    routers = _change_routers(running, before, after)
    running = replace(running, routers=routers)
    hosts = _host_changes(running, before, after)
    haips = {change.node: stack.is_running(running.directory, change.node, "cssd") for change in hosts}
    counted = counted_faults.CountedChange(
        running.directory, running.init, running.nodes, before.grown_files, after.grown_files, running.rootless
    )
    run_all(
        far_end.changes(
            running.directory, running.nodes, before.interpreters, after.interpreters, rootless=running.rootless
        )
    )
    queues = port_queues.QueueChange(running.init, running.nodes, before.queues, after.queues, running.rootless)
    counted.remove()
    run_all(queues.removed())
    run_all(job for change in hosts for job in change.ended(has_haip=haips[change.node]))
    _change_nics(running, before, after)
    counted.add()
    run_all(queues.added())
    run_all(job for change in hosts for job in change.made(has_haip=haips[change.node]))
    run_all(
        running.reassembly(node, size_bytes)
        for node, size_bytes in after.reassembly_bytes.items()
        if before.reassembly_bytes[node] != size_bytes
    )
    _wire(running, after, recabled)
    if before.storage and before.storage != after.storage:
        storage_server.end(running.directory, before.storage)
        run_all([running.in_switch(storage_server.unlink_lines())])
        _start_storage(running, after)
    run_all(ssh_logins.missing_keys(running.directory, after.logins))
    _write_states(running, after)
    run_all(
        ssh_logins.restarts(running.directory, running.nodes, before.logins, after.logins, rootless=running.rootless)
    )
    # Nobody announces a MAC address that a hypervisor does not know: the others keep the old one until it expires.
    changed = {port for port, nic in after.nics.items() if nic != before.nics[port]}
    is_learnt = any(getattr(before, part) != getattr(after, part) for part in _CHANGES_WHAT_WAS_LEARNT)
    if recabled or changed - (after.unknown_macs - before.unknown_macs) or is_learnt:
        jobs = [running.in_node(node, wiring.forget()) for node in running.nodes]
        jobs += [running.in_router(port, wiring.forget()) for port in routers]
        run_all(jobs)
    run_all(foreign_hosts.programs(running.directory, running.init, strangers, rootless=running.rootless))
    run_all([*noise.programs(), *second.programs(), *live.programs()])
    return routers


def _start_storage(running: RunningCluster, target: Desired) -> None:
    if server := target.storage:
        run_all([running.in_switch(storage_server.link_lines(server))])
        run_all(storage_server.start(running.directory, server, running.init, running.nodes, rootless=running.rootless))


def _host_changes(running: RunningCluster, before: Desired, after: Desired) -> list[HostChange]:
    return [
        HostChange(running.directory, node, running.nodes[node], running.rootless, before.hosts[node], host)
        for node, host in after.hosts.items()
        if before.hosts[node] != host
    ]


def _change_routers(running: RunningCluster, before: Desired, after: Desired) -> dict[PortId, Process]:
    """End the routers whose cable changes, and start the missing ones."""
    routers = dict(running.routers)
    for port, cable in before.cables.items():
        if cable != after.cables[port] and port in routers:
            routers.pop(port).kill()
    for port, cable in after.cables.items():
        if cable.router and port not in routers:
            routers[port] = holders.spawn(running.directory, running.init, "router", rootless=running.rootless)
    return routers


def _change_nics(running: RunningCluster, before: Desired, after: Desired) -> None:
    steps: dict[str, list[str]] = {}
    for port, nic in after.nics.items():
        if nic != before.nics[port]:
            has_haip = stack.is_running(running.directory, port.node, "cssd")
            steps.setdefault(port.node, []).extend(wiring.changed_nic(before.nics[port], nic, has_haip=has_haip))
    run_all(running.in_node(node, lines) for node, lines in steps.items())


def _wire(running: RunningCluster, after: Desired, recabled: Iterable[PortId]) -> None:
    wired = [
        (port, wiring.wire(port, after.cables[port], running.routers[port].pid if port in running.routers else None))
        for port in recabled
    ]
    if wired:
        run_all([running.in_switch(line for _, lines in wired for line in lines)])
    run_all(
        running.in_router(port, wiring.route(router))
        for port, _ in wired
        if (router := after.cables[port].router) is not None
    )


def _change_rules(running: RunningCluster, before: Desired, after: Desired) -> None:
    jobs = []
    if before.switch_rules != after.switch_rules:
        jobs.append(running.rules(running.init, "bridge", after.switch_rules))
    if before.prioritised_packets != after.prioritised_packets:
        argv = [*into(running.init, "net", rootless=running.rootless), "nft", "--file", "-"]
        priorities = port_queues.priority_ruleset(after.networks, tuple(after.nics), after.prioritised_packets)
        jobs.append(LabJob(argv, priorities, "set the priorities of the switch"))
    for node, rules in after.node_rules.items():
        if before.node_rules[node] != rules:
            jobs.append(running.rules(running.nodes[node], "inet", rules))
    for node, rules in after.hypervisor_rules.items():
        if before.hypervisor_rules[node] != rules:
            jobs.append(running.rules(running.hypervisors[node], "bridge", rules))
    run_all(jobs)


def _write_states(running: RunningCluster, target: Desired) -> None:
    clusterware.write_answers(running.directory, target)
    stack.write_haips(running.directory, target)
    node_programs.write_neighbours(running.directory, target)
    alert_logs.follow(running.directory, target.past_lines)
    write_rings(running.directory, target.hosts)
    port_faults.write_optics(running.directory, target.optics)
    frame_counters.write_answers(running.directory, target.frame_names)
    databases.apply_state(running.directory, target)
    for node, login in target.logins.items():
        ssh_logins.set_login(running.directory, node, login)
