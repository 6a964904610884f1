"""Format the status of the practice cluster for `racwire lab status` and `racwire lab switch`."""

from __future__ import annotations

from textwrap import wrap

from racwire_lab import DEFAULT_PROFILE, PROFILES, SWITCH_MTU, Lab


def profile_lines() -> list[str]:
    """Return the profiles for `lab up --like`: for each its name, and below it what the nodes are like."""
    return [
        line
        for profile in PROFILES.values()
        for line in (f"  {profile.name}", *(f"    {line}" for line in wrap(profile.summary, 72)))
    ]


def status_document(lab: Lab | None) -> dict[str, object]:
    """Return the status as a JSON document: `{"up": False}` when there is no cluster."""
    if lab is None:
        return {"up": False}
    return {
        "up": True,
        "directory": str(lab.directory),
        "nodes": list(lab.nodes),
        "like": lab.like,
        "users": ["root", *lab.users],
        "mtu": lab.mtu,
        "switch": [
            {"port": port.name, "node": port.node, "interface": port.nic, "mtu": port.mtu} for port in lab.switch_ports
        ],
        "rate": lab.rate,
        "hypervisor": list(lab.behind_hypervisor),
        "prioritised_packets": lab.prioritised_packets,
        "clusterware": {node: _clusterware(lab, node) for node in lab.nodes},
        "database": lab.database
        and {
            "version": lab.database_version,
            "connect": lab.database.connect,
            "user": lab.database.user,
            "password_file": str(lab.database.password_file),
            "open_on": _open_on(lab),
        },
        "blocks_per_s": lab.blocks_per_s,
        "settings_file": str(lab.settings_file),
        "keepers": {node: lab.network_service_of(node) for node in lab.nodes},
        "remote_shell": lab.remote_shell,
        "remote_shell_reason": lab.remote_shell_reason,
        "faults": [
            {"fault": fault.fault, "node": fault.node, "network": lab.nic_of(fault.network)} for fault in lab.faults
        ],
    }


def status_lines(lab: Lab) -> list[str]:
    """Return the status as lines of text."""
    shell = "ssh" if lab.remote_shell == "ssh" else f"a stand-in for ssh, because {lab.remote_shell_reason}"
    broken = ", ".join(map(lab.described, lab.faults)) or "none"
    database = ["Database   none"]
    if lab.database:
        database = [
            f"Database   {lab.database_version}, from a node: {lab.database.connect} as {lab.database.user}",
            f"Password   in {lab.database.password_file}",
        ]
    return [
        f"Nodes      {', '.join(lab.nodes)}",
        *_profile(lab),
        f"MTU        {lab.mtu} bytes on the private networks of the healthy cluster",
        *_small_ports(lab),
        *_rate(lab),
        *([f"Hypervisor before {', '.join(lab.behind_hypervisor)}"] if lab.behind_hypervisor else []),
        f"Stack      {', '.join(_stacks(lab))}",
        *database,
        *_instances(lab),
        *_load(lab),
        f"Logins by  {shell}",
        f"Network    from {_network_files(lab)}",
        f"Settings   {lab.settings_file}",
        f"Directory  {lab.directory}",
        f"Faults     {broken}",
        *([f"Hands      {', '.join(map(str, lab.hands))}"] if lab.hands else []),
    ]


def port_lines(lab: Lab) -> list[str]:
    """Return one line for each switch port on the private networks."""
    width = max(len(port.name) for port in lab.switch_ports)
    rate = f"  {lab.rate}" if lab.rate else ""
    lines = [
        f"{port.name:<{width}}  MTU {port.mtu:>4} bytes{rate}  to {port.nic} of {port.node}"
        for port in lab.switch_ports
    ]
    if lab.prioritised_packets:
        lines.append(f"The first {lab.prioritised_packets} packets of each flow leave first.")
    return lines


def _profile(lab: Lab) -> list[str]:
    """Return a line with the profile and its users; no line for the default profile."""
    if lab.like == DEFAULT_PROFILE:
        return []
    users = f"no user but root, because {lab.no_users_reason}"
    if not lab.no_users_reason:
        users = f"users {', '.join(('root', *lab.users))}"
    return [f"Like       {lab.like}: {users}"]


def _small_ports(lab: Lab) -> list[str]:
    names: dict[int, list[str]] = {}
    for port in lab.switch_ports:
        names.setdefault(port.mtu, []).append(port.name)
    small = {mtu: ports for mtu, ports in names.items() if mtu != SWITCH_MTU}
    if not small:
        return []
    mtus = [
        f"{mtu} bytes at every port" if len(ports) == len(lab.switch_ports) else f"{mtu} bytes at {', '.join(ports)}"
        for mtu, ports in small.items()
    ]
    return [f"Switch     MTU {'; '.join(mtus)}"]


def _rate(lab: Lab) -> list[str]:
    """Return a line with the rate of the ports; no line where they have none."""
    if not lab.rate:
        return []
    first = f"; the first {lab.prioritised_packets} packets of each flow leave first" if lab.prioritised_packets else ""
    return [f"Rate       {lab.rate} at every switch port{first}"]


def _stacks(lab: Lab) -> list[str]:
    nodes: dict[str, list[str]] = {}
    for node in lab.nodes:
        nodes.setdefault(_clusterware(lab, node), []).append(node)
    if len(nodes) == 1:
        return [f"{next(iter(nodes))} on every node"]
    return [f"{state} on {' and '.join(names)}" for state, names in nodes.items()]


def _clusterware(lab: Lab, node: str) -> str:
    if lab.is_running(node, "crsd"):
        return "running"
    return "not in the cluster" if lab.is_running(node, "ohasd") else "down"


def _open_on(lab: Lab) -> list[str]:
    return [node for node in lab.nodes if lab.is_running(node, "instance")]


def _instances(lab: Lab) -> list[str]:
    """Return a line with the nodes where the database is open; no line when it is open on every node."""
    if not lab.database or (open_on := _open_on(lab)) == list(lab.nodes):
        return []
    return [f"Open on    {', '.join(open_on) or 'no node'}"]


def _load(lab: Lab) -> list[str]:
    """Return a line with the wanted load; no line for the usual one."""
    return [] if lab.blocks_per_s is None else [f"Load       {lab.blocks_per_s:,} blocks/s in all are wanted"]


def _network_files(lab: Lab) -> str:
    nodes: dict[str, list[str]] = {}
    for node in lab.nodes:
        nodes.setdefault(lab.network_service_of(node), []).append(node)
    if len(nodes) == 1:
        return f"{next(iter(nodes))} files"
    return ", ".join(f"{service} files on {' and '.join(names)}" for service, names in nodes.items())
