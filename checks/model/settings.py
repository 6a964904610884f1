"""The settings: names, meanings, limits and defaults. `settings_file.py` reads the file."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from checks.model.facts import Thresholds
from checks.model.settings_reporting import LogSettings, SettingsSection, SyslogSettings
from checks.model.settings_waivers import Waivers


class ClusterSettings(SettingsSection, frozen=True):
    """The cluster. Needed only where Clusterware cannot be queried."""

    grid_home: Annotated[
        str,
        Meta(description="The Grid Infrastructure home. Empty: racwire finds it (environment, olr.loc, oratab, ...)."),
    ] = ""
    name: Annotated[
        str,
        Meta(
            max_length=255,
            description="The name of the cluster, which a measurement wants typed. Clusterware's own name comes first.",
        ),
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
    sudo: Annotated[
        bool,
        Meta(description="Whether tools that refuse this user run again by `sudo -n`; see `racwire plan --sudoers`."),
    ] = False


class SshSettings(SettingsSection, frozen=True):
    """The connections to peers: through the system's ssh with its configuration, without a password prompt."""

    config_file: Annotated[
        str, Meta(description="An ssh_config file instead of the user's own (ssh -F). Empty: the user's own.")
    ] = ""
    user: Annotated[str, Meta(description="The user for the login. Empty: the user that ssh chooses.")] = ""
    use_master: Annotated[
        bool,
        Meta(
            description="Whether racwire's sessions go through your own open connection (ControlPath in the "
            "configuration of ssh), where a login needs a second factor: at most 5 to each peer, of every racwire of "
            "this user on this node. racwire never opens or ends such a connection. Off: a connection of its own."
        ),
    ] = False
    connect_timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=60,
            description="Limit for the connection to sshd, and again for the start of the shell after the login, in "
            "seconds.",
        ),
    ] = 5.0
    login_timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=120,
            description="Limit for the whole login on a peer, in seconds. A login takes long where sshd waits for DNS "
            "or for a directory service.",
        ),
    ] = 15.0
    read_timeout_s: Annotated[
        float, Meta(gt=0, le=120, description="Limit for reading one peer after its shell has started, in seconds.")
    ] = 10.0


class ProbeSettings(SettingsSection, frozen=True):
    """The packets that racwire sends over the private networks, and never over a public one."""

    packets: Annotated[
        int, Meta(ge=3, le=200, description="Packets of each size (small and full) for each path, from each side.")
    ] = 20
    timeout_ms: Annotated[
        int,
        Meta(
            ge=50,
            le=5000,
            description="Milliseconds after which a packet without an answer counts as lost. A private network answers "
            "in well under 1 ms.",
        ),
    ] = 300
    max_bytes_in_flight: Annotated[
        int,
        Meta(
            ge=20_000,
            le=4_000_000,
            description="Limit of unanswered bytes on a path at one time. 128 KiB is 0.1 ms of a 10 Gbit/s link.",
        ),
    ] = 131_072
    max_packets_per_path: Annotated[
        int, Meta(ge=50, le=5000, description="Limit of packets on one path, including the search for its MTU.")
    ] = 400
    max_packets_per_second: Annotated[
        int, Meta(ge=100, le=100_000, description="Limit of packets a second from one node on all its paths.")
    ] = 5_000
    source_ports: Annotated[
        int,
        Meta(
            ge=6,
            le=64,
            description="UDP source ports for each path. Up to 12 are sent within the interval; more take 1.1 seconds "
            "each and find one bad link of many.",
        ),
    ] = 12


class SamplingSettings(SettingsSection, frozen=True):
    """The two readings of counters: racwire judges the growth between them, never the totals."""

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
        Meta(
            ge=1,
            le=600,
            description="Seconds between the two readings of the kernels' counters where no database is queried.",
        ),
    ] = 5.0


