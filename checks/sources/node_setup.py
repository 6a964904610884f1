"""The registry's entries for the setup of a node: running software and boot configuration.

The programs print only allow-listed lines of files that can hold secrets. Every tool that could hang has a time limit.
"""

from __future__ import annotations

from checks.sources.alert_logs import LOGS_BASES_HOW, LOGS_COMMAND, LOGS_HOW, LOGS_MESSAGES, LOGS_RIGHT, TRACES_HOW
from checks.sources.entries import (
    BY_SUDO,
    SUDO,
    Program,
    Read,
    RunsOn,
)
from checks.sources.grid_commands import GRID_RIGHT, OLR_FILES
from checks.sources.host_sections import ALL_UNITS, HOST_COMMANDS, HOST_READS, HOST_SECTIONS, ZONE_LINE
from checks.sources.nic_drivers import NICS
from checks.sources.sh_text import MARK, files_program, program

AUTOSTART_ARGUMENTS = ("config", "crs")
CHECK_ARGUMENTS = ("check", "crs")
LLDP_ARGUMENTS = ("-f", "keyvalue")
NETWORKD_LLDP = "networkctl --no-pager --full lldp"
TOOL_LIMIT_S = 2
"""Seconds after which a tool of the node is ended; the tools answer in a tenth of a second."""
CRSCTL_LIMIT_S = 5
"""Seconds after which crsctl and ocrconfig are ended, where they read files of the node."""
STARTING_LIMIT_S = 15
"""Seconds after which `crsctl check crs` is ended: it waits for daemons, and answers late while the stack starts. The
limit was chosen by racwire."""
_MOST_CONNECTIONS = 40
"""Most connections that nmcli is queried about; a node of a cluster has about one for each interface."""

DAEMONS = (
    "crsd.bin",
    "cssdagent",
    "cssdmonitor",
    "evmd.bin",
    "gipcd.bin",
    "gpnpd.bin",
    "mdnsd.bin",
    "oraagent.bin",
    "orarootagent.bin",
    "octssd.bin",
    "ocssd.bin",
    "ohasd.bin",
)
"""Clusterware's own processes (Clusterware Administration Guide, "Overview of Clusterware processes")."""

UNITS = ("NetworkManager", "network", "systemd-networkd", "wicked")
"""The services that bring interfaces up, in the order of the query to systemctl."""

OLR_PATHS = " ".join(OLR_FILES)

NO_HOME = f"{MARK}-no-home"
"""The line that shows that no olr.loc names a Grid home that this user can read."""


_OWNER = 'owner=$(stat -L -c %U "$home/bin/oracle" "$home/bin/oifcfg" 2>/dev/null | head -n 1)'
"""Sets `owner` to the owner of the installation; root's scripts make root own some tools. racwire runs nothing of a
Grid home as root: its owner can replace these programs."""


def _by_sudo(command: str, limit_s: int, as_user: str = "") -> str:
    """A command with a limit of time that runs again by sudo where it was refused and the first argument permits it."""
    user, who = ('-u "$owner" ', f'{as_user}; if [ "$owner" = root ]; then exit "$code"; fi; ') if as_user else ("", "")
    return (
        f"timeout {limit_s} {command} || {{ code=$?; "
        f'if [ "$1" != {BY_SUDO} ] || [ "$code" -eq 127 ] || [ "$code" -eq 124 ]; then exit "$code"; fi; '
        f"{who}timeout {limit_s} sudo -n {user}{command}; }}"
    )


def home_tool(command: str, *, by_sudo: bool = False, limit_s: int = CRSCTL_LIMIT_S) -> str:
    """A command that runs a tool of the Grid home that olr.loc names, bounded in time.

    Only root can write olr.loc, so root chose these tools. Without a home, grep prints why, and nothing else runs.
    """
    tool, _, arguments = command.partition(" ")
    line = f'"$home/bin/{tool}" {arguments}'
    bounded = _by_sudo(line, limit_s, _OWNER) if by_sudo else f"timeout {limit_s} {line}"
    return (
        f"home=$(grep -h -s '^crs_home=' {OLR_PATHS} | head -n 1 | cut -d = -f 2-); "
        f"if [ -z \"$home\" ]; then printf '{NO_HOME}\\n'; grep '^crs_home=' {OLR_PATHS}; "
        f"else {bounded}; fi"
    )


# --- the files that configure interfaces: their places, and the lines that are read ----------------------------------

KEYFILE_DIRECTORIES = tuple(f"/{place}/NetworkManager/system-connections" for place in ("etc", "run", "usr/lib"))
KEYFILE_LINES = (
    r"^[[:space:]]*(\[|(id|uuid|type|interface-name|autoconnect|autoconnect-priority|"
    r"mtu|mac-address|method|"
    r"address(es)?[0-9]*)"
    r"[[:space:]]*=)"
)
"""The lines of a keyfile that are read: section names and these keys, no passwords."""

