"""Tables of the facts for the HTML page: Clusterware, nodes, networks, interfaces with the MTU of each layer,
instances, settings, versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from checks.model.facts import (
    Activity,
    Cluster,
    Clusterware,
    Database,
    Instance,
    Interface,
    KeptMtu,
    Node,
    NotAsked,
    Unknown,
)
from checks.model.report import Report
from checks.model.settings import Settings
from checks.model.wording import continued
from checks.report.quantities import speed


@dataclass(frozen=True)
class Sheet:
    """A table of the page. The first cell of each row is the row's heading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def cluster_sheets(cluster: Cluster) -> tuple[Sheet, ...]:
    """Return the tables of the cluster's facts, without the empty ones."""
    made = (
        _clusterware(cluster.clusterware),
        _nodes(cluster),
        _networks(cluster),
        _interfaces(cluster),
        _database(cluster.database),
        _instances(cluster),
    )
    return tuple(sheet for sheet in made if sheet.rows or sheet.notes)


def _clusterware(clusterware: Clusterware | Unknown) -> Sheet:
    title, columns = "Clusterware", ("", "")
    if isinstance(clusterware, Unknown):
        return Sheet(title, columns, (), (clusterware.reason,))
    version, haip, home = clusterware.version, clusterware.haip, clusterware.grid_home
    rows = [
        ("Cluster", _known(clusterware.cluster_name)),
        ("Grid home", f"{home.path} ({home.named_by})"),
        ("Heartbeat", f"a node is evicted after {clusterware.misscount_s} s without it"),
    ]
    if isinstance(clusterware.misscount_s, Unknown):
        rows[-1] = ("Heartbeat", _known(clusterware.misscount_s))
    if isinstance(version, Unknown):
        rows.append(("Version", _known(version)))
    else:
        rows.append(("Version", f"{version.version}, {_known(version.upgrade_state)}"))
        rows.append(("Patch level", _known(version.patch_level)))
    if isinstance(haip, Unknown):
        rows.append(("HAIP", _known(haip)))
    else:
        rows.append(("HAIP", f"{haip.state} on {haip.server}" if haip.present else "not present"))
    return Sheet(title, columns, tuple(rows))


def _nodes(cluster: Cluster) -> Sheet:
    title, columns = "Nodes", ("Node", "Kernel", "Read by", "At the next boot")
    if isinstance(cluster.nodes, Unknown):
        return Sheet(title, columns, (), (cluster.nodes.reason,))
    rows, notes = [], []
    for node in cluster.nodes:
        if isinstance(node, Node):
            setup = cluster.setup(node.name)
            services = ", ".join(setup.network_services) if setup else ""
            here = f"{node.read_by} (racwire ran here)" if node.name == cluster.local_node else node.read_by
            rows.append((node.name, node.kernel_release, here, services))
            notes += [f"Not read: {part.reason}" for part in (*node.unread, *(setup.unread if setup else ()))]
        else:
            rows.append((node.name, "", "not read", ""))
            notes.append(f"{node.name} could not be read: {continued(node.reason)}")
    return Sheet(title, columns, tuple(rows), tuple(dict.fromkeys(notes)))


def _networks(cluster: Cluster) -> Sheet:
    title, columns = "Private networks", ("Network", "Interface", "MTU", "Named by", "Ports")
    if isinstance(cluster.networks, Unknown):
        return Sheet(title, columns, (), (cluster.networks.reason,))
    rows = [
        (n.name, n.interface, _known(n.mtu), n.named_by, ", ".join(f"{p.node} {p.ip}" for p in n.ports))
        for n in cluster.networks
    ]
    return Sheet(title, columns, tuple(rows))


def _interfaces(cluster: Cluster) -> Sheet:
    columns = (
        "Interface",
        "Private network",
        "MTU",
        "At the next boot",
        "Driver maximum",
        "Link",
        "Kind",
        "Addresses",
        "MAC",
    )
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    ports = {(port.node, port.interface): network.name for network in networks for port in network.ports}
    rows = [
        (
            f"{node.name} {interface.name}",
            ports.get((node.name, interface.name), ""),
            str(interface.mtu),
            _boot_mtu(cluster, node.name, interface.name),
            str(interface.max_mtu) if isinstance(interface.max_mtu, int) else "",
            ", ".join(_link(interface)),
            _kind(interface),
            ", ".join(f"{a.ip}/{a.prefix_length}" for a in interface.addresses),
            interface.mac_address,
        )
        for node in cluster.read_nodes()
        for interface in node.interfaces
        if interface.kind != "loopback"
    ]
    routes = [
        f"The route to {route.destination} on {node.name} has an MTU of its own: {route.mtu}."
        for node in cluster.read_nodes()
        for route in node.routes
        if route.mtu is not None
    ]
    return Sheet("Interfaces of every layer", columns, tuple(rows), tuple(routes))