class TrafficSettings(SettingsSection, frozen=True):
    """The live samples of the Traffic and Database screens, of `racwire watch` and of `racwire record`."""

    interval_s: Annotated[
        float, Meta(ge=1, le=60, description="Seconds between two samples of a node; of instances, as many or more.")
    ] = 1.0
    instances_interval_s: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="Seconds between two samples of the instances (GV$ statements), at least 1, whatever happens. "
            "0: racwire adapts them to the number of instances, and slows down while an instance or the interconnect "
            "is in trouble.",
        ),
    ] = 0.0
    pairs_interval_s: Annotated[
        float,
        Meta(
            ge=1,
            le=600,
            description="Seconds between two samples of lost blocks by pair of instances and of the instances' pings: "
            "larger queries than the statistics, whose results change more slowly. They slow down with the statistics.",
        ),
    ] = 10.0
    database_timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=60,
            description="Limit for a statement of these samples, in seconds; then the sample counts as missed.",
        ),
    ] = 5.0
    probes_per_second: Annotated[
        int,
        Meta(ge=1, le=100, description="Pings of each size a second on each path, with recorded latency (--probe)."),
    ] = 10


class ConsoleSettings(SettingsSection, frozen=True):
    """The appearance and operation of the console."""

    mouse: Annotated[
        bool,
        Meta(description="Whether racwire uses the mouse. Off: the mouse selects text in the terminal."),
    ] = True
    ascii: Annotated[
        bool | Literal["auto"],
        Meta(
            description="Whether the console draws with ASCII characters only. auto: yes where the locale (LC_ALL, "
            "LC_CTYPE, LANG) or the type of the terminal (TERM) is not Unicode, as with LANG=C, vt100 and linux."
        ),
    ] = "auto"
    graphs: Annotated[
        Literal["auto", "blocks", "braille"],
        Meta(
            description="The characters of graphs: blocks, or braille with twice the time in the same width. auto: as "
            "chosen last with `:graphs`, at first blocks."
        ),
    ] = "auto"
    on_event: Annotated[
        Literal["offer", "check", "off"],
        Meta(
            description="What the console does when blocks are lost, a node stops answering or the like. offer: it "
            "shows the event, and r looks for the cause. check: the checks that concern the event also run by "
            "themselves, at most every 5 minutes. off: only the Traffic and Database screens sample the cluster."
        ),
    ] = "offer"
    bell: Annotated[bool, Meta(description="Whether the terminal rings its bell at a new alarm.")] = False
    probes_per_hour: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000_000,
            description="The most packets that checks which the console starts by itself may send in an hour; with "
            "more, only the checks that send nothing run.",
        ),
    ] = 20_000


class ChangeSettings(SettingsSection, frozen=True):
    """The safe change of the MTU."""

    directory: Annotated[
        str,
        Meta(
            description="The directory of the journals of changes. On a file system that all nodes share, any node can "
            "continue a change. Empty: racwire/changes in $XDG_STATE_HOME, or in ~/.local/state."
        ),
    ] = ""
    switches: Annotated[
        tuple[str, ...],
        Meta(
            max_length=16,
            description='The kinds of switches of the private networks, such as ["nexus-9000"]; `racwire explain '
            "switches` lists all kinds. Empty: the kinds that LLDP reports, else questions for the network team.",
        ),
    ] = ()
    switch_kinds: Annotated[
        str,
        Meta(
            description="A file with kinds of switch and hypervisor of your own, in the form of racwire's "
            "checks/model/vendors.toml; a kind with the key of a known one replaces it. Empty: none."
        ),
    ] = ""
    record_s: Annotated[
        int,
        Meta(
            ge=5,
            le=86_400,
            description="Minimum length of each of the two recordings, before and after the change, in seconds.",
        ),
    ] = 600


