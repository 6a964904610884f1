"""`racwire change new`: check the whole cluster, then list the obstacles, or write the plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import datetime

from checks.change.kinds.descriptions import (
    ADD_NETWORK,
    DESCRIPTIONS,
    MOVE_NETWORK,
    MTU,
    NODE_MTU,
    RECEIVE_BUFFERS,
    RP_FILTER,
    USUAL,
    described,
)
from checks.change.kinds.larger_buffers import ReceiveBuffersRequest
from checks.change.kinds.loose_filter import RpFilterRequest
from checks.change.kinds.mtu import MtuRequest
from checks.change.kinds.network_request import NetworkRequest
from checks.change.kinds.new_network import named_network
from checks.change.kinds.node_mtu import NodeMtuRequest
from checks.change.plan.change_plan import Accepted
from checks.change.plan.obstacles import Obstacle, PlanError
from checks.change.plan.planning import ChangeRequest
from checks.change.plan.stated_network import StatedNetwork
from checks.change.progress.change_text import headline
from checks.change.session.opening import open_change
from checks.change.session.vendors_file import VendorsFileError, load_kinds
from checks.model.exit_codes import ExitCode
from checks.model.settings import Settings
from checks.model.wording import counted, listed, nearest
from checks.run.check_discovery import discover
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_text import obstacle_lines, opened_lines
from tui.cli.change.completion import open_new_change
from tui.cli.change.show import finish
from tui.cli.errors import UsageError
from tui.cli.password import password_for
from tui.cli.streams import print_message


def new(context: ChangeContext) -> int:
    """Open a change and return the exit code, 2 where an obstacle prevents it.

    Raises UsageError, ChangeError, ChangeJournalError, EndedEarlyError.
    """
    return open_plan(context, _request(context.args, context.settings))


def open_plan(context: ChangeContext, request: ChangeRequest) -> int:
    """Check the cluster, then list the obstacles, or write the plan of the request. Return the exit code.

    Raises UsageError, ChangeError, ChangeJournalError, EndedEarlyError.
    """
    args, settings = context.args, context.settings
    found = discover()
    opening = open_change(
        settings,
        found,
        request=request,
        accepted=accepted(args),
        password=password_for(settings.database, found),
        reason=reason_of(args),
    )
    try:
        session = open_new_change(opening, quiet=args.quiet).session
    except PlanError as error:
        return report_obstacles(context, error.obstacles)
    plan = session.change.plan
    code = context.print(lambda width: opened_lines(session.change, width, context.hints, path=str(session.path)))
    print_message(f"{headline(plan)}: the plan has {counted(len(plan.steps), 'step')}. Nothing was changed.")
    return finish(context, session.change, code)


def reason_of(args: argparse.Namespace) -> str:
    """Return the reason of the change: as typed, and how an investigation ended. Raises UsageError."""
    typed: str = args.reason.strip()
    if getattr(args, "investigation", None) is None:
        return typed
    from checks.report.how_found import how_found
    from checks.run.session_journal import SessionJournalError
    from checks.saved.session_run import session_named

    try:
        kept = session_named(args.investigation, is_ended=True)
    except SessionJournalError as error:
        raise UsageError(f"--investigation: {error}") from None
    if kept.record is None:
        raise UsageError(f"--investigation: {kept.problem}")
    found = how_found(kept.record, datetime.now().astimezone().tzinfo).in_short
    return f"{typed}: {found}" if typed else found


def _request(args: argparse.Namespace, settings: Settings) -> ChangeRequest:
    """What the options request. Raises UsageError for an unknown kind, or for an option of another kind."""
    kind = described(args.kind or USUAL)
    if kind is None:
        names = [one.name for one in DESCRIPTIONS]
        meant = nearest(args.kind, names)
        hint = f"did you mean {meant}?" if meant else f"the kinds are {listed(names)}: racwire change kinds"
        raise UsageError(f"racwire plans no change of the kind {args.kind!r}; {hint}")
    own = {option for one in DESCRIPTIONS for option in one.options} - {*kind.options}
    if wrong := sorted(option for option in own if getattr(args, option)):
        raise UsageError(
            f"--{wrong[0].strip('_').replace('_', '-')} does not belong to the kind of change {kind.name}."
        )
    return REQUESTS[kind.name](args, settings)


def _mtu(args: argparse.Namespace, settings: Settings) -> ChangeRequest:
    return MtuRequest(args.to, _stated(args, settings))


def _node_mtu(args: argparse.Namespace, _: Settings) -> ChangeRequest:
    return NodeMtuRequest(args.node)


def _network(args: argparse.Namespace, _: Settings) -> ChangeRequest:
    if not args.interface:
        raise UsageError("name the interface of the new network, such as --interface eth3 or eth3/192.168.12.0.")
    return NetworkRequest(named_network(args.interface), named_network(args.from_) if args.from_ else None)


def _moved_network(args: argparse.Namespace, settings: Settings) -> ChangeRequest:
    if not args.from_:
        raise UsageError("name the private network to leave, such as --from eth1 or eth1/192.168.10.0.")
    return _network(args, settings)


def _receive_buffers(args: argparse.Namespace, _: Settings) -> ChangeRequest:
    sizes: dict[str, int] = {}
    for stated in args.set:
        key, equals, size = stated.partition("=")
        if not equals or not size.strip().isdecimal():
            raise UsageError(f"--set needs KEY=BYTES, such as net.core.rmem_max=16777216, not {stated!r}.")
        sizes[key.strip()] = int(size)
    return ReceiveBuffersRequest(sizes, restarts_later=args.restart == "later")


def _rp_filter(_: argparse.Namespace, __: Settings) -> ChangeRequest:
    return RpFilterRequest()


REQUESTS: dict[str, Callable[[argparse.Namespace, Settings], ChangeRequest]] = {
    MTU.name: _mtu,
    NODE_MTU.name: _node_mtu,
    RECEIVE_BUFFERS.name: _receive_buffers,
    RP_FILTER.name: _rp_filter,
    ADD_NETWORK.name: _network,
    MOVE_NETWORK.name: _moved_network,
}
"""From the options to the request, by the name of the kind."""


def _stated(args: argparse.Namespace, settings: Settings) -> StatedNetwork:
    """What the options state about the network. Raises UsageError for a kind that is not known."""
    try:
        kinds = load_kinds(settings.change.switch_kinds)
    except VendorsFileError as error:
        raise UsageError(str(error)) from None
    stated = StatedNetwork(
        kinds,
        tuple(dict.fromkeys(args.switch)),
        args.switch_pair,
        tuple(dict.fromkeys(args.hypervisor)),
        tuple(dict.fromkeys(host.strip() for host in args.host)),
    )
    if problem := next(stated.problems(), None):
        raise UsageError(f"--switch, --hypervisor, --host: {problem.sentence} {problem.next[0].text}")
    return stated


def accepted(args: argparse.Namespace) -> tuple[Accepted, ...]:
    """The obstacles that --despite accepts, for the typed reason. Raises UsageError where the reason is missing."""
    if args.despite and not args.reason.strip():
        raise UsageError("--despite needs a reason for the report: add --reason TEXT.")
    return tuple(Accepted(code.upper(), "", args.reason.strip()) for code in args.despite)


def report_obstacles(context: ChangeContext, obstacles: tuple[Obstacle, ...]) -> int:
    """Print the obstacles, and how to accept them. Return the exit code."""
    context.print(lambda width: obstacle_lines(obstacles, width, context.hints))
    verb = "prevents" if len(obstacles) == 1 else "prevent"
    print_message(f"no {context.hints.program} was opened: {counted(len(obstacles), 'obstacle')} {verb} it.")
    if all(obstacle.acceptable for obstacle in obstacles):
        codes = " ".join(dict.fromkeys(f"--despite {obstacle.code}" for obstacle in obstacles))
        print_message(f"to accept that: {context.hints.command(f'new {codes} --reason TEXT')}")
    return ExitCode.FAILURES
