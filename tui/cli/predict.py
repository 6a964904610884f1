"""`racwire predict`: what another MTU or block size would change here, from the cluster's own counters."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from checks.model.exit_codes import ExitCode
from tui.cli.document import Document, chosen_output
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.options import add_document_options, add_live_options, refuse_check_options
from tui.cli.scratch import ScratchDirectory
from tui.cli.streams import exit_past_hung_threads, print_message

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from checks.predict.prediction import Prediction
    from checks.whole_files import OutputFile

_USUAL_S = 30.0
_LEAST_MTU, _MOST_MTU = 576, 65_520
_BLOCKS = (2048, 4096, 8192, 16_384, 32_768)
"""The block sizes of Oracle, in bytes (Database Reference, db_block_size)."""
_EPILOG = """\
racwire reads the counters of all nodes and instances for 30 s, or takes them
from a recording, and calculates what the same load would need at another MTU.
It sends nothing. Every number has its formula, its inputs and its interval.

examples:
  racwire predict --mtu 9000                 measure for 30 s, then predict
  racwire predict --mtu 9000 --for 5m --connect scan:1521/prod --user racwire
  racwire predict --mtu 9000 before.rec      from a recording
  racwire predict --mtu 9000 --multiblock 128 before.rec
  racwire predict --mtu 1500 --format json after.rec

exit codes: 0 predicted; 3 nothing could be predicted: nothing was sampled, or
the cluster is idle; 64 usage, or FILE cannot be read; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Predict what another MTU would change on this cluster, and send nothing."
    parser.epilog = _EPILOG
    what = parser.add_argument_group("prediction")
    what.add_argument("--mtu", type=int, required=True, metavar="MTU", help="the MTU of all private interfaces")
    what.add_argument(
        "--block-size", metavar="SIZE", help="database block size, such as 16k (default: that of the database, else 8k)"
    )
    what.add_argument(
        "--multiblock", type=int, metavar="N", help="db_file_multiblock_read_count (default: that of the database)"
    )
    add_live_options(parser, "a recording (default: measure now)", nargs="?")
    output = parser.add_argument_group("output")
    add_document_options(output)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Predict, print, and return the exit code. Raises UsageError for a wrong option or an unreadable FILE."""
    refuse_check_options(args)
    if not _LEAST_MTU <= args.mtu <= _MOST_MTU:
        raise UsageError(f"--mtu: {args.mtu} is no MTU; it must be between {_LEAST_MTU} and {_MOST_MTU}.")
    if args.multiblock is not None and args.multiblock < 1:
        raise UsageError("--multiblock: the count must be 1 or more.")
    if args.file is not None and (args.for_time is not None or hasattr(args, "every") or args.probe):
        raise UsageError("--for, --every and --probe are for a live measurement: leave them out with a recording.")
    if args.probe:
        raise UsageError("predict sends nothing: leave out --probe.")
    block = _block_of(args.block_size) if args.block_size else None
    for_s = seconds_of(args.for_time, "--for") if args.for_time is not None else _USUAL_S
    output = chosen_output(args)
    if args.file is not None:
        prediction = _predicted(Path(args.file), args, block)
    else:
        with ScratchDirectory() as directory:
            file = directory / "load.rec"
            if not _measure(file, args, settings, for_s):
                print_message("interrupted; nothing was predicted.")
                return exit_past_hung_threads(ExitCode.INTERRUPTED)
            prediction = _predicted(file, args, block)
    code = _deliver(prediction, args, output)
    return code if args.file is not None else exit_past_hung_threads(code)


def _block_of(text: str) -> int:
    number, unit = (text[:-1], 1024) if text[-1:] in "kK" else (text, 1)
    size = int(number) * unit if number.isascii() and number.isdigit() else 0
    if size not in _BLOCKS:
        raise UsageError(f"--block-size: {text!r} is no block size of Oracle; use 2k, 4k, 8k, 16k or 32k.")
    return size


def _predicted(file: Path, args: argparse.Namespace, block: int | None) -> Prediction:
    """Return the prediction from a recording. Raises UsageError where it cannot be read."""
    from contextlib import closing

    from checks.predict.measured_load import load_of
    from checks.predict.predicting import predict
    from checks.traffic.recording import Recording, RecordingError

    try:
        with closing(Recording.open(file)) as recording:
            return predict(load_of(recording), args.mtu, block_bytes=block, multiblock=args.multiblock)
    except RecordingError as error:
        raise UsageError(str(error)) from None


def _measure(file: Path, args: argparse.Namespace, settings: Settings, for_s: float) -> bool:
    """Record for `for_s` seconds. Return whether the time was not interrupted."""
    from functools import partial

    from checks.model.wording import lasting
    from checks.traffic.discovery import growing_cluster
    from checks.traffic.feed import Feed
    from checks.traffic.header import header_now, still_unknown
    from checks.traffic.recorder import Recorder
    from tui.cli.password import password_of
    from tui.cli.sampling import run_sampling, sample
    from tui.cli.sampling_status import SamplingStatus
    from tui.cli.status_line import StatusLine
    from tui.console.batch_writer import BatchWriter, record

    password = password_of(settings.database)
    header = header_now(still_unknown(settings), settings, interval_s=settings.traffic.interval_s)
    recorder = Recorder.create(file, header)
    line = StatusLine(quiet=args.quiet)
    status = SamplingStatus(line.print, line.announce)
    line.print(f"reading the counters for {lasting(for_s)}; nothing is sent. Ctrl-C stops.")
    try:
        ending = run_sampling(
            sample(
                Feed(settings, password=password, share=status.sampled_by),
                growing_cluster(settings, password=password),
                BatchWriter(partial(record, recorder), 1.0),
                on_item=status,
                for_s=for_s,
            )
        )
    finally:
        line.clear()
    recorder.close()
    return not ending.interrupted


def _deliver(prediction: Prediction, args: argparse.Namespace, output: OutputFile | None) -> int:
    import msgspec

    from tui.cli.output import columns_of, render
    from tui.cli.predict_text import prediction_lines

    def text(stream: TextIO) -> str:
        return render(prediction_lines(prediction, columns_of(stream, narrowest=80, widest=120)), stream)

    def json() -> bytes:
        return msgspec.json.format(msgspec.json.encode(prediction), indent=2) + b"\n"

    is_known = any(one.name.startswith("packets in") for one in prediction.estimates)
    code = ExitCode.PASS if is_known else ExitCode.COULD_NOT_TELL
    return Document("prediction", args.format, json=json, text=text).deliver(output, code)