class DatabaseSettings(SettingsSection, frozen=True):
    """The database. Never write the password here: use the prompt, $RACWIRE_DB_PASSWORD, a 0600 file, or a wallet."""

    connect: Annotated[
        str,
        Meta(
            description="The address of the database: EZConnect (rac-scan:1521/prod) or a TNS alias. Empty: racwire "
            "queries no database, unless os_authentication is on."
        ),
    ] = ""
    user: Annotated[
        str, Meta(description="The user for the login. Empty: OS authentication, or the user of the wallet.")
    ] = ""
    password_file: Annotated[
        str, Meta(description="A file of mode 0600 with the password on its first line. Empty: prompt or environment.")
    ] = ""
    sysdba: Annotated[
        bool, Meta(description="Log in AS SYSDBA. The user with the least privileges does not need it.")
    ] = False
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
        float, Meta(gt=0, le=120, description="Limit for the answer of the listener, in seconds.")
    ] = 10.0
    login_timeout_s: Annotated[
        float, Meta(gt=0, le=120, description="Limit for the login, including the connection, in seconds.")
    ] = 20.0
    call_timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            description="Limit for one statement, in seconds. racwire cancels a GV$ query that takes longer, and reads "
            "the V$ views of the connected instance instead.",
        ),
    ] = 15.0
    diagnostics_pack: Annotated[
        bool,
        Meta(
            description="Whether you have the Diagnostics Pack and want racwire to read AWR. The database's parameter "
            "cannot prove a licence: its default allows AWR, which is licensed separately."
        ),
    ] = False
    history_days: Annotated[
        float, Meta(gt=0, le=3660, description="Days of AWR or Statspack history that racwire reads.")
    ] = 7.0
    history_timeout_s: Annotated[
        float, Meta(gt=0, le=3600, description="Limit for one statement on AWR or Statspack, in seconds.")
    ] = 120.0

    @property
    def is_set(self) -> bool:
        """Whether a database is configured."""
        return bool(self.connect) or self.os_authentication


class ThresholdSettings(
    Thresholds, frozen=True, kw_only=True, tag=False, omit_defaults=False, forbid_unknown_fields=True
):
    """The thresholds of the checks: the section `thresholds`."""

    def as_facts(self) -> Thresholds:
        """Return the thresholds as facts for the checks."""
        return Thresholds(**msgspec.structs.asdict(self))


class MeasureSettings(SettingsSection, frozen=True):
    """The measurements that send load (`racwire measure`, `racwire drill`)."""

    loaded_cpu_percent: Annotated[
        float,
        Meta(gt=0, le=100, description="Use of a node's CPUs above which a cluster counts as loaded: nothing is sent."),
    ] = 60.0
    most_cpu_percent: Annotated[
        float, Meta(gt=0, le=100, description="Use of a node's CPUs at which a measurement stops by itself.")
    ] = 80.0


class InvestigateSettings(SettingsSection, frozen=True):
    """The budget of one session of guided troubleshooting (`racwire investigate`), or of one `racwire check --deep`."""

    seconds: Annotated[
        float, Meta(gt=0, le=3600, description="Seconds in which a session may send, all steps together.")
    ] = 60.0
    datagrams: Annotated[
        int,
        Meta(
            ge=100,
            le=1_000_000,
            description="Datagrams and pings that a session may send, at most 500 a second, on all nodes together.",
        ),
    ] = 20_000


class Settings(SettingsSection, frozen=True):
    """All settings."""

    cluster: ClusterSettings = ClusterSettings()
    ssh: SshSettings = SshSettings()
    probe: ProbeSettings = ProbeSettings()
    sampling: SamplingSettings = SamplingSettings()
    traffic: TrafficSettings = TrafficSettings()
    console: ConsoleSettings = ConsoleSettings()
    log: LogSettings = LogSettings()
    syslog: SyslogSettings = SyslogSettings()
    database: DatabaseSettings = DatabaseSettings()
    change: ChangeSettings = ChangeSettings()
    measure: MeasureSettings = MeasureSettings()
    investigate: InvestigateSettings = InvestigateSettings()
    thresholds: ThresholdSettings = ThresholdSettings()
    waivers: Waivers = ()
