"""`racwire measure KIND`: prints the plan; with `--go CLUSTER`, measures and prints the result."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TextIO

from checks.model.exit_codes import ExitCode
from tui.cli.document import Document, chosen_output
from tui.cli.errors import UsageError
from tui.cli.measure.measure_options import KINDS, add_load_options, limits_from, wanted_from
from tui.cli.measure.stored_results import SHOWN, add_stored_results, deliver_measurement, run_stored_results
from tui.cli.option import declare
from tui.cli.options import (
    add_check_options,
    add_document_options,
    add_quiet_option,
    refuse_check_options,
)
from tui.cli.streams import exit_past_hung_threads, print_message

if TYPE_CHECKING:
    from checks.measure.preparing import Prepared
    from checks.measure.testbed import Experiment
    from checks.model.measurement import Measurement
    from checks.model.settings import Settings
    from tui.cli.status_line import StatusLine
    from tui.text.line import Line

    Preparation = Callable[..., Awaitable[Prepared]]
    """Reads the cluster and plans the measurement; takes the password of the database, or None."""

_ABOUT = """\
Measure what the interconnect can carry, over the ssh that is already there.

Without --go, racwire prints what it would send, and sends nothing. With
--go CLUSTER, the name of this cluster, it measures within the limits of the
plan, and stops by itself at the first sign of harm: a lost block, a failed
reassembly, a drop, a busy CPU, or three messages in a row without an answer."""
_EXAMPLES = """\
examples:
  racwire measure sizes                 print the plan; nothing is sent
  racwire measure sizes --go practice   measure the cluster called practice
  racwire plan measure                  the program that a peer would run
  racwire measure list                  the results that are kept
  racwire measure show sizes            the newest result of a kind