def _boot_mtu(cluster: Cluster, node: str, interface: str) -> str:
    setup = cluster.setup(node)
    configured = setup.kept_mtu(interface) if setup else None
    if not isinstance(configured, KeptMtu):
        return ""
    if configured.mtu is None:
        return "not set"
    return str(configured.mtu) if isinstance(configured.mtu, int) else "not known"


def _link(interface: Interface) -> Iterator[str]:
    yield "up" if interface.is_up else interface.operational_state or "down"
    if isinstance(interface.speed_mbps, int):
        yield speed(interface.speed_mbps)


def _kind(interface: Interface) -> str:
    parts = [interface.kind]
    if interface.members:
        parts.append(f"of {', '.join(interface.members)}")
    if interface.parent:
        parts.append(f"on {interface.parent}")
    if interface.master:
        parts.append(f"in {interface.master}")
    return " ".join(parts)


def _database(database: Database | Unknown | NotAsked) -> Sheet:
    title, columns = "Database", ("", "")
    if not isinstance(database, Database):
        return Sheet(title, columns, (), (database.reason,))
    container = f", container {database.container}" if database.is_multitenant else ""
    rows = (
        ("Database", f"{database.name} {database.version}{container}"),
        ("Role", f"{database.role}, {database.open_mode}"),
        ("Connected", f"to {database.reached} as {database.user}, with {database.driver}"),
        *([("Login", database.login_warning)] if database.login_warning else []),
        ("Block size", f"{database.block_size_bytes} bytes" if database.block_size_bytes else "not known"),
    )
    return Sheet(title, columns, rows)


def _instances(cluster: Cluster) -> Sheet:
    title, columns = "Instances", ("Instance", "Node", "Version", "Up since", "Interconnects in use")
    database = cluster.database
    if not isinstance(database, Database):
        return Sheet(title, columns, ())
    rows = [
        (i.name, i.host, i.version, i.startup_time.replace("T", " "), _uses(database, i)) for i in database.instances
    ]
    notes = [f"{i.name} could not be queried: {continued(i.reason)}" for i in database.unasked]
    if isinstance(cluster.activity, Activity):
        notes += [f"{gap.view}: {gap.reason}" for gap in cluster.activity.unread]
    return Sheet(title, columns, tuple(rows), tuple(notes))


def _uses(database: Database, instance: Instance) -> str:
    if isinstance(database.interconnects, Unknown):
        return _known(database.interconnects)
    return ", ".join(f"{use.name} {use.ip}" for use in database.interconnects if use.instance == instance.number)


# --- settings and versions --------------------------------------------------------------------------------------------


def settings_sheets(report: Report) -> tuple[Sheet, Sheet]:
    """Return the settings that differ from their defaults, and all settings. Where the report has no settings, both
    have only the thresholds."""
    defaults = msgspec.to_builtins(Settings())
    used: dict[str, Any] = report.settings or {"thresholds": msgspec.structs.asdict(report.cluster.thresholds)}
    rows = [
        (f"{section}.{name}" if name else section, _value(value) or "empty", _default(defaults, section, name, value))
        for section, values in used.items()
        for name, value in _named(values)
    ]
    changed_rows = tuple(row for row in rows if row[2])
    notes = () if changed_rows else ("All known settings have their default values.",)
    changed = Sheet("Settings that are not the default", ("Setting", "In use", "Default"), changed_rows, notes)
    return changed, Sheet("All settings", ("Setting", "In use"), tuple(row[:2] for row in rows))


def _named(values: Any) -> Iterable[tuple[str, Any]]:
    return values.items() if isinstance(values, dict) else (("", values),)


def _default(defaults: dict[str, Any], section: str, name: str, value: Any) -> str:
    of_section = defaults.get(section)
    if not isinstance(of_section, dict) or name not in of_section:
        return ""
    default = of_section[name]
    return "" if _value(default) == _value(value) else _value(default) or "empty"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return ", ".join(f"{k}: {_value(v)}" for k, v in value.items()) if isinstance(value, dict) else str(value)


def versions_sheet(report: Report) -> Sheet:
    """Return the versions of racwire and of the software that the report was made with."""
    known = {"racwire": report.racwire_version, **report.versions}
    return Sheet("Made with", ("", ""), tuple(known.items()))


def _known(fact: object) -> str:
    """Return the text of a fact, or the reason why it is not known."""
    return f"not known: {continued(fact.reason)}" if isinstance(fact, Unknown) else str(fact)
