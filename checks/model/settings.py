"""The settings: what can be set, what it means, where its default comes from. Reading the file: `settings_file.py`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from checks.model.facts import Thresholds
from checks.model.settings_waivers import Waivers


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the settings file."""


class ClusterSettings(_Section, frozen=True):
    """Which cluster this is. Needed only where Clusterware is not there to ask."""

    grid_home: Annotated[
        str,
        Meta(description="The Grid Infrastructure home. Empty: found by racwire (environment, olr.loc, oratab, ...)."),
    ] = ""
    networks: Annotated[
        tuple[str, ...],
        Meta(
            max_length=64,
            description='Private networks as subnets, such as ["192.168.10.0/24"]. Empty: those that oifcfg names.',
        ),
    ] = ()
    peers: Annotated[
        tuple[str, ...],
        Meta(
            max_length=255,
            description='The other nodes, as ssh reaches them, such as ["rac2"]. Empty: those that olsnodes lists.',
        ),
    ] = ()


class SshSettings(_Section, frozen=True):
    """How peers are reached: by the system's own ssh and its configuration, never asking for a password."""

    config_file: Annotated[
        str, Meta(description="An ssh_config to use instead of the user's own (ssh -F). Empty: the user's own.")
    ] = ""
    user: Annotated[str, Meta(description="The user to log in as. Empty: as ssh decides.")] = ""
    connect_timeout_s: Annotated[
        float, Meta(gt=0, le=60, description="Seconds until a peer must have let racwire in and started its shell.")
    ] = 5.0
    read_timeout_s: Annotated[
        float, Meta(gt=0, le=120, description="Seconds that reading one peer may take once its shell is there.")
    ] = 10.0


class ProbeSettings(_Section, frozen=True):
    """What is sent over the private networks, and never over a public one."""

    packets: Annotated[
        int, Meta(ge=3, le=200, description="Packets of each size (small and full) for each path, from each side.")
    ] = 20
    timeout_ms: Annotated[
        int,
        Meta(
            ge=50,
            le=5000,
            description="Milliseconds until a packet counts as lost. A private network answers in well under 1 ms.",
        ),
    ] = 300
    max_bytes_in_flight: Annotated[
        int,
        Meta(
            ge=20_000,
            le=4_000_000,
            description="Bytes that may be unanswered at one time on a path. 128 KiB is 0.1 ms of a 10 Gbit/s link.",
        ),
    ] = 131_072
    max_packets_per_path: Annotated[
        int, Meta(ge=50, le=5000, description="Packets that one path may cost in all, the search for its MTU included.")
    ] = 400
    max_packets_per_second: Annotated[
        int, Meta(ge=100, le=100_000, description="Packets that one node may send each second, on all paths together.")
    ] = 5_000


class SamplingSettings(_Section, frozen=True):
    """How counters are read twice: what counts is what they grew by meanwhile, never their total."""

    interval_s: Annotated[
        float,
        Meta(
            ge=1,
            le=600,
            description="Seconds between the two samples of the instances' statistics and of the kernels' counters.",
        ),
    ] = 30.0
    interval_without_database_s: Annotated[
        float,
        Meta(ge=1, le=600, description="The same for the kernels' counters where no database is asked."),
    ] = 5.0


class TrafficSettings(_Section, frozen=True):
    """The live samples of the Traffic and Database screens, of `racwire watch` and of `racwire record`."""

    interval_s: Annotated[
        float, Meta(ge=1, le=60, description="Seconds between two samples of a node or of the instances.")
    ] = 1.0
    pairs_interval_s: Annotated[
        float,
        Meta(
            ge=1,
            le=600,
            description="Seconds between two samples of who lost whose blocks and of the instances' pings: bigger "
            "queries than the statistics, and slower to change.",
        ),
    ] = 10.0
    database_timeout_s: Annotated[
        float,
        Meta(gt=0, le=60, description="Seconds that a statement of these samples may take before it counts as missed."),
    ] = 5.0
    probes_per_second: Annotated[
        int,
        Meta(
            ge=1, le=100, description="Pings of each size a second on each path, where latency is recorded (--probe)."
        ),
    ] = 10


class ConsoleSettings(_Section, frozen=True):
    """How the full screen looks and is worked."""

    mouse: Annotated[
        bool,
        Meta(description="Whether the mouse works in racwire. Off: it selects text, as the terminal has it."),
    ] = True
    ascii: Annotated[
        bool, Meta(description="Draw with ASCII signs only: for terminals that show junk instead of lines and graphs.")
    ] = False
    graphs: Annotated[
        Literal["blocks", "braille"],
        Meta(description="How graphs are drawn: blocks, or braille with twice the time in the same room."),
    ] = "blocks"


