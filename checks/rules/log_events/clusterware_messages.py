"""The messages of Clusterware that are read: of its alert log, and of the traces of ocssd, gipcd and ohasd."""

from __future__ import annotations

from checks.model.facts import LogKind
from checks.rules.log_events.log_message import ERROR_MESSAGES, TRACES, About, LineRole, LogEvent, LogMessage

_OCSSD = frozenset({LogKind.OCSSD})
_EVICTIONS = "MOS 1050693.1"
_LAST = "If this persists, removal of this node from cluster will occur in"
_TRACE = "/u01/app/grid/diag/crs/rac1/crs/trace/ocssd.trc"


def _missing(percent: int) -> str:
    return f"Network communication with node rac2 (2) has been missing for {percent}% of the timeout interval.  {_LAST}"


def _no_io(percent: int) -> str:
    return f"No I/O has completed after {percent}% of the maximum interval. Voting file /dev/sdb1 will be considered"


CLUSTERWARE_MESSAGES = (
    LogMessage("CRS-1612", ERROR_MESSAGES, f"[OCSSD(7)]CRS-1612: {_missing(50)} 14.880 seconds", LogEvent.HEARTBEAT,
               about=About.NODE, percent=50),
    LogMessage("CRS-1611", ERROR_MESSAGES, f"[OCSSD(7)]CRS-1611: {_missing(75)} 6.880 seconds", LogEvent.HEARTBEAT,
               about=About.NODE, counts=False, percent=75),
    LogMessage("CRS-1610", ERROR_MESSAGES, f"[OCSSD(7)]CRS-1610: {_missing(90)} 2.880 seconds", LogEvent.HEARTBEAT,
               about=About.NODE, counts=False, percent=90),
    LogMessage("CRS-1607", ERROR_MESSAGES, "[OCSSD(7)]CRS-1607: Node rac2 is being evicted in cluster incarnation "
               f"450925382; details at (:CSSNM00007:) in {_TRACE}.", LogEvent.NODE_EVICTED, about=About.NODE),
    LogMessage("CRS-1632", ERROR_MESSAGES, "[OCSSD(7)]CRS-1632: Node rac2 is being removed from the cluster in cluster "
               "incarnation 450925382", LogEvent.NODE_EVICTED, about=About.NODE),
    LogMessage("CRS-1608", ERROR_MESSAGES, "[OCSSD(7)]CRS-1608: This node was evicted by node 1, rac1; details at "
               "(:CSSNM00005:) in ocssd.trc", LogEvent.NODE_EVICTED, about=About.OWNER),
    LogMessage("CRS-1609", ERROR_MESSAGES, "[OCSSD(7)]CRS-1609: This node is unable to communicate with other nodes in "
               "the cluster and is going down to preserve cluster integrity", LogEvent.NODE_EVICTED, about=About.OWNER),
    LogMessage("CRS-1656", ERROR_MESSAGES, "[OCSSD(7)]CRS-1656: The CSS daemon is terminating due to a fatal error; "
               "Details at (:CSSSC00012:) in ocssd.trc", LogEvent.CSS_ENDED, about=About.OWNER),
    LogMessage("CRS-7500", ERROR_MESSAGES, "[OCSSD(7)]CRS-7500: The Oracle Grid Infrastructure process 'ocssd' failed "
               "to establish Oracle Grid Interprocess Communication (GIPC) high availability connection with remote "
               "node 'rac2'.", LogEvent.GIPC, about=About.NODE),
    LogMessage("CRS-7503", ERROR_MESSAGES, "[OCSSD(7)]CRS-7503: The Oracle Grid Infrastructure process 'ocssd' "
               "observed communication issues between node 'rac1' and node 'rac2', interface list of local node "
               "'rac1' is '192.168.10.1:61020;'", LogEvent.GIPC, about=About.NODE),
    LogMessage("CRS-42216", ERROR_MESSAGES, "[GIPCD(7)]CRS-42216: No interfaces are configured on the local node for "
               "interface definition eth1", LogEvent.GIPC),
    LogMessage("CRS-2674", ERROR_MESSAGES, "[OHASD(7)]CRS-2674: Start of 'ora.cluster_interconnect.haip' on 'rac1' "
               "failed", LogEvent.GIPC, pattern=r"CRS-2674.*cluster_interconnect\.haip"),
    LogMessage("CRS-5017", ERROR_MESSAGES, "[ORAROOTAGENT(7)]CRS-5017: The resource action "
               "\"ora.cluster_interconnect.haip start\" encountered the following error:", LogEvent.GIPC,
               pattern=r"CRS-5017.*cluster_interconnect\.haip"),
    LogMessage("CRS-5018", f"{ERROR_MESSAGES}; MOS 1629814.1", "[ORAROOTAGENT(7)]CRS-5018: (:CLSN00037:) Removed "
               "unused HAIP route:  169.254.95.0 / 255.255.255.0 / 0.0.0.0 / usb0", LogEvent.FOREIGN_ROUTE,
               about=About.ROUTE),
    # A voting file is on a disk: disktimeout, 200 s, is another limit than misscount.
    LogMessage("CRS-1604", ERROR_MESSAGES, "[OCSSD(7)]CRS-1604: CSSD voting file is offline: /dev/sdb1; details at "
               f"(:CSSNM00058:) in {_TRACE}.", LogEvent.DISK_HEARTBEAT, counts=False),
    LogMessage("CRS-1606", ERROR_MESSAGES, "[OCSSD(7)]CRS-1606: The number of voting files available, 0, is less than "
               "the minimum number of voting files required, 1, resulting in CSSD termination",
               LogEvent.DISK_HEARTBEAT, counts=False),
    LogMessage("CRS-1615", ERROR_MESSAGES, f"[cssd(7)]CRS-1615:{_no_io(50)} not functional in 13169 milliseconds",
               LogEvent.DISK_HEARTBEAT),
    LogMessage("CRS-1614", ERROR_MESSAGES, f"[cssd(7)]CRS-1614:{_no_io(75)} not functional in 6580 milliseconds",
               LogEvent.DISK_HEARTBEAT, counts=False),
    LogMessage("CRS-1613", ERROR_MESSAGES, f"[cssd(7)]CRS-1613:{_no_io(90)} not functional in 2640 milliseconds",
               LogEvent.DISK_HEARTBEAT, counts=False),
    LogMessage("CRS-1649", ERROR_MESSAGES, "[cssd(7)]CRS-1649:An I/O error occured for voting file: ORCL:DISK01; "
               f"details at (:CSSNM00059:) in {_TRACE}.", LogEvent.DISK_HEARTBEAT, counts=False),
    LogMessage("CRS-1625", ERROR_MESSAGES, "[OCSSD(7)]CRS-1625: Node rac2, number 2, was shut down",
               role=LineRole.ORDER, about=About.NODE),
    LogMessage("CRS-2791", ERROR_MESSAGES, "[OHASD(7)]CRS-2791: Starting shutdown of Oracle High Availability "
               "Services-managed resources on 'rac1'", role=LineRole.ORDER, about=About.OWNER),
    LogMessage("CRS-2790", ERROR_MESSAGES, "[CRSD(7)]CRS-2790: Starting shutdown of Cluster Ready Services-managed "
               "resources on 'rac1'", role=LineRole.ORDER, about=About.OWNER),
    *(
        LogMessage(code, ERROR_MESSAGES, f"[OCSSD(7)]{sample}", role=LineRole.CONTEXT)
        for code, sample in (
            ("CRS-1601", "CRS-1601: CSSD Reconfiguration complete. Active nodes are rac1 rac2 ."),
            ("CRS-1603", "CRS-1603: CSSD on node rac2 has been shut down."),
            ("CRS-1605", f"CRS-1605: CSSD voting file is online: /dev/sdb1; details in {_TRACE}."),
            ("CRS-1617", "CRS-1617: The information required to do node kill for node rac2 is incomplete"),
            ("CRS-1621", "CRS-1621: The IPMI configuration data for this node is incomplete"),
            ("CRS-1652", "CRS-1652: Se ha iniciado la limpieza de los recursos de CRSD."),
            ("CRS-1663", "CRS-1663: Member kill issued by PID 4711 for 1 members, group DBPROD."),
            ("CRS-8011", "CRS-8011: reboot advisory message from host: rac2, component: cssagent"),
        )
    ),
)  # fmt: skip
"""Of several rows that find a line, the first one counts."""

