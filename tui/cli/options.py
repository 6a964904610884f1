"""The options that several commands share, in groups; those that go over a setting are declared here and only here.

The top-level help lists them, so this module loads nothing but the standard library. The type of a value and its
limits are those of the setting that `Option.place` names, see `checks/model/settings.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError

if TYPE_CHECKING:
    from checks.model.settings import Settings

UNSET = argparse.SUPPRESS
"""The default of options that may stand before the command: the command's own must not overwrite what is said there."""
ENTERED = "RACWIRE_ENTERED_BY_LAB"
"""In the environment where `--lab` led into the practice cluster: what is to be typed next has to say it again."""


class Option(NamedTuple):
    """An option of the command line, and the setting that it goes over."""

    name: str
    place: str
    """`section.name` of the setting."""
    help: str
    metavar: str | None = None
    """None for one without a value, which sets its setting to `means`, and for one of `choices`."""
    is_repeatable: bool = False
    choices: tuple[str, ...] = ()
    means: bool = True
    reads: Callable[[str, str], float] | None = None
    """Makes the value of the text and the option's name; None where the setting takes the text. Raises UsageError."""

    @property
    def destination(self) -> str:
        """Its attribute in the parsed arguments."""
        return self.name.lstrip("-").replace("-", "_")


CLUSTER_OPTIONS = (
    Option("--grid-home", "cluster.grid_home", "the Grid Infrastructure home", "DIR"),
    Option(
        "--network",
        "cluster.networks",
        "a private network, such as 192.168.10.0/24, where there is no Clusterware to ask (repeatable)",
        "SUBNET",
        is_repeatable=True,
    ),
    Option("--peer", "cluster.peers", "another node, as ssh reaches it (repeatable)", "HOST", is_repeatable=True),
)
DATABASE_OPTIONS = (
    Option("--connect", "database.connect", "EZConnect (rac-scan:1521/prod) or a TNS alias; never a password", "WHERE"),
    Option("--user", "database.user", "log in as NAME; the password is asked for", "NAME"),
    Option("--password-file", "database.password_file", "a file of mode 0600 with the password", "FILE"),
    Option("--sysdba", "database.sysdba", "log in AS SYSDBA (the user of `racwire grants` is enough)"),
    Option("--os-auth", "database.os_authentication", "log in as / on this node, by ORACLE_HOME and ORACLE_SID"),
    Option("--thick", "database.thick", "by Oracle's client libraries: for 11.2, or what pure Python cannot"),
    Option("--oracle-home", "database.oracle_home", "the home with those libraries", "DIR"),
    Option("--wallet", "database.wallet", "a wallet's directory", "DIR"),
    Option("--tns-admin", "database.tns_admin", "the directory of tnsnames.ora", "DIR"),
)
SAMPLING_OPTIONS = (
    Option("--interval", "sampling.interval_s", "seconds between the two samples (default 30)", "S"),
    Option("--awr", "database.diagnostics_pack", "read AWR too: you say that you have the Diagnostics Pack"),
    Option("--days", "database.history_days", "days of AWR or Statspack to look at (default 7)", "N"),
)
CONSOLE_OPTIONS = (
    Option("--no-mouse", "console.mouse", "leave the mouse to the terminal", means=False),
    Option("--ascii", "console.ascii", "draw with ASCII signs only"),
    Option("--graphs", "console.graphs", "how graphs are drawn", choices=("blocks", "braille")),
)
EVERY = Option(
    "--every", "traffic.interval_s", "seconds between two samples: 1 to 60 (default 1)", "S", reads=seconds_of
)
DIRECTORY = Option("--directory", "change.directory", "where journals are (default: [change] of the settings)", "DIR")
OPTIONS = (*CLUSTER_OPTIONS, *DATABASE_OPTIONS, *SAMPLING_OPTIONS, *CONSOLE_OPTIONS, EVERY, DIRECTORY)
"""All that go over a setting."""

