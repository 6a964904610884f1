"""The options of `racwire change new`: the kind of change, and what its plan is made from."""

from __future__ import annotations

import argparse

_REASON = "why the change is made, such as its ticket; with --despite, why the obstacle is accepted; in the report"


def add_plan_options(new: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the kind of change and the options of the plan. Return their group."""
    new.add_argument(
        "kind", nargs="?", default="", metavar="KIND", help="kind of change (default mtu; `racwire change kinds`)"
    )
    plan = new.add_argument_group("plan")
    plan.add_argument(
        "--to", type=int, metavar="MTU", help="new MTU (default 9000; 1500 where jumbo frames are configured)"
    )
    plan.add_argument(
        "--node",
        default="",
        metavar="NODE",
        help="node-mtu: the node that gets the MTU of the others (default: the one that differs)",
    )
    plan.add_argument(
        "--switch",
        action="append",
        default=[],
        metavar="KIND",
        help="kind of switch on the private networks (`racwire explain switches` lists them; repeatable)",
    )
    plan.add_argument(
        "--switch-pair",
        choices=("yes", "no"),
        default="",
        help="whether bonds end in a pair of switches (vPC, MLAG) that compares MTUs: with yes, and where it is "
        "not known, the switches are changed after the stop of Clusterware",
    )
    plan.add_argument(
        "--hypervisor",
        action="append",
        default=[],
        metavar="KIND",
        help="kind of hypervisor, where the nodes are guests; none where no virtual switch carries the private "
        "networks (default: from DMI; repeatable)",
    )
    plan.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="HOST",
        help="a host that a node may run on: each is attested (default: the hosts of each node; repeatable)",
    )
    plan.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=BYTES",
        help="receive-buffers: the new size of a buffer, such as net.core.rmem_max=16777216 (repeatable)",
    )
    plan.add_argument(
        "--restart",
        choices=("rolling", "later"),
        default="",
        help="receive-buffers: restart the instances one after the other, or in a later maintenance",
    )
    for option, name, which in (
        ("--interface", "interface", "add-network, move-network: NIC of the new private network"),
        ("--from", "from_", "move-network: NIC of the private network to leave"),
    ):
        text = f"{which}, such as eth3; eth3/192.168.12.0 where it has several subnets"
        plan.add_argument(option, dest=name, default="", metavar="NIC", help=text)
    plan.add_argument(
        "--despite",
        action="append",
        default=[],
        metavar="CODE",
        help="accept the obstacle with this code, where that is possible (repeatable; needs --reason)",
    )
    plan.add_argument("--reason", default="", metavar="TEXT", help=_REASON)
    plan.add_argument(
        "--investigation",
        nargs="?",
        const="",
        metavar="ID",
        help="the reason is how this session of `racwire investigate` ended (default: the last that has ended)",
    )
    return plan
