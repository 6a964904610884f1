"""The options that several commands share, in groups. Every option that overrides a setting is declared here only.

The top-level help lists these options, so this module imports only the standard library. The setting that
`Option.place` names has the type and the limits of the value, see `checks/model/settings.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.option import UNSET, Option, declare

if TYPE_CHECKING:
    from checks.model.settings import Settings

ENTERED = "RACWIRE_ENTERED_BY_LAB"
"""Environment variable that `--lab` sets inside the practice cluster: the options that suggested commands must repeat,
`--lab` or `--lab --as USER`."""

TRANSITIONS = ("planned", "reboot", "halt")
"""The values of `--as` of `racwire drill node`, where it is no user of the practice cluster."""


CLUSTER_OPTIONS = (
    Option("--grid-home", "Grid Infrastructure home (default: found on this node)", "DIR", place="cluster.grid_home"),
    Option(
        "--network",
        "private network, such as 192.168.10.0/24, for a node without Clusterware (repeatable)",
        "SUBNET",
        place="cluster.networks",
        is_repeatable=True,
    ),
    Option(
        "--peer",
        "another node, by the name that ssh uses (repeatable)",
        "HOST",
        place="cluster.peers",
        is_repeatable=True,
    ),
    Option("--sudo", "run refused tools again by `sudo -n` (see `racwire plan --sudoers`)", place="cluster.sudo"),
)
DATABASE_OPTIONS = (
    Option(
        "--connect",
        "EZConnect string (rac-scan:1521/prod) or TNS alias, without a password",
        "WHERE",
        place="database.connect",
    ),
    Option("--user", "log in as NAME", "NAME", place="database.user"),
    Option(
        "--password-file",
        "read the password from FILE, which must have mode 0600",
        "FILE",
        place="database.password_file",
    ),
    Option("--sysdba", "log in AS SYSDBA (the user of `racwire grants` suffices)", place="database.sysdba"),
    Option(
        "--os-auth",
        "log in as / to the instance of ORACLE_HOME and ORACLE_SID on this node",
        place="database.os_authentication",
    ),
    Option(
        "--thick",
        "use Oracle's client libraries: for 11.2, or for logins that pure Python cannot do",
        place="database.thick",
    ),
    Option("--oracle-home", "Oracle home with the client libraries", "DIR", place="database.oracle_home"),
    Option("--wallet", "directory of the wallet", "DIR", place="database.wallet"),
    Option("--tns-admin", "directory of tnsnames.ora", "DIR", place="database.tns_admin"),
)
AWR = Option(
    "--awr", "also read AWR: you confirm that the Diagnostics Pack is licensed", place="database.diagnostics_pack"
)
SAMPLING_OPTIONS = (
    Option("--interval", "seconds between the two samples (default {default})", "S", "30", place="sampling.interval_s"),
    Option(
        "--source-ports",
        "UDP source ports for each path, at most 64 (default {default})",
        "N",
        "12",
        place="probe.source_ports",
    ),
    AWR,
    Option("--days", "days of AWR or Statspack to read (default {default})", "N", "7", place="database.history_days"),
)
CONSOLE_OPTIONS = (
    Option(
        "--no-mouse",
        "do not capture the mouse: the terminal keeps it, for selecting text",
        place="console.mouse",
        means=False,
    ),
    Option("--ascii", "draw with ASCII characters only (default: as locale and TERM demand)", place="console.ascii"),
    Option("--unicode", "draw lines and graphs, whatever locale and TERM say", place="console.ascii", means=False),
    Option(
        "--graphs",
        "characters that graphs are drawn with",
        place="console.graphs",
        choices=("auto", "blocks", "braille"),
    ),
)
EVERY = Option(
    "--every",
    "seconds between two samples: 1 to 60 (default {default})",
    "S",
    "1",
    seconds_of,
    place="traffic.interval_s",
)
LOG_OPTIONS = (
    Option(
        "--verbose",
        "print each command, file, query and probe on stderr, with its seconds and bytes",
        place="log.verbose",
        short="-v",
    ),
    Option("--log-file", "append the same to FILE, with the time; also in the console", "FILE", place="log.file"),
)
SYSLOG = Option("--syslog", "also send messages to syslog on this node ([syslog] in the settings)", place="syslog.send")
DIRECTORY = Option(
    "--directory", "directory of the journals (default: [change] in the settings)", "DIR", place="change.directory"
)
FORMAT = Option("--format", "format (default {default})", choices=("text", "json"), default="text")
OPTIONS = (
    *CLUSTER_OPTIONS,
    *DATABASE_OPTIONS,
    *SAMPLING_OPTIONS,
    *CONSOLE_OPTIONS,
    EVERY,
    *LOG_OPTIONS,
    SYSLOG,
    DIRECTORY,
)
"""All options that override a setting."""

_NEVER_AN_ARGUMENT = (
    "There is no option --password: every user of this machine can see an argument (ps). Leave the option out, and "
    "racwire asks for the password; or use $RACWIRE_DB_PASSWORD or --password-file FILE. Change the password that was "
    "on this command line."
)
_NEED_A_DATABASE = ("--user", "--password-file", "--sysdba", "--thick", "--wallet")


def add_cluster_options(options: argparse.ArgumentParser) -> None:
    """Add the options that select the cluster and the settings file."""
    where = options.add_argument_group("which cluster")
    add_lab_option(where)
    add_settings_option(where)
    declare(where, CLUSTER_OPTIONS)
    declare(options.add_argument_group("what racwire runs"), LOG_OPTIONS)


def add_lab_option(options: argparse._ActionsContainer) -> None:
    """Add `--lab` and `--as`."""
    options.add_argument(
        "--lab", action="store_true", default=UNSET, help="use the practice cluster (`racwire lab up`)"
    )
    options.add_argument(
        "--as",
        dest="as_user",
        metavar="USER",
        default=UNSET,
        help="with --lab: run as this user of the practice nodes (`racwire lab up --like hardened`)",
    )


def add_settings_option(options: argparse._ActionsContainer) -> None:
    """Add `--settings`."""
    options.add_argument(
        "--settings", metavar="FILE", default=UNSET, help="settings file (`racwire settings` prints an example)"
    )


def add_console_options(options: argparse.ArgumentParser) -> None:
    """Add the options for the appearance of the console."""
    declare(options.add_argument_group("console"), CONSOLE_OPTIONS)


def add_database_options(options: argparse.ArgumentParser) -> None:
    """Add the options that select the database and the login."""
    group = options.add_argument_group(
        "which database",
        "The password comes from a prompt, $RACWIRE_DB_PASSWORD, a file or a wallet,\n"  # the formatter wraps no text
        "never from an argument.",
    )
    declare(group, DATABASE_OPTIONS)
    # Without this, argparse takes it for --password-file, and a message repeats the password as the name of a file.
    group.add_argument("--password", nargs="?", dest="no_password", default=UNSET, help=argparse.SUPPRESS)


def add_sampling_options(options: argparse.ArgumentParser) -> None:
    """Add the options for the samples and the history that the checks use."""
    declare(options.add_argument_group("samples and history"), SAMPLING_OPTIONS)


def add_licence_option(options: argparse.ArgumentParser) -> None:
    """Add `--awr` where no history is read, but its licence matters."""
    declare(options.add_argument_group("licence"), (AWR,))


def add_check_options(options: argparse.ArgumentParser) -> None:
    """Add all options that select what the checks read: cluster, database, samples and history."""
    add_cluster_options(options)
    add_database_options(options)
    add_sampling_options(options)


def add_document_options(options: argparse._ActionsContainer) -> None:
    """Add the options for a document as text or JSON, and for its file."""
    declare(options, (FORMAT,))
    add_output_options(options)


def add_output_options(options: argparse._ActionsContainer) -> None:
    """Add the options for the file of a report, except its format."""
    options.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to FILE, completely or not at all (default: stdout)",
    )
    add_file_options(options)


def add_file_options(options: argparse._ActionsContainer) -> None:
    """Add the options for a file to write: `--force` and `--mode`."""
    options.add_argument("--force", action="store_true", help="replace FILE if it exists; links of others are refused")
    options.add_argument(
        "--mode",
        type=_mode,
        metavar="MODE",
        default=_MODES["0600"],
        help="who may read FILE: 0600 you, 0640 also its group, 0644 all users (default 0600)",
    )


_MODES = {f"{zero}{mode:o}": mode for zero in ("", "0") for mode in (0o600, 0o640, 0o644)}
"""What --mode accepts: other users can read the file at most."""


def _mode(text: str) -> int:
    if text not in _MODES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a mode for a file to read: use 0600, 0640 or 0644")
    return _MODES[text]


def add_quiet_option(options: argparse._ActionsContainer, help: str = "print no progress on stderr") -> None:  # noqa: A002
    """Add `-q`."""
    options.add_argument("-q", "--quiet", action="store_true", help=help)


def add_syslog_option(options: argparse._ActionsContainer) -> None:
    """Add `--syslog`."""
    declare(options, (SYSLOG,))


def add_live_options(options: argparse.ArgumentParser, file_help: str, nargs: str | None = None) -> None:
    """Add the options that `record` and `watch` share; `file_help` is the help of their FILE."""
    options.add_argument("file", metavar="FILE", nargs=nargs, help=file_help)
    samples = options.add_argument_group("samples")
    samples.add_argument("--for", metavar="TIME", dest="for_time", help="stop after 90s, 30m, 2h or 1d (else: Ctrl-C)")
    declare(samples, (EVERY,))
    # The checks' option, which is easily taken for --every: a message of its own refuses it.
    samples.add_argument("--interval", default=UNSET, help=argparse.SUPPRESS)
    samples.add_argument(
        "--probe", action="store_true", help="also ping each private path at a fixed rate, and print that rate first"
    )
    samples.add_argument(
        "-q", "--quiet", action="store_true", help="print only errors on stderr, and what --probe sends"
    )
    add_syslog_option(samples)
    add_cluster_options(options)
    add_database_options(options)


def add_evidence_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options for saved evidence and for redaction, and return their group."""
    evidence = parser.add_argument_group(
        "saved evidence and redaction",
        "With --from, racwire uses the saved thresholds and waivers, unless --settings\nnames a settings file.",
    )
    evidence.add_argument(
        "--from",
        metavar="FILE",
        dest="from_file",
        help="read the evidence from FILE (a saved file or a JSON report), not from the cluster",
    )
    evidence.add_argument(
        "--redact",
        action="store_true",
        help="replace names and addresses by pseudonyms; users such as oracle, grid, root and racwire stay",
    )
    evidence.add_argument(
        "--redaction-map",
        metavar="FILE",
        help="private file with the names behind the pseudonyms (default: ~/.local/state/racwire/redaction.json)",
    )
    return evidence