_SEEN_BY_ALL = (
    "--password is none: an argument is seen by every user of this machine (ps). Leave it out, and the password is "
    "asked for; or use $RACWIRE_DB_PASSWORD or --password-file FILE, and change the one that stood here."
)
_NEED_A_DATABASE = ("--user", "--password-file", "--sysdba", "--thick", "--wallet")


def add_options(options: argparse._ActionsContainer, declared: Iterable[Option]) -> None:
    """Add options that go over a setting."""
    for option in declared:
        if option.metavar is None and not option.choices:
            options.add_argument(option.name, action="store_true", default=UNSET, help=option.help)
        elif option.is_repeatable:
            options.add_argument(option.name, action="append", metavar=option.metavar, default=UNSET, help=option.help)
        else:
            options.add_argument(
                option.name, metavar=option.metavar, choices=option.choices or None, default=UNSET, help=option.help
            )


def add_cluster_options(options: argparse.ArgumentParser) -> None:
    """Add which cluster is looked at, and by which settings."""
    where = options.add_argument_group("which cluster")
    add_lab_option(where)
    add_settings_option(where)
    add_options(where, CLUSTER_OPTIONS)


def add_lab_option(options: argparse._ActionsContainer) -> None:
    """Add `--lab`."""
    options.add_argument("--lab", action="store_true", default=UNSET, help="the practice cluster (racwire lab up)")


def add_settings_option(options: argparse._ActionsContainer) -> None:
    """Add `--settings`."""
    options.add_argument(
        "--settings", metavar="FILE", default=UNSET, help="settings file (racwire settings prints one)"
    )


def add_console_options(options: argparse.ArgumentParser) -> None:
    """Add how the console looks and is worked."""
    add_options(options.add_argument_group("the console"), CONSOLE_OPTIONS)


def add_database_options(options: argparse.ArgumentParser) -> None:
    """Add which database is asked."""
    group = options.add_argument_group(
        "which database",
        "The password is asked for, or taken from $RACWIRE_DB_PASSWORD, a file or a\n"  # some helps are printed as is
        "wallet: never from an argument.",
    )
    add_options(group, DATABASE_OPTIONS)
    # Else it would be taken for the beginning of --password-file, and be repeated as a file that is not there.
    group.add_argument("--password", nargs="?", dest="no_password", default=UNSET, help=argparse.SUPPRESS)


def add_sampling_options(options: argparse.ArgumentParser) -> None:
    """Add what the checks' figures are taken from."""
    add_options(options.add_argument_group("which time the checks look at"), SAMPLING_OPTIONS)


def add_check_options(options: argparse.ArgumentParser) -> None:
    """Add all that says what the checks look at."""
    add_cluster_options(options)
    add_database_options(options)
    add_sampling_options(options)


def add_output_options(options: argparse.ArgumentParser) -> None:
    """Add where a report goes."""
    options.add_argument("-o", "--output", metavar="FILE", help="write to a file of mode 0600, whole or not at all")
    options.add_argument("--force", action="store_true", help="replace FILE if it is there")


def add_quiet_option(options: argparse.ArgumentParser) -> None:
    """Add `-q`."""
    options.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def add_live_options(options: argparse.ArgumentParser, file_help: str, nargs: str | None = None) -> None:
    """Add what `record` and `watch` share; `file_help` is of their FILE."""
    add_cluster_options(options)
    add_database_options(options)
    options.add_argument("file", metavar="FILE", nargs=nargs, help=file_help)
    options.add_argument("--for", metavar="TIME", dest="for_time", help="end after 90s, 30m, 2h or 1d (else: Ctrl-C)")
    add_options(options, (EVERY,))
    # The checks' option, which who samples may take for this one: it gets an answer of its own.
    options.add_argument("--interval", default=UNSET, help=argparse.SUPPRESS)
    options.add_argument(
        "--probe", action="store_true", help="also ping each private path at a fixed rate; it says what it will send"
    )
    options.add_argument(
        "-q", "--quiet", action="store_true", help="on stderr nothing but errors, and what --probe sends"
    )