NMCLI_FIELDS = (
    "connection.id,connection.uuid,connection.type,connection.interface-name,connection.autoconnect,"
    "connection.autoconnect-priority,802-3-ethernet.mtu,802-3-ethernet.mac-address,infiniband.mtu,"
    "infiniband.mac-address,ipv4.method,ipv4.addresses,ipv6.addresses"
)
"""The fields that nmcli is queried for; no field is a secret."""

NM_DEFAULTS = " ".join(
    (
        *(f"/{place}/NetworkManager/conf.d/*.conf" for place in ("usr/lib", "run", "etc")),
        "/etc/NetworkManager/NetworkManager.conf",
    )
)
NM_DEFAULT_LINES = r"^[[:space:]]*(\[|((802-3-)?ethernet|infiniband)[.]mtu[[:space:]]*=|match-device[[:space:]]*=)"
"""The lines of NetworkManager's own configuration that are read: the MTU of connections that set none."""

IFCFG_DIRECTORY = "/etc/sysconfig/network-scripts"
IFCFG_LINES = (
    r"^[[:space:]]*(DEVICE|NAME|UUID|HWADDR|MTU|TYPE|DEVICETYPE|VLAN|PHYSDEV|BONDING_MASTER|NM_CONTROLLED|ONBOOT|"
    r"BOOTPROTO|AUTOCONNECT_PRIORITY|IPADDR[0-9]*|PREFIX[0-9]*|NETMASK[0-9]*|IPV6ADDR|IPV6ADDR_SECONDARIES)="
)
"""The lines of an ifcfg file that are read, without keys and passwords, which other files hold."""

WICKED_DIRECTORY = "/etc/sysconfig/network"
WICKED_LINES = (
    r"^[[:space:]]*(MTU|STARTMODE|BOOTPROTO|BONDING_MASTER|BONDING_SLAVE_?[0-9]+|ETHERDEVICE|BRIDGE|BRIDGE_PORTS|"
    r"INTERFACETYPE|IPOIB_MODE|(IPADDR|PREFIXLEN|NETMASK)(_[A-Za-z0-9]+)?)="
)
"""The lines of an ifcfg file of wicked that are read."""

NETWORKD_DIRECTORIES = tuple(f"/{place}/systemd/network" for place in ("etc", "run", "usr/local/lib", "usr/lib", "lib"))
CONDITIONS_NOT_FOLLOWED = (
    "Path|Driver|Property|WLANInterfaceType|SSID|BSSID|Host|Virtualization|KernelCommandLine|KernelVersion|Version|"
    "Credential|Architecture|Firmware"
)
NETWORKD_LINES = (
    r"^[[:space:]]*(\[|(Name|OriginalName|MACAddress|PermanentMACAddress|Type|Kind|MTUBytes|Unmanaged|DHCP|Address|"
    "ActivationPolicy|" + CONDITIONS_NOT_FOLLOWED + r")[[:space:]]*=)"
)
"""The lines that are read: sections, conditions and the MTU, no keys of WireGuard and MACsec."""

NETPLAN_DIRECTORIES = ("/etc/netplan", "/run/netplan", "/lib/netplan", "/usr/lib/netplan")
SCRIPTS = (
    "/etc/rc.d/rc.local /etc/rc.local /etc/init.d/boot.local /etc/init.d/after.local "
    "/etc/NetworkManager/dispatcher.d/* /etc/NetworkManager/dispatcher.d/pre-up.d/* "
    "/etc/network/if-up.d/* /etc/network/if-pre-up.d/* /sbin/ifup-local /etc/sysconfig/network/scripts/*"
)
"""Scripts that run at boot where they are executable."""
RULES = (
    "/etc/udev/rules.d/*.rules /etc/network/interfaces /etc/network/interfaces.d/* /etc/systemd/system/*.service "
    "/etc/crontab /etc/cron.d/* /var/spool/cron/root /var/spool/cron/crontabs/root"
)
"""Files that udev, ifupdown, systemd and cron read."""
MTU_LINES = r"^[[:space:]]*[^#[:space:]].*[mM][tT][uU]|^[[:space:]]*iface[[:space:]]"

# --- the setup --------------------------------------------------------------------------------------------------------

