"""`racwire fleet PATH…`: many clusters by their saved files, the worst first."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.document import Handout, chosen_output
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.options import add_output_options, add_quiet_option
from tui.cli.report_formats import FORMATS, chosen_format, refuse_terminal
from tui.cli.streams import print_message

if TYPE_CHECKING:
    from checks.fleet.fleet_index import FleetIndex
    from checks.fleet.fleet_overview import Fleet

_FORMATS = ("text", "html", "json")
_NEVER = "never"
_EPILOG = """\
PATH is a saved file (`racwire save`), a report as JSON, or a directory of them;
the directories in it are searched, too. racwire reads what each file says, as
it was judged then; `racwire open FILE` judges a file again.
What no file has examined since is not known any more: that is no better than
what it was. The same holds for a cluster whose newest file is old.
The index in ~/.cache/racwire has what was in each file, so that the next run
reads only new ones. Nothing is written where the files are.

examples:
  racwire fleet /srv/racwire
  racwire fleet /srv/racwire --cluster prodrac
  racwire fleet /srv/racwire -o fleet.html --force
  racwire fleet */night.racwire --old 8d --format json

exit codes, those of the newest file of each cluster: 0 pass, 1 warnings, 2
failures, 3 not known, or a file could not be read; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Show many clusters by their saved files: the worst first, cause, since when."
    parser.epilog = _EPILOG
    which = parser.add_argument_group("which files")
    which.add_argument("paths", nargs="+", metavar="PATH", help="saved files, or directories of them")
    which.add_argument("--cluster", metavar="NAME", help="one cluster: its history, and how to open its newest file")
    which.add_argument(
        "--old",
        default="2d",
        metavar="TIME",
        help="age from which a newest file says nothing of the present: 36h, 8d, never (default 2d)",
    )
    index = which.add_mutually_exclusive_group()
    index.add_argument("--index", metavar="FILE", help="use this index (default: in ~/.cache/racwire)")
    index.add_argument("--no-index", action="store_true", help="read every file, and write no index")
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=_FORMATS, help="format (default: by the name of FILE, else text)")
    add_output_options(output)
    add_quiet_option(output)


def run(args: argparse.Namespace) -> int:
    """Print or write the fleet, and return the exit code. Raises UsageError for a wrong command line."""
    from checks.fleet.fleet_overview import exit_code

    form = chosen_format(args, _FORMATS)
    output = chosen_output(args)
    refuse_terminal(form, output)
    old_s = None if args.old == _NEVER else seconds_of(args.old, "--old")
    named = [Path(path) for path in args.paths]
    for path in named:
        if not _is_there(path):
            raise UsageError(f"There is no {path}: name a saved file, or a directory of saved files.")
    fleet = _read(named, args, old_s)
    if not fleet.clusters and not fleet.read.unread:
        print_message(
            f"There is no saved file in {', '.join(args.paths)}; `racwire save FILE` writes one on a node of a cluster."
        )
    if args.cluster is not None:
        fleet = _one_cluster(fleet, args.cluster)
    return _handout(form.name, fleet, is_one=args.cluster is not None).deliver(
        output, exit_code(fleet), quiet=args.quiet
    )


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except PermissionError:
        return True  # reading it says why
    except (OSError, ValueError):
        return False
    return True


def _read(named: Sequence[Path], args: argparse.Namespace, old_s: float | None) -> Fleet:
    """Read all files. Raises UsageError where there are too many, or the index that the operator names is none."""
    from checks.fleet.fleet_files import FleetFiles, TooManyFilesError
    from checks.fleet.fleet_overview import fleet_of
    from checks.model.wording import counted
    from checks.run.versions import versions
    from tui.cli.progress import progress_line

    with _index(args) as index, progress_line(sys.stderr.isatty() and not args.quiet) as progress:
        files = FleetFiles(named, index)
        try:
            files.read_all(lambda number, of: progress.alongside(f"{number:,} of {of:,} files read"))
        except TooManyFilesError as error:
            raise UsageError(str(error)) from None
        except KeyboardInterrupt:
            kept = "" if index is None else " The index has them: the next run goes on from there."
            print_message(f"Interrupted after {counted(files.read.files, 'file')}.{kept}")
            raise
    if files.why_no_index and not args.quiet:
        print_message(f"{files.why_no_index} Every file was read.")
    from datetime import datetime

    now = datetime.now().astimezone()
    return fleet_of(files.files, read=files.read, now=now, old_s=old_s, racwire_version=versions()["racwire"])


@contextlib.contextmanager
def _index(args: argparse.Namespace) -> Iterator[FleetIndex | None]:
    """The index, or None. Raises UsageError where the operator names a file that is none."""
    from checks.fleet.fleet_index import FleetIndex, IndexFileError, usual_place

    if args.no_index:
        yield None
        return
    try:
        index = FleetIndex(Path(args.index) if args.index else usual_place(), is_named=bool(args.index))
    except IndexFileError as error:
        if args.index:
            raise UsageError(f"--index: {error}") from None
        if not args.quiet:
            print_message(f"{error} Every file is read.")
        yield None
        return
    with contextlib.closing(index):
        yield index


def _one_cluster(fleet: Fleet, name: str) -> Fleet:
    """The fleet with the clusters of one name alone. Raises UsageError where there is none."""
    from msgspec.structs import replace

    from checks.model.wording import few, nearest

    found = tuple(cluster for cluster in fleet.clusters if name in (cluster.name, *cluster.names_before))
    if found:
        return replace(fleet, clusters=found)
    names = [cluster.name for cluster in fleet.clusters]
    meant = nearest(name, names)
    hint = f"did you mean {meant}?" if meant else f"the files are of {few(names)}."
    raise UsageError(f"--cluster: no file is of {name}; {hint}")


def _handout(form: str, fleet: Fleet, *, is_one: bool) -> Handout:
    ending = FORMATS[form].ending
    if form == "json":
        from checks.fleet.fleet_overview import to_json

        return Handout("fleet", lambda: to_json(fleet), ending=ending)
    if form == "html":
        from checks.fleet.fleet_page import to_html

        return Handout("fleet", lambda: to_html(fleet), ending=ending)
    from tui.cli.document import as_file
    from tui.cli.fleet_text import cluster_text, fleet_text

    text = cluster_text if is_one else fleet_text
    return Handout(
        "fleet", lambda: as_file(lambda plain: text(fleet, plain)), lambda stream: text(fleet, stream), ending
    )