def add_evidence_options(parser: argparse.ArgumentParser) -> None:
    """Add what a report is made of, and who may read it."""
    evidence = parser.add_argument_group(
        "the evidence",
        "With --from, thresholds and waivers are those that were saved, unless --settings is given.",
    )
    evidence.add_argument(
        "--from",
        metavar="FILE",
        dest="from_file",
        help="take the evidence from FILE (a saved file, or a report as JSON) instead of the cluster",
    )
    evidence.add_argument(
        "--redact",
        action="store_true",
        help="names and addresses become pseudonyms; names like oracle, grid, root and racwire stay",
    )
    evidence.add_argument(
        "--redaction-map",
        metavar="FILE",
        help="where pseudonyms are kept, for you alone (default: ~/.local/state/racwire/redaction.json)",
    )


def add_record_option(parser: argparse.ArgumentParser, where: str) -> None:
    """Add how long the traffic is recorded, for that form of the evidence."""
    parser.add_argument(
        "--record", metavar="TIME", help=f"how long the traffic is recorded for {where} (default 15s; 0s: not at all)"
    )


def refuse_check_options(args: argparse.Namespace) -> None:
    """Refuse the option that is for the checks' samples. Raises UsageError."""
    if hasattr(args, "interval"):
        raise UsageError("--interval is for the checks; write --every S here.")


def effective_settings(args: argparse.Namespace) -> Settings:
    """The settings file with what the command line says over it. Raises SettingsError, UsageError."""
    from checks.run.settings_file import load_settings
    from checks.run.settings_values import mistakes

    settings = load_settings(getattr(args, "settings", None))
    if hasattr(args, "no_password"):
        raise UsageError(_SEEN_BY_ALL)
    given = {option.name: getattr(args, option.destination) for option in OPTIONS if hasattr(args, option.destination)}
    for option in OPTIONS:
        if option.name in given and (given[option.name] or option not in CLUSTER_OPTIONS):
            settings = _with(settings, option, given[option.name])
    settings = _one_way_in(settings, given)
    names = {option.place: option.name for option in OPTIONS}
    for place, mistake in mistakes(settings):
        raise UsageError(f"{names.get(place, place)}: {mistake}")
    return settings


def _with(settings: Settings, option: Option, value: Any) -> Settings:
    """The settings with that value of the option. Raises UsageError."""
    import msgspec

    from checks.run.settings_file import limit_text, limits_of

    section, _, name = option.place.partition(".")
    table = getattr(settings, section)
    if value is True:
        value = option.means
    elif option.reads is not None:
        value = option.reads(value, option.name)
    try:
        # Numbers come as text; what the text may not hold is told as for the settings file.
        new = msgspec.convert({**msgspec.to_builtins(table), name: value}, type(table), strict=False)
    except msgspec.ValidationError as error:
        limits = f"must be {limits_of(type(table), name)} seconds" if option.reads else limit_text(str(error))[0]
        raise UsageError(f"{option.name} {limits}.") from None
    return msgspec.structs.replace(settings, **{section: new})


def _one_way_in(settings: Settings, given: dict[str, Any]) -> Settings:
    """The settings with the one login that the options ask for. Raises UsageError."""
    from msgspec.structs import replace

    database, sampling = settings.database, settings.sampling
    if "--os-auth" in given and "--connect" in given:
        raise UsageError("--os-auth: it logs in to the instance of this node; leave --connect out, or --os-auth.")
    if "--os-auth" in given:
        database = replace(database, connect="", user="")
    elif "--connect" in given:
        database = replace(database, os_authentication=False)
    if "--interval" in given:
        sampling = replace(sampling, interval_without_database_s=sampling.interval_s)
    alone = [name for name in _NEED_A_DATABASE if name in given]
    if alone and not database.is_set:
        raise UsageError(f"{alone[0]}: no database is named; add --connect HOST:1521/SERVICE, or --os-auth.")
    return replace(settings, database=database, sampling=sampling)
