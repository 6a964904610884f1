"""`racwire lab switch` and `racwire lab hand`: the switches of the practice cluster, and hands at their cables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from racwire_lab.lab_errors import LabUsageError

if TYPE_CHECKING:
    from racwire_lab import Lab

ABOUT = """\
A port silently drops frames larger than its MTU, in both directions, as a real
switch does.

show COMMAND prints what a switch of Cisco (NX-OS) prints, with the counters of
the practice switch: interface, interface counters errors, queuing interface,
policy-map interface, access-lists, mac address-table, spanning-tree, vpc,
port-channel summary, lacp counters. Each private network has a switch. As on a
real one, totals are those of years: what counts is what is added.

--prioritise N needs `racwire lab up --rate 1g`: the first N packets of each TCP
or UDP flow leave a port before the others, and so do the first N after a pause
of 8 ms.
Fragments have no ports; those of two addresses count as one flow."""

EXAMPLES = """\
racwire lab switch
racwire lab switch rac2-eth1 mtu 1500
racwire lab switch all mtu 9216
racwire lab switch show interface Ethernet1/2 --network eth2
racwire lab switch show interface counters errors
racwire lab switch show mac address-table --second
racwire lab switch --prioritise 20
racwire lab switch --prioritise off"""

HAND_ABOUT = """\
The links of these nodes go down for a moment. A fault of a cable goes with the
cable, that of a port stays behind, that of a NIC stays with its node."""

HAND_EXAMPLES = """\
racwire lab hand swap-cable rac2 rac3 --network eth2
racwire lab hand move-port rac2
racwire lab hand member-down 2
racwire lab hand back
racwire lab hand"""

_NETWORK_HELP = "private network of the switch: 1 or eth1, 2 or eth2 (default eth2)"
_BACK = "back"


def add_options(switch: argparse.ArgumentParser, hand: argparse.ArgumentParser) -> None:
    """Add the options of both commands."""
    switch.add_argument(
        "words", metavar="WORD", nargs="*", help="PORT mtu BYTES: change the MTU of a port such as rac2-eth1, or of "
        "all; show COMMAND: show what a switch shows",
    )  # fmt: skip
    switch.add_argument("--network", metavar="N", help=_NETWORK_HELP)
    switch.add_argument("--second", action="store_true", help="show the second switch, which a fault connected")
    switch.add_argument(
        "--prioritise", metavar="N", help="let the first N packets of each flow leave first, or off: none"
    )
    hand.add_argument(
        "words", metavar="WORD", nargs="*",
        help="swap-cable NODE NODE: exchange their cables; move-port NODE: move its cable to a free port; member-down "
        "1|2: disable a link of the aggregation; back: take the last one back; nothing: list",
    )  # fmt: skip
    hand.add_argument("--network", metavar="N", help=_NETWORK_HELP)


def switch_lines(lab: Lab, args: argparse.Namespace) -> Iterator[str]:
    """Yield what `racwire lab switch` prints. Raises LabUsageError for words that mean nothing."""
    from racwire_lab.status import port_lines
    from racwire_lab.switch.commands import answer

    if args.words[:1] == ["show"]:
        yield answer(lab.read_switch(args.network, second=args.second), args.words[1:]).removesuffix("\n")
        return
    if args.words:
        if len(args.words) != 3 or args.words[1] != "mtu" or not args.words[2].isdecimal():
            raise LabUsageError("The command needs a port and its MTU: `racwire lab switch rac2-eth1 mtu 9216`.")
        lab = lab.set_port_mtu(args.words[0], int(args.words[2]))
    if args.prioritise is not None:
        lab = lab.prioritise(args.prioritise)
    yield from port_lines(lab)


def hand_lines(lab: Lab, args: argparse.Namespace) -> Iterator[str]:
    """Yield what `racwire lab hand` prints. Raises LabUsageError for an act that is not possible."""
    if args.words == [_BACK]:
        last = lab.hands[-1] if lab.hands else None
        lab.hand_back()
        yield f"Taken back: {last}."
    elif args.words:
        act, *words = args.words
        yield f"Done: {lab.hand(act, words, args.network).hands[-1]}. To take it back: `racwire lab hand back`."
    else:
        yield from [f"{hand}" for hand in lab.hands] or ["No hand is at the switch."]
