"""A made-up site with every kind of name and address in every place that can hold one."""

from __future__ import annotations

import msgspec

from checks.model.facts import (
    Address,
    Cluster,
    Clusterware,
    LldpNeighbour,
    Managed,
    ManagedDatabase,
    Neighbour,
    Node,
    NodeSetup,
    OcrBackup,
    Parameter,
    Route,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Waived
from checks.model.journal import Entry
from checks.model.measurement import DrillEvent, DrillOf, MeasuredStorage, Measurement
from checks.model.report import Report, WaiverStanding
from checks.redact import Identity
from checks.traffic.samples import Gap, Link, Links, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tests.fixtures.clusters import interface
from tests.fixtures.databases import asked, database
from tests.fixtures.reports import black_hole, report_of
from tests.unit.measurement_support import EVERY
from tests.unit.session_support import whole

ORIGINALS = (
    # nodes, and names made of them
    "rac1", "rac2", "rac3",
    # the cluster, its domain, other hosts in it
    "prodrac", "nordfjord", "corp.nordfjord.example", "bastion7", "mailgate",
    # databases, instances, services, users
    "prod1", "prod2", "payroll", "pdbsalary", "salaryapp", "auditor_kim", "deployer", "kim", "standbyx",
    # switches and their ports, directories
    "leaf7", "hall-north-3", "fjordtools", "fjordswitches", "core9-sw", "rack-z12",
    # people
    "Ann Lee", "ann.lee@nordfjord.example", "someone@elsewhere.org",
    # addresses of the public and private networks, of a gateway, of a DNS server, of hosts in outputs only
    "10.20.0.1", "10.20.0.254", "192.168.10.1", "192.168.11.2", "172.17.4.9", "8.8.4.4", "192.168.10.0", "192.168.11.0",
    "0100A8C0", "0100140A", "1.10.168.192",
    "2a02:1234:5678:9abc::17", "2a02:1234:5678:9abc:ba59:9fff:fe0a:1b2c", "fe80::ba59:9fff:fe0a:1b2c", "0a:1b2c",
    # hardware
    "b8:59:9f:0a:1b:2c", "b8-59-9f-0a-1b-2c", "b859.9f0a.1b2c", "b8599f0a1b2c", "e4:1d:2d:03:00:e8:12:34",
    "e41d:2d03", "b8:59:9f", "e41d2d03",
    # short addresses, and known ones in other spellings: in names, with tcpdump's port, as the kernel's digits
    "9.1.1.2", "2001::1", "192.168.10.77.22", "172.17.4.9.52344", "192_168_10_1", "10-20-0-1", "C0A80A01", "010AA8C0",
    "2a02123456789abc", "ba599ffffe0a1b2c",
    # the names of a database
    "2718281828",
)  # fmt: skip
"""Originals that must not occur in any redacted output, in any case."""
WORDS = ("prod",)
"""Originals that are part of ordinary words (`product`): they must not occur except between letters."""

STAYS = ("169.254.10.1", "255.255.255.0", "/u01/app/19.0.0/grid", "+ASM1", "19.22.0.0.0", "eth1", "eth2", "black hole")
"""Texts that a reader needs and that identify no site."""

IDENTITY = Identity(("kim",), "/home/kim", "bastion7.corp.nordfjord.example")

_OUTPUT = """\
10.20.0.1 rac1.corp.nordfjord.example RAC1 rac1-vip  # and mailgate.nordfjord.example at 172.17.4.9
search corp.nordfjord.example; nameserver 8.8.4.4; 1.10.168.192.in-addr.arpa
   2: 0100140A:0016 0100A8C0:A296 01 00000000:00000000 02:000AFC36 00000000     0        0 21674481 3
    link/ether B8:59:9F:0A:1B:2C brd ff:ff:ff:ff:ff:ff; b8-59-9f-0a-1b-2c, b859.9f0a.1b2c; enxb8599f0a1b2c
    link/infiniband 80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:e8:12:34
    brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
    inet6 fe80::ba59:9fff:fe0a:1b2c/64 scope link; gid fe80:0000:0000:0000:e41d:2d03:00e8:1234; ff02::1:ff0a:1b2c
    inet 192.168.10.1/24 brd 192.168.10.255 netmask 255.255.255.0; eth1:1 169.254.10.1; 192.168.10.0/24
oracle  4711 ora_pmon_PROD1 ora_lms0_prod2 asm_pmon_+ASM1 /u01/app/oracle/product/19.22.0/dbhome_1 product
ora.prod.payroll.svc ora.standbyx.db ora.PRODRAC.vip PRODRAC_1 /home/kim/bin ip-10-20-0-1.eu.compute
(DESCRIPTION=(ADDRESS=(HOST=RAC1-VIP)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=payroll.nordfjord.example)))
IP 192.168.10.1.1521 > 192.168.10.77.22: 172.17.4.9.52344; 9.1.1.2 via 2001::1 to 192.168.10.1/4; trace_192_168_10_1.trc
2a02123456789abcba599ffffe0a1b2c 02 40 00 80 eth0; eth1 C0A80A01 010AA8C0 00000000 0003; GUID 0xe41d2d0300e81234
DB Name: PROD, DB Id: 2718281828; 19.22.0.0.0 at 1.3.6.1.2.1.4.20.1.1.192.168.11.2
ann.lee@nordfjord.example wrote to someone@elsewhere.org; chacha20-poly1305@openssh.com getty@tty1.service
Last login: Fri Nov 20 13:58:01 2026 from bastion7
{"host": "rac1", "version": "19.22.0.0.0", "at": "2026-11-20T14:02:31.100+01:00"} http%3A%2F%2Frac2%3A1521
"""


def site() -> Report:
    """Return the report of three nodes, two of which lose jumbo frames, with all parts that a report can have."""
    report = report_of(_cluster())
    waiver = Waived("Ann Lee mends it with prod in January", "Ann Lee", "2027-01-31")
    findings = (msgspec.structs.replace(report.findings[0], waived=waiver), *report.findings[1:])
    standing = WaiverStanding(
        code="IC-PATH-003", subject="eth2 rac1 -> rac2", reason=waiver.reason, by=waiver.by, expires=waiver.expires,
        standing="in force",
    )  # fmt: skip
    journal = (
        *report.journal,
        Entry("rac2", "path 192.168.11.0/24 rac1 rac2", "ssh kim@rac2 ip addr", "2026-11-20T14:02:31.100+01:00",
              outcome="ssh: rac2: no route to 192.168.11.2", text=_OUTPUT),
    )  # fmt: skip
    return msgspec.structs.replace(
        report, findings=findings, journal=journal, waivers=(standing,), settings=_settings(),
        versions={"racwire": "1"}, measurements=tuple(map(_of_site, EVERY)), sessions=(whole(),),
    )  # fmt: skip


def _of_site(made: Measurement) -> Measurement:
    """Return a made-up result as one of the site: with its names and addresses in every place that can hold one."""
    path = msgspec.structs.replace(
        made.paths[0], program="/opt/fjordtools/perl/bin/perl", source="192.168.10.1", target="192.168.10.77"
    )
    result = made.result
    if isinstance(result, MeasuredStorage):
        result = msgspec.structs.replace(
            result, directory="/home/kim/hall-north-3", server="mailgate.nordfjord.example:/fjordtools"
        )
    if isinstance(result, DrillOf):
        events = (
            DrillEvent(1.0, "rac3", "192.168.10.1 moved from eth1 of rac1 to leaf7"),
            DrillEvent(
                2.0, "rac2", "10.20.0.1 is at b8:59:9f:0a:1b:2c", address="10.20.0.1", detail="b8:59:9f:0a:1b:2c"
            ),
        )
        result = msgspec.structs.replace(
            result, subject="link eth2 of rac3", events=events, cause="rac1 asks for 192.168.11.2 again after 1 s."
        )
    return msgspec.structs.replace(
        made, cluster="prodrac", node="rac1", paths=(path,), result=result,
        plan=("On 192.168.10.0/24 from rac1 (192.168.10.1) to rac2.", "The far end is /opt/fjordtools/perl/bin/perl."),
        although_loaded="Ann Lee agreed, for payroll", stopped="The far end on rac2 ended: no answer from 172.17.4.9.",
    )  # fmt: skip


def track() -> Timeline:
    """Return some samples of the same site."""
    timeline = Timeline()
    timeline.add([Links("rac1", 1.0, (Link("eth1", "ethernet", 9000, network="192.168.10.0/24"),))])
    timeline.add([NodeSample("rac1", 2.0, 1.0, counters={"Ip.ReasmFails": 3})])
    timeline.add(
        [Gap(SourceId.node("rac2"), 3.0, "rac2 (10.20.0.254) gave no answer to kim@rac2.corp.nordfjord.example.")]
    )
    return timeline


def _settings() -> dict[str, object]:
    return {
        "cluster": {"grid_home": "", "networks": ["192.168.10.0/24"], "peers": ["kim@rac2.corp.nordfjord.example"]},
        "ssh": {"config_file": "/home/kim/.ssh/config", "user": "deployer", "read_timeout_s": 10.0},
        "console": {"graphs": "blocks", "ascii": False},
        "database": {
            "connect": "prod-scan.nordfjord.example:1521/payroll",
            "user": "AUDITOR_KIM",
            "wallet": "/opt/fjordtools/wallet",
            "oracle_sid": "prod1",
        },
        "change": {"switch_kinds": "/opt/fjordswitches/kinds.toml"},
        "waivers": [{"code": "IC-PATH-003", "by": "Ann Lee", "status": "FAIL", "nodes": ["rac1"], "reason": "rac1"}],
    }


def _cluster() -> Cluster:
    base = asked(black_hole(3))
    assert isinstance(base.clusterware, Clusterware)
    assert isinstance(base.nodes, tuple)
    assert isinstance(base.setups, tuple)
    first, second, third = base.nodes
    assert isinstance(first, Node)
    first_setup = base.setups[0]
    assert isinstance(first_setup, NodeSetup)
    lldp = (
        LldpNeighbour("eth1", "leaf7.dc2.nordfjord.example", "Cisco NX-OS 9.3(8)", "Ethernet1/49"),
        LldpNeighbour("eth2", "leaf7.dc2.nordfjord.example", "Cisco NX-OS 9.3(8)", "hall-north-3"),
    )
    reached = "(DESCRIPTION=(ADDRESS=(HOST=prod-scan.nordfjord.example))(CONNECT_DATA=(SERVICE_NAME=salaryapp)))"
    parameters = (Parameter(1, "cluster_interconnects", "192.168.10.1:192.168.11.1"), Parameter(1, "db_name", "prod"))
    return msgspec.structs.replace(
        base,
        nodes=(
            _first_node(first),
            second,
            third,
            UnreadNode("rac4", "ssh: connect to host rac4.corp.nordfjord.example port 22: No route to 10.20.0.254"),
        ),
        setups=(msgspec.structs.replace(first_setup, lldp=lldp), *base.setups[1:]),
        database=database(
            3,
            reached=reached,
            dbid=2_718_281_828,
            user="AUDITOR_KIM",
            container="PDBSALARY",
            is_multitenant=True,
            parameters=parameters,
        ),
        managed=Managed(
            (
                ManagedDatabase("standbyx", (("standbyx_2", "rac2"),), services=(("svcsalary", "rac2"),)),
                ManagedDatabase("prod", Unknown("PRCD-1: rac1")),
            ),
            OcrBackup("rac1", "2026-11-01T08:00:00", "+DATA:/prodrac/OCRBACKUP/backup_1.ocr"),
        ),
    )


def _first_node(node: Node) -> Node:
    addresses = (
        Address("10.20.0.1", 24),
        Address("2a02:1234:5678:9abc::17", 64),
        Address("2a02:1234:5678:9abc:ba59:9fff:fe0a:1b2c", 64),
        Address("fe80::ba59:9fff:fe0a:1b2c", 64),
    )
    public = msgspec.structs.replace(node.interfaces[0], mac_address="b8:59:9f:0a:1b:2c", addresses=addresses)
    infiniband = interface(
        "ib0", "", kind="infiniband",
        mac_address="80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:e8:12:34",
    )  # fmt: skip
    return msgspec.structs.replace(
        node,
        interfaces=(public, *node.interfaces[1:], infiniband),
        routes=(*node.routes, Route("default", "eth0", "10.20.0.254"), Route("10.0.0.0/8", "eth0", "10.20.0.254")),
        neighbours=(Neighbour("192.168.10.2", "eth1", "b8:59:9f:0a:1b:2d", "reachable"),),
        unread=(Unknown("kim on rac1 may not read lldpctl."),),
    )
