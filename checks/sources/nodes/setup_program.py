"""What is read of a node's setup, in one trip by one program of plain `sh`, which changes nothing there.

Of files that can hold secrets only lines of an allow-list are printed. Every tool that could hang has a time limit.
"""

from __future__ import annotations

from checks.sources.nodes.boot_config import fragile, ifcfg, netplan, network_manager, networkd, wicked
from checks.sources.nodes.sections import files_program, program

TOOL_LIMIT_S = 2
"""Seconds that each tool of the node has; they answer in a tenth of one."""
SETUP_LIMIT_S = 20
"""Seconds within which the whole ends, also where every tool hangs: other readers wait for the same shell."""
_MOST_CONNECTIONS = 40
"""So many connections nmcli is asked about; a node of a cluster has about one for each interface."""

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
"""The services that bring interfaces up, in the order in which systemctl is asked about them."""

OLR_FILES = "/etc/oracle/olr.loc /var/opt/oracle/olr.loc"

HOME = f"home=$(grep -h -s '^crs_home=' {OLR_FILES} | head -n 1 | cut -d = -f 2-)"
"""Sets `home` to the Grid home whose tools are run: only root can write there, so it is root's word which they are."""

_IN = "/* ".join

COMMANDS = {
    "boot": (
        "printf 'boot_id %s\\n' \"$(cat /proc/sys/kernel/random/boot_id)\"; grep '^btime ' /proc/stat; "
        "printf 'now %s\\n' \"$(date +%s)\"; printf 'name %s\\n' \"$(uname -n)\"; "
        "printf 'machine %s\\n' \"$(uname -m)\""
    ),
    # The words of a command line are records; the number before one tells whether it is argv[0]. The first line shows
    # that this grep can do that. A process of a container has a second number in NSpid.
    "processes": (
        "printf 'a\\0b\\0' | grep -a -z -n b | tr '\\0' '\\n'; "
        "if [ -r /proc/1/cmdline ]; then printf 'visible\\n'; fi; cd /proc && "
        f"grep -a -z -n -m 1 -H -E '^[a-z]+_pmon_|^/.*/bin/({'|'.join(DAEMONS).replace('.', '[.]')})([[:space:]].*)?$' "
        "[0-9]*/cmdline | tr '\\0' '\\n'; "
        "grep -H -E '^NSpid:[[:space:]]*[0-9]+[[:space:]]+[0-9]' [0-9]*/status"
    ),
    "homes": f"grep -h -i '^[[:space:]]*crs_home' {OLR_FILES}",
    "autostart": f'{HOME}; timeout {TOOL_LIMIT_S} "$home/bin/crsctl" config crs',
    "ohasdstr": "grep -H . /etc/oracle/scls_scr/*/root/ohasdstr /var/opt/oracle/scls_scr/*/root/ohasdstr",
    "services": f'{HOME}; timeout {TOOL_LIMIT_S} "$home/bin/crsctl" check crs',
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
    "units": (
        f"timeout {TOOL_LIMIT_S} systemctl is-active {' '.join(f'{unit}.service' for unit in UNITS)}; "
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
        f'timeout {TOOL_LIMIT_S} nmcli -t -f {network_manager.FIELDS} connection show uuid "$uuid" || break; done'
    ),
    "keyfiles": files_program(
        f"{' '.join(network_manager.DIRECTORIES)} {_IN(network_manager.DIRECTORIES)}/*", network_manager.KEYFILE_LINES
    ),
    "ifcfg": files_program(f"{ifcfg.DIRECTORY}/ifcfg-*", ifcfg.IFCFG_LINES),
    "wicked": files_program(f"{wicked.DIRECTORY}/ifcfg-*", wicked.IFCFG_LINES),
    "networkd": files_program(
        " ".join(
            f"{place}/*.{kind} {place}/*.{kind}.d/*.conf"
            for place in networkd.DIRECTORIES
            for kind in ("network", "netdev", "link")
        ),
        networkd.UNIT_LINES,
    ),
    "netplan": files_program(
        f"{' '.join(netplan.DIRECTORIES)} {'/*.yaml '.join(netplan.DIRECTORIES)}/*.yaml",
        netplan.YAML_LINES,
        unwanted=netplan.NEVER_READ,
    ),
    "scripts": files_program(fragile.SCRIPTS, fragile.LINES, executable=True),
    "rules": f"grep -H -E '{fragile.LINES}' {fragile.RULES}",
    "lldp": f"timeout {TOOL_LIMIT_S} lldpctl -f keyvalue",
}
"""What is run for each section. Each of them shows what there is and leaves out what there is not."""

TOPICS = {
    "setup": (
        "boot", "processes", "homes", "autostart", "ohasdstr", "services", "platform", "logins",
    ),
    "boot files": (
        "devices", "units", "connections", "connection details", "keyfiles", "ifcfg", "wicked", "networkd", "netplan",
        "scripts", "rules",
    ),
    "lldp": ("lldp",),
}  # fmt: skip
"""The sections by the topic under which they stand in the journal."""

PROGRAM = program(COMMANDS, says_why=("autostart", "services", "lldp"))
"""Everything that is read; some sixty short-lived processes on a node with a dozen interfaces."""


_below = " ".join
_READS = {
    "setup": (
        ("this boot", "/proc/sys/kernel/random/boot_id /proc/stat; date; uname"),
        ("processes", "names of Clusterware's daemons and of PMON, in /proc/*/cmdline and /proc/*/status"),
        ("Clusterware", f"{OLR_FILES} /etc/oracle/scls_scr/*/root/ohasdstr"),
        ("", "crsctl config crs; crsctl check crs"),
        ("platform", "/sys/class/dmi/id/* /sys/class/net/*/mode; is there /opt/oracle.cellos, /opt/oracle/oak"),
        ("logins by ssh", "/proc/net/tcp /proc/net/tcp6"),
    ),
    "boot files": (
        ("interfaces", "/sys/class/net/*/address, type and uevent"),
        ("their keepers", f"systemctl is-active {_below(UNITS)}"),
        ("NetworkManager", f"nmcli -t connection show [uuid UUID], without secrets, {_MOST_CONNECTIONS} at most"),
        ("", _below(f"{place}/*" for place in network_manager.DIRECTORIES)),
        ("ifcfg", f"{ifcfg.DIRECTORY}/ifcfg-* {wicked.DIRECTORY}/ifcfg-*"),
        ("systemd-networkd", _below(f"{place}/*" for place in networkd.DIRECTORIES)),
        ("netplan", _below(f"{place}/*.yaml" for place in netplan.DIRECTORIES)),
        ("lines with mtu", f"{fragile.SCRIPTS} {fragile.RULES}"),
    ),
    "lldp": (("switch ports", "lldpctl -f keyvalue"),),
}
"""What is read by the topics of the journal: what it is about, and from where, in words that a person can follow."""


def planned_setup_reads() -> tuple[tuple[str, str], ...]:
    """What is read of a node's setup: what it is about, and from where."""
    return tuple(row for rows in _READS.values() for row in rows)


def action(topic: str) -> str:
    """What is done for a topic of the journal, as the plan tells it: the program itself is none to read."""
    return "; ".join(how for _, how in _READS[topic])