"""
_CODES = """\
exit codes: 0 measured, or the plan was printed; 2 stopped by a sign of harm;
3 could not tell: disturbed, or stopped early; 64 usage, or refused;
130 interrupted."""
_DISK_S = 10.0
"""Seconds that a disk has for the result, which is then printed in any case."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the kinds and their options."""
    parser.description = _ABOUT
    parser.epilog = _EXAMPLES + _CODES
    add_check_options(parser)
    kinds = parser.add_subparsers(dest="measure_command", title="measurements", metavar="KIND")
    for name, kind in KINDS.items():
        one = kinds.add_parser(
            name,
            help=kind.help,
            description=f"Measure {kind.help}.\n\n" + _ABOUT.partition("\n\n")[2],
            epilog=f"examples:\n{kind.examples}\n\n{_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_load_options(one)
        declare(one.add_argument_group("measurement"), kind.options)
        output = one.add_argument_group("output")
        add_document_options(output)
        add_quiet_option(output)
        add_check_options(one)
    add_stored_results(kinds)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the plan, or measure and print the result, and return the exit code. Raises UsageError."""
    from checks.measure.measure_error import MeasureError
    from checks.measure.mix import Mix
    from checks.measure.preparing import prepare
    from checks.measure.storage import Storage, prepare_storage
    from checks.model.shell_command import shell
    from tui.cli.status_line import StatusLine

    if args.measure_command in SHOWN:
        return run_stored_results(args)
    refuse_check_options(args)
    if args.measure_command is None:
        raise UsageError(f"name what to measure: {', '.join(KINDS)}; see `racwire measure --help`.")
    kind = KINDS[args.measure_command]
    try:
        experiment, limits = kind.experiment(args), limits_from(args)
    except MeasureError as error:
        raise UsageError(str(error)) from None
    command = shell("racwire measure {kind}", kind=args.measure_command)
    line = StatusLine(quiet=args.quiet)
    if isinstance(experiment, Mix):
        experiment.switching = partial(_ask_for_priorities, line)
    if isinstance(experiment, Storage):
        preparation: Preparation = partial(prepare_storage, experiment, limits, settings)
        command = shell("racwire measure storage {directory}", directory=args.storage_directory)
    else:
        preparation = partial(prepare, experiment, wanted_from(args, kind.is_one_path), limits, settings)
    return carry_out(args, experiment, preparation, settings, command, line)


async def _ask_for_priorities(line: StatusLine, is_on: bool) -> None:
    """Ask a person to set the priorities of the switch, and wait for Enter. Raises HaltedError at the end of stdin."""
    from checks.measure.measure_error import HaltedError
    from tui.cli.enter_key import wait_for_enter

    line.announce(f"Set the priorities of the switch {'on' if is_on else 'off'}, then press Enter; s stops.")
    if not await wait_for_enter():
        raise HaltedError(
            "The question about the priorities of the switch had no answer: stdin has ended.", is_harm=False
        )


def carry_out(
    args: argparse.Namespace,
    experiment: Experiment,
    preparation: Preparation,
    settings: Settings,
    command: str,
    line: StatusLine | None = None,
) -> int:
    """Print the plan, or measure and print the result, and return the exit code. Raises UsageError.

    `command` is what the operator types to do the same again, without `--go`.
    """
    from checks.measure.measure_error import MeasureError, NotBegunError
    from tui.cli.own_loop import run_in_own_loop

    output = chosen_output(args)
    try:
        prepared, measurement = run_in_own_loop(_work(args, experiment, preparation, settings, line))
    except NotBegunError as error:
        print_message(str(error))
        return exit_past_hung_threads(ExitCode.INTERRUPTED)
    except MeasureError as error:
        raise UsageError(str(error)) from None
    if measurement is None:
        return exit_past_hung_threads(_print_plan(prepared, args, command))
    keep_and_say(measurement, is_quiet=args.quiet)
    return exit_past_hung_threads(deliver_measurement(measurement, args, output, exit_code_of(measurement)))


async def _work(
    args: argparse.Namespace,
    experiment: Experiment,
    preparation: Preparation,
    settings: Settings,
    line: StatusLine | None,
) -> tuple[Prepared, Measurement | None]:
    """Prepare, and measure where the name was typed. Raises MeasureError."""
    import asyncio

    from checks.measure.load_plan import agree
    from checks.measure.measuring import measure
    from checks.report.quantities import bits
    from tui.cli.interrupts import graceful_loop_stop
    from tui.cli.password import password_of
    from tui.cli.status_line import StatusLine
    from tui.cli.terminal_stop import stop_with_terminal

    line = line or StatusLine(quiet=args.quiet)
    password = password_of(settings.database)
    prepared = await preparation(password)
    if args.go is None:
        return prepared, None
    consent = agree(prepared.plan, args.go)
    stop = asyncio.Event()

    sent_bps = 0.0

    def sent(bits_per_s: float) -> None:
        nonlocal sent_bps
        sent_bps = bits_per_s

    def progress(text: str, done: int, total: int) -> None:
        rate = f"{bits(sent_bps)}, " if sent_bps else ""
        line.show(f"SENDING {rate}{text}   {done} of {total}   s stops" if total else text)

    try:
        with graceful_loop_stop(stop.set), stop_with_terminal(stop.set):
            measurement = await measure(
                consent,
                prepared,
                experiment,
                settings,
                progress=progress,
                stop=stop,
                although_loaded=args.although_loaded.strip(),
                password=password,
                sent=sent,
            )
    finally:
        line.clear()
    return prepared, measurement


def _print_plan(prepared: Prepared, args: argparse.Namespace, command: str) -> int:
    from checks.model.shell_command import shell
    from tui.text.line import hanging

    plan = prepared.plan

    def lines(width: int) -> Iterator[Line]:
        for sentence in plan.lines():
            yield from hanging([], sentence, width)
        for refusal in prepared.refusals:
            yield from hanging([], f"Refused now: {refusal.sentence} ({refusal.code})", width, "fail")
        send = f"{command}{shell(' --go {cluster}', cluster=plan.cluster or 'CLUSTER')}"
        yield from hanging([], f"Nothing was sent. To send it: {send}", width)

    def text(stream: TextIO) -> str:
        from tui.cli.output import columns_of, render

        return render(lines(columns_of(stream, narrowest=80, widest=100)), stream)

    def json() -> bytes:
        import msgspec

        load = msgspec.to_builtins(plan.load)
        body = {
            "cluster": plan.cluster,
            "kind": plan.kind,
            "paths": msgspec.to_builtins(plan.paths),
            "load": load,
            "blocks_per_s": msgspec.to_builtins(plan.blocks_per_s),
            "refusals": [{"code": one.code, "sentence": one.sentence} for one in prepared.refusals],
        }
        return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"

    return Document("plan", args.format, json=json, text=text).deliver(chosen_output(args), ExitCode.PASS)


def keep_and_say(measurement: Measurement, *, is_quiet: bool = False) -> None:
    """Keep a result, and say on stderr where it is, or why it was not kept. `is_quiet`: say only the latter."""
    from checks.run.stored_measurements import store_result
    from tui.cli.interrupts import write_interruptibly

    try:
        kept = write_interruptibly(lambda: store_result(measurement), _DISK_S)
    except TimeoutError:
        print_message(f"The result was not kept: the disk did not answer for {_DISK_S:.0f} s.")
        return
    if kept.path is None or not is_quiet:
        print_message(kept.sentence)


def exit_code_of(measurement: Measurement) -> ExitCode:
    """Return the exit code of a measurement. A drill is judged by its silences, also where the operator ended it."""
    from checks.model.drill_result import DrillOf
    from checks.model.finding import Status
    from checks.rules.drill_verdicts import drill_status

    if measurement.is_harm:
        return ExitCode.FAILURES
    result = measurement.result
    status = drill_status(result) if isinstance(result, DrillOf) else Status.PASS
    if isinstance(result, DrillOf) and status is not Status.UNKNOWN:
        codes = {Status.PASS: ExitCode.PASS, Status.WARN: ExitCode.WARNINGS}
        return ExitCode.COULD_NOT_TELL if measurement.disturbed else codes.get(status, ExitCode.FAILURES)
    if measurement.stopped == "The operator stopped it.":
        print_message("interrupted; the result has what was measured until then.")
        return ExitCode.INTERRUPTED
    is_unknown = measurement.stopped or measurement.disturbed or status is Status.UNKNOWN
    return ExitCode.COULD_NOT_TELL if is_unknown else ExitCode.PASS