def add_record_option(options: argparse._ActionsContainer, where: str) -> None:
    """Add `--record`: the length of the recording that goes into `where`."""
    options.add_argument(
        "--record", metavar="TIME", help=f"record the traffic for TIME for {where} (default 15s; 0s: no recording)"
    )


def add_selection_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select checks."""
    checks = parser.add_argument_group("which checks")
    checks.add_argument("ids", nargs="*", metavar="ID", help="run only these checks (`racwire explain` lists them)")
    checks.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")


def refuse_check_options(args: argparse.Namespace) -> None:
    """Refuse `--interval` where samples are taken with `--every`. Raises UsageError where it is used."""
    if hasattr(args, "interval"):
        raise UsageError("--interval is an option of the checks; use --every S here.")


def effective_settings(args: argparse.Namespace) -> Settings:
    """The settings of the settings file, overridden by the command line.

    Raises SettingsError for a wrong settings file, UsageError for a wrong option.
    """
    from checks.run.settings_file import load_settings

    settings = load_settings(getattr(args, "settings", None))
    if hasattr(args, "no_password"):
        raise UsageError(_NEVER_AN_ARGUMENT)
    used = {option.name: getattr(args, option.destination) for option in OPTIONS if hasattr(args, option.destination)}
    if not used:
        return settings  # of the file, which has been checked
    # Without options, the first screen of the console does not wait for this module.
    from checks.run.settings_values import mistakes

    for option in OPTIONS:
        if option.name in used and (used[option.name] or option not in CLUSTER_OPTIONS):
            settings = _with(settings, option, used[option.name])
    settings = _one_login(settings, used)
    names = {option.place: option.name for option in OPTIONS}
    for place, mistake in mistakes(settings):
        raise UsageError(f"{names.get(place, place)}: {mistake}")
    return settings


def _with(settings: Settings, option: Option, value: Any) -> Settings:
    """The settings with the value of one option. Raises UsageError where the value is outside the setting's limits."""
    import msgspec

    from checks.run.settings_file import limit_text, limits_of

    section, _, name = option.place.partition(".")
    table = getattr(settings, section)
    if value is True:
        value = option.means
    try:
        # Numbers arrive as text. The message names the same limits as for the settings file.
        new = msgspec.convert({**msgspec.to_builtins(table), name: value}, type(table), strict=False)
    except msgspec.ValidationError as error:
        limits = f"must be {limits_of(type(table), name)} seconds" if option.reads else limit_text(str(error))[0]
        raise UsageError(f"{option.name} {limits}.") from None
    return msgspec.structs.replace(settings, **{section: new})


