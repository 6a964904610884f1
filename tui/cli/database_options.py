"""The options that say which database is asked and how, and how the checks sample: each over one setting."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from checks.model.settings import Settings
from checks.run.settings_file import limit_in_words
from tui.cli.errors import UsageError


class Option(NamedTuple):
    """An option of the command line, and the setting it goes over."""

    name: str
    place: str
    """`section.name` of the setting."""
    help: str
    metavar: str | None = None
    """None for one without a value, which turns its setting on."""

    @property
    def destination(self) -> str:
        """Its attribute in the parsed arguments."""
        return self.name.lstrip("-").replace("-", "_")


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

_SEEN_BY_ALL = (
    "--password is none: an argument is seen by every user of this machine (ps). Leave it out, and the password is "
    "asked for; or use $RACWIRE_DB_PASSWORD or --password-file FILE, and change the one that stood here."
)
_NEED_A_DATABASE = ("--user", "--password-file", "--sysdba", "--thick", "--wallet")


def add_database_options(options: argparse.ArgumentParser) -> None:
    """Add those that say which database."""
    group = options.add_argument_group(
        "which database",
        "The password is asked for, or taken from $RACWIRE_DB_PASSWORD, a file or a\n"  # some helps are printed as is
        "wallet: never from an argument.",
    )
    _add(group, DATABASE_OPTIONS)
    # Else it would be taken for the beginning of --password-file, and be repeated as a file that is not there.
    group.add_argument("--password", nargs="?", dest="no_password", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def add_sampling_options(options: argparse.ArgumentParser) -> None:
    """Add those that say what the checks' figures are taken from."""
    _add(options.add_argument_group("which time the checks look at"), SAMPLING_OPTIONS)


def _add(group: argparse._ArgumentGroup, options: Iterable[Option]) -> None:
    for option in options:
        # SUPPRESS: an option given before the command must not be overwritten by the command's own default.
        if option.metavar is None:
            group.add_argument(option.name, action="store_true", default=argparse.SUPPRESS, help=option.help)
        else:
            group.add_argument(option.name, metavar=option.metavar, default=argparse.SUPPRESS, help=option.help)


def with_database_options(args: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with these options over them. Raises UsageError."""
    if hasattr(args, "no_password"):
        raise UsageError(_SEEN_BY_ALL)
    known = (*DATABASE_OPTIONS, *SAMPLING_OPTIONS)
    given = {option.name: getattr(args, option.destination) for option in known if hasattr(args, option.destination)}
    for option in known:
        if option.name in given:
            settings = _with(settings, option, given[option.name])
    database, sampling = settings.database, settings.sampling
    if "--os-auth" in given and "--connect" in given:
        raise UsageError("--os-auth: it logs in to the instance of this node; leave --connect out, or --os-auth.")
    if "--os-auth" in given:
        database = msgspec.structs.replace(database, connect="", user="")
    elif "--connect" in given:
        database = msgspec.structs.replace(database, os_authentication=False)
    if "--interval" in given:
        sampling = msgspec.structs.replace(sampling, interval_without_database_s=sampling.interval_s)
    alone = [name for name in _NEED_A_DATABASE if name in given]
    if alone and not database.is_set:
        raise UsageError(f"{alone[0]}: no database is named; add --connect HOST:1521/SERVICE, or --os-auth.")
    return msgspec.structs.replace(settings, database=database, sampling=sampling)


def _with(settings: Settings, option: Option, value: Any) -> Settings:
    section, _, name = option.place.partition(".")
    table = getattr(settings, section)
    try:
        # Numbers come as text; what the text may not hold is told as for the settings file.
        new = msgspec.convert({**msgspec.to_builtins(table), name: value}, type(table), strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"{option.name} {limit_in_words(str(error))[0]}.") from None
    return msgspec.structs.replace(settings, **{section: new})