_SETUP = {
    "boot": (
        "printf 'boot_id %s\\n' \"$(cat /proc/sys/kernel/random/boot_id)\"; grep '^btime ' /proc/stat; "
        "printf 'now %s\\n' \"$(date +%s)\"; printf 'name %s\\n' \"$(uname -n)\"; "
        "printf 'machine %s\\n' \"$(uname -m)\""
    ),
    # The arguments of a command line are records; the number before a record is 1 for argv[0]. The first line shows
    # that this grep can print it. A process of a container has a second number in NSpid.
    "processes": (
        "printf 'a\\0b\\0' | grep -a -z -n b | tr '\\0' '\\n'; "
        "if [ -r /proc/1/cmdline ]; then printf 'visible\\n'; fi; cd /proc && "
        f"grep -a -z -n -m 1 -H -E '^[a-z]+_pmon_|^/.*/bin/({'|'.join(DAEMONS).replace('.', '[.]')})([[:space:]].*)?$' "
        "[0-9]*/cmdline | tr '\\0' '\\n'; "
        "grep -H -E '^NSpid:[[:space:]]*[0-9]+[[:space:]]+[0-9]' [0-9]*/status"
    ),
    "homes": f"grep -h -i '^[[:space:]]*crs_home' {OLR_PATHS}",
    "autostart": home_tool(f"crsctl {' '.join(AUTOSTART_ARGUMENTS)}", by_sudo=True),
    "ohasdstr": "grep -H . /etc/oracle/scls_scr/*/root/ohasdstr /var/opt/oracle/scls_scr/*/root/ohasdstr",
    "services": home_tool(f"crsctl {' '.join(CHECK_ARGUMENTS)}", by_sudo=True, limit_s=STARTING_LIMIT_S),
    "platform": (
        "cd /sys/class/dmi/id && grep -H . sys_vendor product_name chassis_asset_tag bios_vendor; "
        "for place in /opt/oracle.cellos /opt/oracle/oak /opt/oracle/dcs; do "
        'if [ -d "$place" ]; then printf \'there:%s\\n\' "$place"; fi; done'
    ),
    "logins": "grep -h -E ':0016 [0-9A-Fa-f]+:[0-9A-Fa-f]{4} 01 ' /proc/net/tcp /proc/net/tcp6",
    "devices": (
        "cd /sys/class/net && grep -H . -- */address */bonding_slave/perm_hwaddr */type */mode; "
        "grep -H ^DEVTYPE= -- */uevent"
    ),
    # firewall-cmd would start a firewalld that does not run, so its state, the fifth line, decides.
    "units": (
        f"states=$(timeout {TOOL_LIMIT_S} systemctl is-active "
        f"{' '.join(f'{unit}.service' for unit in (*UNITS, *ALL_UNITS))}); printf '%s\\n' \"$states\"; "
        f'if [ "$(printf \'%s\\n\' "$states" | sed -n {len(UNITS) + 1}p)" = active ]; then '
        f"timeout {TOOL_LIMIT_S} firewall-cmd --get-active-zones 2>&1 | sed 's/^/{ZONE_LINE}/'; fi; "
        "for sign in /run/NetworkManager /var/run/NetworkManager /run/systemd/netif /run/wicked "
        '/var/lock/subsys/network; do if [ -e "$sign" ]; then printf \'there %s\\n\' "$sign"; fi; done'
    ),
    "connections": (
        f"timeout {TOOL_LIMIT_S} nmcli -t -f NAME,UUID,TYPE,DEVICE,FILENAME connection show || "
        f"timeout {TOOL_LIMIT_S} nmcli -t -f NAME,UUID,TYPE,DEVICE connection show"
    ),
    "connection details": (
        f"timeout {TOOL_LIMIT_S} nmcli -t -f UUID connection show | head -n {_MOST_CONNECTIONS} | "
        "while read -r uuid; do "
        f'timeout {TOOL_LIMIT_S} nmcli -t -f {NMCLI_FIELDS} connection show uuid "$uuid" || break; done'
    ),
    "connection defaults": f"grep -H -s -E '{NM_DEFAULT_LINES}' {NM_DEFAULTS}",
    "keyfiles": files_program(f"{' '.join(KEYFILE_DIRECTORIES)} {'/* '.join(KEYFILE_DIRECTORIES)}/*", KEYFILE_LINES),
    "ifcfg": files_program(f"{IFCFG_DIRECTORY} {IFCFG_DIRECTORY}/ifcfg-*", IFCFG_LINES),
    "wicked": files_program(f"{WICKED_DIRECTORY} {WICKED_DIRECTORY}/ifcfg-*", WICKED_LINES),
    "networkd": files_program(
        f"{' '.join(NETWORKD_DIRECTORIES)} "
        + " ".join(
            f"{place}/*.{kind} {place}/*.{kind}.d/*.conf"
            for place in NETWORKD_DIRECTORIES
            for kind in ("network", "netdev", "link")
        ),
        NETWORKD_LINES,
    ),
    # Only the names: the contents, which can hold secrets, are not read.
    "netplan": f"ls -d -- {'/*.yaml '.join(NETPLAN_DIRECTORIES)}/*.yaml",
    "scripts": files_program(SCRIPTS, MTU_LINES, executable=True),
    "rules": f"grep -H -E '{MTU_LINES}' {RULES}",
    **HOST_COMMANDS,
    # The directory is that of systemd-networkd: without it, networkctl has no neighbours to display.
    "networkd lldp": f"if [ -d /run/systemd/netif/links ]; then timeout {TOOL_LIMIT_S} {NETWORKD_LLDP}; fi",
    "lldp": _by_sudo(f"lldpctl {' '.join(LLDP_ARGUMENTS)}", TOOL_LIMIT_S),
    # The last: a file system that hangs delays no other section.
    "alert logs": LOGS_COMMAND,
}
"""The command of each section. It prints what exists and leaves out the rest."""

