"""`racwire measure list` and `racwire measure show`: the results that are kept, and any other by its file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from checks.model.exit_codes import ExitCode
from tui.cli.document import Document, chosen_output, output_file
from tui.cli.errors import UsageError
from tui.cli.options import add_check_options, add_document_options
from tui.cli.streams import exit_past_hung_threads, print_message

if TYPE_CHECKING:
    from checks.model.measurement import Measurement
    from checks.run.stored_measurements import StoredMeasurement
    from checks.whole_files import OutputFile
    from tui.text.line import Line

SHOWN = ("list", "show")
"""The words after `racwire measure` that measure nothing."""
_LIST_EXAMPLES = """\
examples:
  racwire measure list                   all kept results, the newest first
  racwire measure list --format json     the same, for programs

racwire keeps the newest 100 results of each kind and cluster, as files in
measurements/ of its state directory, and deletes older ones. Copy a result that
must stay: `racwire measure show NAME --format json -o FILE`.

exit codes: 0 listed; 64 usage, or the directory cannot be read."""
_SHOW_EXAMPLES = """\
examples:
  racwire measure show sizes             the newest result of a kind
  racwire measure show sizes-20261124-050311
  racwire measure show before.json       a result in a file
  racwire measure show sizes --svg sizes.svg
  racwire measure show sizes --format json -o before.json
  racwire measure show sizes --redact --format json -o for-the-vendor.json

exit codes: 0 shown; 3 the picture could not be written; 64 usage, or RESULT
cannot be read."""


def add_stored_results(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the two commands."""
    for name, what, examples in (
        ("list", "list the results that are kept", _LIST_EXAMPLES),
        ("show", "show a result again", _SHOW_EXAMPLES),
    ):
        one = kinds.add_parser(
            name,
            help=what,
            description=f"{what.capitalize()}.\n\nNothing is sent.",
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == "show":
            one.add_argument("result", metavar="RESULT", help="a kind, the name of a kept result, or a file")
        output = one.add_argument_group("output")
        if name == "show":
            output.add_argument("--svg", metavar="FILE", help="also draw it, as an SVG file")
            output.add_argument("--redact", action="store_true", help="replace names and addresses by pseudonyms")
        add_document_options(output)
        add_check_options(one)


def run_stored_results(args: argparse.Namespace) -> int:
    """List the kept results or show one, and return the exit code. Raises UsageError."""
    from checks.run.stored_measurements import (
        MeasurementFileError,
        read_measurement,
        result_path,
        stored_measurements,
    )

    output = chosen_output(args)
    try:
        if args.measure_command == "show":
            found = read_measurement(result_path(args.result))
            code = _show(found, args, output)
        else:
            code = _deliver_list(stored_measurements(), args, output)
    except MeasurementFileError as error:
        raise UsageError(str(error)) from None
    return exit_past_hung_threads(code)


def _show(measurement: Measurement, args: argparse.Namespace, output: OutputFile | None) -> int:
    """Show a result, and draw it with --svg. Raises UsageError."""
    from checks.whole_files import OutputError, write_whole

    picture = None if args.svg is None else output_file(args.svg, args, "--svg")
    if args.redact:
        from tui.cli.redaction import redacted_result

        try:
            measurement = redacted_result(measurement)
        except OutputError as error:
            raise UsageError(str(error)) from None
    code = ExitCode.PASS
    if picture is not None:
        from checks.report.measured.drawings import picture_file

        drawn = picture_file(measurement)
        if drawn is None:
            raise UsageError(
                f"--svg: this result of the kind {measurement.kind} is not drawn; its tables have all figures."
            )
        try:
            write_whole(picture, drawn.encode())
            print_message(f"the picture is in {picture}.")
        except OutputError as error:
            print_message(str(error))
            code = ExitCode.COULD_NOT_TELL
    return deliver_measurement(measurement, args, output, code)


def deliver_measurement(
    measurement: Measurement, args: argparse.Namespace, output: OutputFile | None, code: ExitCode
) -> int:
    """Print a result, or write it to the file, and return the exit code."""
    from checks.run.stored_measurements import to_json
    from tui.cli.output import columns_of, render
    from tui.text.measurement_lines import measurement_lines

    def text(stream: TextIO) -> str:
        return render(measurement_lines(measurement, columns_of(stream, narrowest=80, widest=120)), stream)

    return Document("measurement", args.format, json=lambda: to_json(measurement), text=text).deliver(output, code)


def _deliver_list(kept: Sequence[StoredMeasurement], args: argparse.Namespace, output: OutputFile | None) -> int:
    now = datetime.now(UTC)

    def text(stream: TextIO) -> str:
        from tui.cli.output import columns_of, render

        return render(_lines(kept, now, columns_of(stream, narrowest=80)), stream)

    return Document("list", args.format, json=lambda: _json(kept, now), text=text).deliver(output, ExitCode.PASS)


def _json(kept: Sequence[StoredMeasurement], now: datetime) -> bytes:
    import msgspec

    from checks.report.measurement_headline import headline, remark

    rows = [
        {
            "name": one.path.stem,
            "file": str(one.path),
            "cluster": found.cluster if found else None,
            "node": found.node if found else None,
            "kind": found.kind if found else None,
            "mtu": sorted({path.mtu for path in found.paths}) if found else None,
            "started_at": found.started_at if found else None,
            "age_s": one.age_s(now),
            "headline": headline(found) if found else None,
            "remark": remark(found) if found else "",
            "problem": one.problem,
        }
        for one in kept
        for found in (one.measurement,)
    ]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n"


def _lines(kept: Sequence[StoredMeasurement], now: datetime, width: int) -> Iterator[Line]:
    from checks.report.measurement_headline import headline, remark
    from checks.run.directories import state_directory
    from tui.text.line import fitted, hanging

    if not kept:
        yield from hanging([], f"No result is kept in {state_directory() / 'measurements'}.", width)
        yield from hanging(
            [], "`racwire measure sizes` prints what a measurement would send, and sends nothing.", width
        )
        return
    names = max(len(one.path.stem) for one in kept)
    ages = max(3, *(len(_ago(one.age_s(now))) for one in kept))
    clusters = dict.fromkeys(one.path.parent.name for one in kept)
    for number, cluster in enumerate(clusters):
        if number:
            yield []
        yield [(f"{cluster}", "title")]
        yield [(f"  {fitted('result', names)}  {'started':<16}  {fitted('age', ages)}  {'MTU':>5}  figure", "faint")]
        for one in (own for own in kept if own.path.parent.name == cluster):
            found = one.measurement
            if found is None:
                yield from hanging([(f"  {fitted(one.path.stem, names)}  ", "")], one.problem, width, "unknown")
                continue
            started = fitted(found.started_at[:16].replace("T", " "), 16)
            start = (
                f"  {fitted(one.path.stem, names)}  {started}  {fitted(_ago(one.age_s(now)), ages)}  {_mtu(found):>5}  "
            )
            doubt = remark(found)
            figure = f"{headline(found)}{f' ({doubt})' if doubt else ''}"
            yield from hanging([(start, "")], figure, width, "warn" if doubt else "")


def _mtu(measurement: Measurement) -> str:
    """Return the MTU of all paths; empty without paths, `-` where they differ."""
    found = {path.mtu for path in measurement.paths}
    return f"{found.pop()}" if len(found) == 1 else "-" if found else ""


def _ago(seconds: float | None) -> str:
    """Return an age in its largest unit: `2 h`; nothing for one that is not known or lies in the future."""
    from checks.model.wording import lasting

    return "" if seconds is None or seconds < 0 else " ".join(lasting(seconds).split()[:2])