_POLLING = "clssnmPollingThread: node rac2 (2) at"
_CSSD = "2026-11-04 10:12:31.123 :    CSSD:909854464: [     INFO] "
_GIPCHA = (
    "{ host '%s', haName 'dbe1-effd-30dd-adba', local (nil), ip '192.168.10.1:60150', subnet '192.168.10.0', "
    "mask '255.255.255.0', mac '02-00-17-00-3b-91', ifname 'eth1', numRef 0, numFail 1, idxBoot 0, flags 0x18d }"
)
_PUBLIC = "public traces of ocssd, 11.2 to 19c"

TRACE_MESSAGES = (
    *(
        LogMessage(f"heartbeat at {percent}%", f"{_EVICTIONS}; {_PUBLIC}",
                   f"{_CSSD}{_POLLING} {percent}% heartbeat fatal, removal in {left} seconds", LogEvent.HEARTBEAT,
                   about=About.NODE, logs=_OCSSD, counts=percent == 50, percent=percent,
                   pattern=rf"clssnmPollingThread: node .* at {percent}% heartbeat fatal")
        for percent, left in ((50, "14.320"), (75, "7.130"), (90, "2.740"))
    ),
    # CSS writes it several times a second: the lines of one second in ten are enough to know how long it lasted.
    LogMessage("disk HB, but no network HB", f"{_EVICTIONS}; {_PUBLIC}",
               "2026-11-04 10:12:30.123 :    CSSD:909854464: [     INFO] clssnmvDHBValidateNCopy: node 2, rac2, has a "
               "disk HB, but no network HB, DHB has rcfg 295030317, wrtcnt, 27424336, LATS 576293252",
               LogEvent.NO_NETWORK_HEARTBEAT, about=About.NODE, logs=_OCSSD, counts=False,
               pattern=r"^[-0-9]{10} [0-9:]{7}0[.].*has a disk HB, but no network HB"),
    LogMessage("Evicting node", f"{_EVICTIONS}; {_PUBLIC}",
               f"{_CSSD}(:CSSNM00007:)clssnmrRemoveNode: Evicting node 2, rac2, from the cluster in incarnation "
               "472333840, node birth incarnation 472333839", LogEvent.NODE_EVICTED, about=About.NODE, logs=_OCSSD,
               pattern="clssnmrRemoveNode: Evicting node "),
    LogMessage("voting disks available", _EVICTIONS,
               f"{_CSSD}(:CSSNM00018:)clssnmvDiskCheck: Aborting, 0 of 1 configured voting disks available, need 1",
               LogEvent.DISK_HEARTBEAT, logs=_OCSSD, counts=False,
               pattern=r"CSSNM00018:\).*voting disks available"),
    # An interface with an empty host is the node's own; that of a peer goes whenever the peer leaves.
    LogMessage("interface failing", "public traces of gipcd, ohasd and crsd, 11.2 to 19c",
               "2026-11-04 10:12:31.123 :GIPCHGEN:3320669952:  gipchaInterfaceFailF [gipchaNodeAddInterfaceF : "
               f"gipchaMain.c : 2466]: failing interface 0x7f6d94092c40 {_GIPCHA % ''}", LogEvent.INTERFACE_LOST,
               about=About.INTERFACE, logs=TRACES, pattern="gipchaInterfaceFail.*failing.*host ..,"),
    LogMessage("no valid interfaces", "MOS 1053147.1 and its public copies",
               "2026-11-04 10:12:31.123: [GIPCHALO][2314] gipchaLowerProcessNode: no valid interfaces found to node "
               "for 2614824036 ms, node 111ea99b0 { host 'rac2', haName '1e0b-174e-37bc-a515', numInf 0 }",
               LogEvent.GIPC, about=About.NODE, logs=TRACES,
               pattern="gipchaLowerProcessNode: no valid interfaces found to node"),
)  # fmt: skip