_SETUP_SECTIONS = {
    "setup": (
        "boot", "processes", "homes", "autostart", "ohasdstr", "services", "platform", "logins",
    ),
    "boot files": (
        "devices", "units", "connections", "connection details", "connection defaults", "keyfiles",
        "ifcfg", "wicked", "networkd", "netplan",
        "scripts", "rules",
    ),
    **HOST_SECTIONS,
    "lldp": ("networkd lldp", "lldp"),
    "alert logs": ("alert logs",),
}  # fmt: skip
"""The sections by their topic in the journal."""

_below = " ".join

SETUP = Program(
    name="setup",
    groups=("setups",),
    where=RunsOn.NODES,
    purpose="the software that runs on the node, the boot configuration of its interfaces, and LLDP of its switches",
    text=program(_SETUP, with_errors=("autostart", "services", "lldp")),
    reads=(
        Read("setup", "this boot", "/proc/sys/kernel/random/boot_id /proc/stat; date; uname"),
        Read(
            "setup",
            "processes",
            "names of Clusterware's daemons and of PMON, in /proc/*/cmdline and /proc/*/status",
            "root or the group of hidepid, where /proc is mounted with hidepid",
        ),
        Read("setup", "Clusterware", f"{OLR_PATHS} /etc/oracle/scls_scr/*/root/ohasdstr"),
        Read("setup", "", "crsctl config crs; crsctl check crs", GRID_RIGHT),
        Read(
            "setup",
            "platform",
            "/sys/class/dmi/id/* /sys/class/net/*/mode; whether /opt/oracle.cellos, /opt/oracle/oak exist",
        ),
        Read("setup", "logins by ssh", "/proc/net/tcp /proc/net/tcp6"),
        Read("boot files", "interfaces", "/sys/class/net/*/address, type and uevent"),
        Read("boot files", "network services", f"systemctl is-active {_below((*UNITS, *ALL_UNITS))}"),
        Read("boot files", "zones", "firewall-cmd --get-active-zones, only where firewalld is active"),
        Read(
            "boot files",
            "NetworkManager",
            f"nmcli -t connection show [uuid UUID], without secrets, {_MOST_CONNECTIONS} at most",
            "root, only where nmcli prints no connections",
        ),
        Read("boot files", "", _below(f"{place}/*" for place in KEYFILE_DIRECTORIES)),
        Read("boot files", "", NM_DEFAULTS),
        Read("boot files", "ifcfg", f"{IFCFG_DIRECTORY}/ifcfg-* {WICKED_DIRECTORY}/ifcfg-*"),
        Read("boot files", "systemd-networkd", _below(f"{place}/*" for place in NETWORKD_DIRECTORIES)),
        Read("boot files", "netplan", f"ls {_below(f'{place}/*.yaml' for place in NETPLAN_DIRECTORIES)}"),
        Read("boot files", "lines with mtu", f"{SCRIPTS} {RULES}"),
        *HOST_READS,
        Read("lldp", "switch ports", f"lldpctl {' '.join(LLDP_ARGUMENTS)}", "root or the group of lldpd's socket"),
        Read("lldp", "", f"{NETWORKD_LLDP}, where systemd-networkd runs"),
        Read("alert logs", "alert logs", LOGS_HOW, LOGS_RIGHT),
        Read("alert logs", "traces of Clusterware", TRACES_HOW, LOGS_RIGHT),
        Read("alert logs", "", LOGS_MESSAGES),
        Read("alert logs", "", LOGS_BASES_HOW),
        Read(
            "",
            "by sudo",
            "crsctl and lldpctl again by `sudo -n`, where they refuse this user and SUDO is sudo (--sudo)",
        ),
    ),
    arguments=(SUDO, NICS),
    example=("no", "eth1", "eth2"),
    sections=_SETUP_SECTIONS,
    limit_s=25.0 + STARTING_LIMIT_S - CRSCTL_LIMIT_S,
)
"""About seventy short-lived processes on a node with a dozen interfaces. `limit_s` is short even for a node where every
tool hangs, because other readers wait for the same shell."""