class ChangeSettings(_Section, frozen=True):
    """The safe change of the MTU."""

    directory: Annotated[
        str,
        Meta(
            description="Where the journals of changes are; on a file system that all nodes share, any node can go on "
            "with a change. Empty: racwire/changes in $XDG_STATE_HOME, or in ~/.local/state."
        ),
    ] = ""
    switches: Annotated[
        tuple[str, ...],
        Meta(
            max_length=16,
            description='Which kinds of switch carry the private networks, such as ["nexus-9000"]; `racwire explain '
            "switches` lists them. Empty: what the switches tell by LLDP, else the questions for the network team.",
        ),
    ] = ()
    record_s: Annotated[
        int,
        Meta(
            ge=5,
            le=86_400,
            description="Seconds that each of the two recordings, before and after the change, must be long at least.",
        ),
    ] = 600


class DatabaseSettings(_Section, frozen=True):
    """The database to ask. The password never stands here: prompt, $RACWIRE_DB_PASSWORD, 0600 file, or wallet."""

    connect: Annotated[
        str,
        Meta(
            description="Where the database is: EZConnect (rac-scan:1521/prod) or a TNS alias. Empty: no database is "
            "asked, unless racwire is told to log in with OS authentication."
        ),
    ] = ""
    user: Annotated[str, Meta(description="The user to log in as. Empty: OS authentication, or the wallet's.")] = ""
    password_file: Annotated[
        str, Meta(description="A file of mode 0600 with the password on its first line. Empty: prompt or environment.")
    ] = ""
    sysdba: Annotated[bool, Meta(description="Log in AS SYSDBA. The least-privilege user does not need it.")] = False
    os_authentication: Annotated[
        bool,
        Meta(
            description="Log in as / by ORACLE_HOME, without a listener (with sysdba: / as sysdba). Needs thick mode."
        ),
    ] = False
    oracle_home: Annotated[
        str,
        Meta(description="Libraries for thick mode, and the home for OS authentication. Empty: $ORACLE_HOME, oratab."),
    ] = ""
    oracle_sid: Annotated[str, Meta(description="The instance for OS authentication. Empty: $ORACLE_SID.")] = ""
    thick: Annotated[
        bool,
        Meta(description="Use Oracle's client libraries: for Oracle 11.2 and native encryption. Off: pure Python."),
    ] = False
    tns_admin: Annotated[
        str, Meta(description="Directory of tnsnames.ora and sqlnet.ora. Empty: $TNS_ADMIN, else that of oracle_home.")
    ] = ""
    wallet: Annotated[str, Meta(description="Directory of a wallet (ewallet.pem or cwallet.sso). Empty: none.")] = ""
    connect_timeout_s: Annotated[
        float, Meta(gt=0, le=120, description="Seconds until the listener must have answered.")
    ] = 10.0
    login_timeout_s: Annotated[
        float, Meta(gt=0, le=120, description="Seconds until the login must be through, connecting included.")
    ] = 20.0
    call_timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            description="Seconds that one statement may take. A GV$ query that takes longer is given up, and the V$ "
            "views of the instance at hand are read instead.",
        ),
    ] = 15.0
    diagnostics_pack: Annotated[
        bool,
        Meta(
            description="Whether you have the Diagnostics Pack and want AWR read. The database's own parameter cannot "
            "prove a licence: by default it allows what must be paid for."
        ),
    ] = False
    history_days: Annotated[
        float, Meta(gt=0, le=3660, description="Days of AWR or Statspack history that are looked at.")
    ] = 7.0
    history_timeout_s: Annotated[
        float, Meta(gt=0, le=3600, description="Seconds that one statement on AWR or Statspack may take.")
    ] = 120.0

    @property
    def is_set(self) -> bool:
        """Whether there is a database to ask."""
        return bool(self.connect) or self.os_authentication


class ThresholdSettings(
    Thresholds, frozen=True, kw_only=True, tag=False, omit_defaults=False, forbid_unknown_fields=True
):
    """What the checks measure against: the section `thresholds`."""

    def as_facts(self) -> Thresholds:
        """The thresholds as checks see them."""
        return Thresholds(**msgspec.structs.asdict(self))


class Settings(_Section, frozen=True):
    """All settings."""

    cluster: ClusterSettings = ClusterSettings()
    ssh: SshSettings = SshSettings()
    probe: ProbeSettings = ProbeSettings()
    sampling: SamplingSettings = SamplingSettings()
    traffic: TrafficSettings = TrafficSettings()
    console: ConsoleSettings = ConsoleSettings()
    database: DatabaseSettings = DatabaseSettings()
    change: ChangeSettings = ChangeSettings()
    thresholds: ThresholdSettings = ThresholdSettings()
    waivers: Waivers = ()