def _one_login(settings: Settings, used: dict[str, Any]) -> Settings:
    """The settings with the one login of the options. Raises UsageError where the options contradict each other."""
    from msgspec.structs import replace

    database, sampling = settings.database, settings.sampling
    if "--os-auth" in used and "--connect" in used:
        raise UsageError(
            "--os-auth logs in to the instance of this node, --connect to another one: leave one of them out."
        )
    if "--os-auth" in used:
        database = replace(database, connect="", user="")
    elif "--connect" in used:
        database = replace(database, os_authentication=False)
    if "--interval" in used:
        sampling = replace(sampling, interval_without_database_s=sampling.interval_s)
    needing_database = [name for name in _NEED_A_DATABASE if name in used]
    if needing_database and not database.is_set:
        raise UsageError(f"{needing_database[0]}: no database is named; add --connect HOST:1521/SERVICE or --os-auth.")
    return replace(settings, database=database, sampling=sampling)


def without_lab(argv: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without `--lab` and `--as USER`. `drill node NODE --as reboot` is another option."""
    words = iter(argv)
    for word in words:
        if word == "--as":
            if (value := next(words, None)) in TRANSITIONS:
                yield from (word, value)
        elif word != "--lab" and (not word.startswith("--as=") or word.removeprefix("--as=") in TRANSITIONS):
            yield word
