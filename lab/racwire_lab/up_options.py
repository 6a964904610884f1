"""The options of `racwire lab up`, and the cluster that they describe."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from racwire_lab.cluster.cluster import Lab
from racwire_lab.cluster.database_kinds import DEFAULT_KIND, KINDS
from racwire_lab.cluster.hypervisors import ALL_NODES
from racwire_lab.cluster.lifecycle import up
from racwire_lab.cluster.profiles import DEFAULT_PROFILE, PROFILES
from racwire_lab.cluster.topology import (
    DATABASE,
    DATABASE_VERSIONS,
    FRAGMENT_S,
    HAIP_AFTER_S,
    IPC_TIMEOUT_S,
    LLDP,
    MISSCOUNT_S,
    MIXED,
    NETWORK_SERVICES,
    SWITCH_MTU,
)

UP_EXAMPLES = """\
racwire lab up
racwire lab up --nodes 4 --mtu 1500 --switch-mtu 1500
racwire lab up --rate 1g
racwire lab up --hypervisor rac2
racwire lab up --like hardened
racwire lab up --database-kind standby
racwire lab up --no-database"""


def add_up_options(up_: argparse.ArgumentParser) -> None:
    """Add the options of `racwire lab up`."""
    up_.add_argument(
        "--like",
        choices=PROFILES,
        default=DEFAULT_PROFILE,
        help=f"what the nodes are like: see above (default {DEFAULT_PROFILE})",
    )
    nodes = up_.add_argument_group("nodes and networks")
    nodes.add_argument("--nodes", type=int, default=2, metavar="N", help="number of nodes: 2 to 16 (default 2)")
    nodes.add_argument(
        "--mtu", type=int, metavar="BYTES", help="MTU of the private networks (default 9000; exadata-like: 2300)"
    )
    nodes.add_argument(
        "--switch-mtu",
        type=int,
        default=SWITCH_MTU,
        metavar="BYTES",
        help=f"MTU of the switch ports on the private networks (default {SWITCH_MTU}); see `racwire lab switch`",
    )
    nodes.add_argument(
        "--rate",
        default="",
        metavar="RATE",
        help="rate of the switch ports in both directions, except on management networks: 100m, 1g, 10g ... "
        "(default: as fast as this machine)",
    )
    nodes.add_argument(
        "--keeper",
        choices=(*NETWORK_SERVICES, MIXED),
        help="network service whose files configure the nodes: NetworkManager's keyfiles, ifcfg, systemd-networkd, or "
        f"each of them in turn (default {NETWORK_SERVICES[0]}; ifcfg on exadata-like, old-ol7 and minimal)",
    )
    nodes.add_argument(
        "--lldp",
        choices=LLDP,
        default=LLDP[0],
        help="lldpd on the nodes: none, closed (only root may query it) or open (default none)",
    )
    nodes.add_argument(
        "--spare-network",
        action="store_true",
        help="add a network on eth3 that Clusterware does not know: to rehearse racwire change new add-network",
    )
    nodes.add_argument(
        "--storage",
        action="store_true",
        help="add a storage server on eth3, from which the nodes mount: packets as with NFS over TCP",
    )
    nodes.add_argument(
        "--hypervisor",
        metavar="NODE",
        nargs="?",
        const=ALL_NODES,
        default=[],
        action="append",
        help="put the private NICs of this node behind a hypervisor's bridge, or of all nodes without NODE; repeatable",
    )
    for option, name, seconds, effect in (
        ("--misscount", "misscount_s", MISSCOUNT_S, "without a network heartbeat after which CSS evicts a node"),
        ("--haip-after", "haip_after_s", HAIP_AFTER_S, "without a link after which a HAIP moves to another NIC"),
        ("--ipc-timeout", "ipc_timeout_s", IPC_TIMEOUT_S, "without a message after which an instance logs a timeout"),
    ):
        nodes.add_argument(
            option, dest=name, type=float, default=seconds, metavar="S", help=f"seconds {effect} (default {seconds:g})"
        )
    nodes.add_argument(
        "--fragment-time",
        type=int,
        default=FRAGMENT_S,
        metavar="S",
        help="seconds after which a node drops and counts an incomplete datagram: net.ipv4.ipfrag_time "
        f"(default {FRAGMENT_S}, as on a real node)",
    )
    database = up_.add_argument_group("database")
    database.add_argument("--no-database", action="store_true", help="start the nodes and their networks only")
    database.add_argument(
        "--database-version", choices=DATABASE_VERSIONS, help="version of the database (default 19c; 12.1 on old-ol7)"
    )
    database.add_argument(
        "--database-kind",
        metavar="KIND",
        choices=KINDS,
        default=DEFAULT_KIND,
        help=f"{'; '.join(f'{kind.name}: {kind.summary}' for kind in KINDS.values())} (default {DEFAULT_KIND})",
    )
    database.add_argument(
        "--second-database", action="store_true", help="add crm, a single-instance database on the first node"
    )
    database.add_argument(
        "--db-unique-name", default=DATABASE, metavar="NAME", help=f"DB_UNIQUE_NAME (default {DATABASE})"
    )
    database.add_argument(
        "--db-domain",
        default="",
        metavar="DOMAIN",
        help="DB_DOMAIN, such as example.com, which is part of the service names (default: none)",
    )


def up_as(args: argparse.Namespace, progress: Callable[[str], None]) -> Lab:
    """Start the cluster of the parsed options, or find it; see `up`."""
    return up(
        args.nodes,
        args.mtu,
        progress,
        database=not args.no_database,
        database_version=args.database_version,
        keeper=args.keeper,
        switch_mtu=args.switch_mtu,
        db_unique_name=args.db_unique_name,
        db_domain=args.db_domain,
        like=args.like,
        lldp=args.lldp,
        db_kind=args.database_kind,
        has_second=args.second_database,
        misscount_s=args.misscount_s,
        haip_after_s=args.haip_after_s,
        ipc_timeout_s=args.ipc_timeout_s,
        has_spare=args.spare_network,
        has_storage=args.storage,
        rate=args.rate,
        fragment_time_s=args.fragment_time,
        hypervisor=args.hypervisor,
    )
