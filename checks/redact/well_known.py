"""The names that are not replaced, because they identify no site or person, and words that are not names."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WELL_KNOWN_NAMES: dict[str, tuple[frozenset[str], str]] = {
    "users": (
        _words(
            "root oracle grid asm nobody daemon sys system sysdba sysasm sysrac sysbackup sysoper public dbsnmp "
            "perfstat gsmadmin_internal asmsnmp crsuser racwire oracle_ocm sshd systemd-network users"
        ),
        "Users of Linux, Grid Infrastructure, Oracle and racwire that exist at every site; users is a group.",
    ),
    "hosts": (
        _words("localhost localhost4 localhost6 localdomain ip6-localhost ip6-loopback broadcasthost"),
        "Names of the local host on every machine.",
    ),
    "instances": (
        _words("+asm -mgmtdb mgmtdb _mgmtdb asm apx +apx +ioserver"),
        "The names that Clusterware uses in every cluster; a number can follow.",
    ),
    "containers": (frozenset({"cdb$root", "pdb$seed"}), "Containers that every container database has."),
    "listeners": (
        _words("listener listener_scan asmnet lsnr asmnet1lsnr_asm mgmtlsnr"),
        "The names that the installer assigns; a number can follow.",
    ),
    "domains": (
        _words("openssh.com libssh.org localdomain in-addr.arpa ip6.arpa"),
        "Domains in the names of ssh algorithms, and domains without an owner.",
    ),
    "directories": (
        _words(
            "u01 u02 u03 app oracle orabase orahome oracle_base oracle_home grid gridhome product base dbhome "
            "dbhome_1 dbhome_2 db_1 network admin wallet wallets tns ssh .ssh config etc opt home export users root "
            "var tmp usr local lib run srv mnt nfs log state share racwire .local .config changes settings "
            "password database inventory orainventory crs oragrid bin conf secrets keys"
        ),
        "Directories of the installer or of any Linux; a number can follow. Releases such as 19.0.0 are like them.",
    ),
}
"""Names that are not replaced, by kind, with the reason. Names of interfaces are not replaced either, because they show
the layer of an interface, nor are addresses that no site chooses (`WELL_KNOWN_NETWORKS`)."""

WELL_KNOWN_NETWORKS: dict[str, str] = {
    "0.0.0.0/8": "this host, the unspecified address, and masks such as 0.0.0.255",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "HAIP and other link-local addresses: chosen at random, never routed (RFC 3927)",
    "224.0.0.0/4": "multicast, such as Clusterware's 224.0.0.251 and 230.0.1.0",
    "255.0.0.0/8": "netmasks and broadcast",
    "::/127": "the unspecified address, and loopback",
    "ff00::/8": "multicast; the part of a solicited-node address that comes from a MAC address is replaced",
}
"""Networks whose addresses are not replaced, each with its purpose."""
VOCABULARY = _words("""
    a about above after again alias all an and another any are as asked at average away back bad be because been before
    begin below between big bits block blocks bond bonding bonds boot both bridge buffer buffers busy but by bytes cable
    cache cached can cannot change changed check checked checks client cluster clusters clusterware cold command
    commands common configuration configured connect connected connection console copy core counted counter counters
    cpu css current data database databases day days db dbs default default delay dev device devices df did different
    directory disk do does done down drop dropped drops duplex each either empty end error errors eth ethernet ether
    every exadata exit expected fail failed fails failure few file files filter finding findings first for found
    fragment fragments frame frames free from full gap gc gcs ges get gets global good grant granted grants grid group
    half has have haip here high history hit home host hosts hour hours how id if ifcfg in index infiniband info input
    instance instances interconnect interconnects interface interfaces interval into ip is it its jumbo keeper kernel
    kind known lab label large largest last late latency lab least left less level limit limits line link links lldp
    load local long lost loss losses low lower mac main managed many master max maximum mb mean member members memory
    message messages mib min minimum minute minutes missing more most mtu name named names net network networks never
    next nic nics no node nodes none normal not nothing now number of off ok old on once one online offline only open
    oracle oracles order other others out output over own packet packets page part parts pass passes path paths peer
    peers percent ping pings place plain plan port ports primary private probe probed probes process production product
    public queue query rac rate rates read reads real reason receive received received receives redo release remedy
    remote report reports request reply reset resource rest restart root route router routes run running runs same
    sample samples scan second seconds section see seen send sends sent server servers service services session
    setting settings setup share shared short should show shows side signed silent since size sizes slow small snapshot
    snapshots so socket some source sources speed sql ssh standby start started state static statistic statistics
    status step still stop strict subnet such switch switches system systems table target tcp team test text than that
    the their them then there these they this those threshold through time times to together told too topic total
    traffic try two type udp under unit unknown unreachable until up upper use used user users value values verdict
    version very view views vip vlan wait waits waiver was way were what when where which while who whole why wide
    wire with without work worse would write writes wrong year you zero zone x86 mgmt pub priv
    trace stats sys
    """)
"""Words of racwire's sentences and of the tools that it runs. The name of a node or a database that is such a word is
replaced only where it is a whole word."""
_WELL_KNOWN_WORDS = " ".join(sorted(name for names, _ in WELL_KNOWN_NAMES.values() for name in names))
_VOCABULARY_TEXT = f"{' '.join(sorted(VOCABULARY))} {_WELL_KNOWN_WORDS}"

INTERFACE_NAME = re.compile(
    r"(?:lo|(?:eth|en|ens|eno|enp|enx|em|ib|bond|bondeth|bondib|team|br|virbr|vlan|net|re|p\d+p|wlan|usb|veth|dummy)"
    r"\d[\w.:-]*)"
)
"""The name of an interface as the kernel, udev or an administrator chooses it."""

_TABLES = {
    "user": ("users",),
    "person": ("users",),
    "host": ("hosts",),
    "switch": ("hosts",),
    "domain": ("domains",),
    "database": ("instances", "containers"),
    "instance": ("instances",),
    "service": ("instances", "containers"),
    "listener": ("listeners",),
    "directory": ("directories", "users", "instances"),
}
"""The tables of WELL_KNOWN_NAMES for each kind of name: a host with the name of an installer's directory is replaced. A
switch without a name reports `localhost`; databases and instances have services with their names; diagnostic
directories have the names of users and instances."""
_NUMBERED = frozenset({"instances", "listeners", "directories"})
"""Tables with names that a number can follow."""


def is_well_known(kind: str, name: str) -> bool:
    """Whether a name of this kind identifies no site or person."""
    bare = name.casefold()
    without_number = bare.rstrip("0123456789").removesuffix("_")
    return any(
        bare in WELL_KNOWN_NAMES[table][0] or (table in _NUMBERED and without_number in WELL_KNOWN_NAMES[table][0])
        for table in _TABLES.get(kind, ())
    )


def is_well_known_directory(name: str) -> bool:
    """Whether a part of a path is a directory of the installer or of Linux, an ordinary word or a release."""
    return not re.search(r"[^\W\d_]{2}", name) or is_well_known("directory", name) or name.casefold() in VOCABULARY


def is_in_vocabulary(text: str) -> bool:
    """Whether a text is part of a word of the vocabulary."""
    return text in _VOCABULARY_TEXT
