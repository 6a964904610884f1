"""The messages of database and ASM instances that are read in their alert logs."""

from __future__ import annotations

from checks.rules.log_events.log_message import ERROR_MESSAGES, INSTANCES, About, LineRole, LogEvent, LogMessage

_EVICTIONS = "MOS 1374110.1"
_PUBLIC = "public alert logs, 10g to 19c"


def _row(
    code: str,
    source: str,
    sample: str,
    event: LogEvent | None = None,
    role: LineRole = LineRole.EVENT,
    about: About = About.NOBODY,
    pattern: str = "",
    *,
    counts: bool = True,
) -> LogMessage:
    return LogMessage(code, source, sample, event, role, about, INSTANCES, pattern, counts)


INSTANCE_MESSAGES = (
    # --- messages between instances
    _row("IPC Send timeout", _EVICTIONS, "IPC Send timeout detected. Sender: ospid 4812 [oracle@rac1 (LMS0)]",
         LogEvent.SEND_TIMEOUT, about=About.INSTANCES, pattern="IPC Send timeout detected"),
    _row("IPC Send timeout to", _EVICTIONS, "IPC Send timeout to 1.7 inc 120 for msg type 65516 from opid 13",
         role=LineRole.CONTEXT, pattern="IPC Send timeout to "),
    _row("Receiver", _EVICTIONS, "Receiver: inst 2 binc 430 ospid 2345", role=LineRole.RECEIVER, about=About.INSTANCES,
         pattern="^Receiver: inst "),
    _row("no messaging activity", _EVICTIONS, "LMS0 (ospid: 10410) has detected no messaging activity from instance 1",
         LogEvent.SEND_TIMEOUT, about=About.INSTANCES, pattern="has detected no messaging activity from instance"),
    _row("Communications reconfiguration", _EVICTIONS, "Communications reconfiguration: instance_number 2",
         LogEvent.SEND_TIMEOUT, about=About.INSTANCES, pattern="Communications reconfiguration", counts=False),
    _row("no connectivity", _PUBLIC, "No connectivity to other instances in the cluster during startup. Hence, LMON "
         "is terminating the instance.", LogEvent.NO_CONNECTION, about=About.OWNER,
         pattern="No connectivity to other instances in the cluster"),
    _row("split-brain resolution", _EVICTIONS, "Waiting for clusterware split-brain resolution", role=LineRole.CONTEXT,
         pattern="split-brain resolution"),
    # --- evictions
    _row("ORA-29740", f"{ERROR_MESSAGES}; MOS 219361.1", "ORA-29740: evicted by member 0, group incarnation 122",
         LogEvent.INSTANCE_EVICTED, about=About.OWNER),
    _row("abort message", _PUBLIC, "Received an instance abort message from instance 2", LogEvent.INSTANCE_EVICTED,
         about=About.OWNER, pattern="Received an instance abort message from instance [0-9]"),
    _row("Evicting instance", _EVICTIONS, "Evicting instance 2 from cluster", LogEvent.INSTANCE_EVICTED,
         about=About.INSTANCES, pattern="Evicting instance [0-9]"),
    _row("Remote instance kill map", _EVICTIONS, "Remote instance kill map (size 1) : 2 ", LogEvent.INSTANCE_EVICTED,
         about=About.INSTANCES, pattern="Remote instance kill map"),
    _row("eviction map", _PUBLIC, "The instance eviction map is 2 ", LogEvent.INSTANCE_EVICTED, about=About.INSTANCES,
         pattern="instance eviction map is"),
    _row("Remote instance kill", _EVICTIONS, "Remote instance kill is issued with system inc 64", role=LineRole.CONTEXT,
         pattern="Remote instance kill is issued"),
    # --- the end and the start of an instance
    _row("terminating", _PUBLIC, "PMON (ospid: 41879): terminating the instance due to ORA error 499",
         LogEvent.INSTANCE_ENDED, about=About.OWNER, pattern="terminating (the )?[Ii]nstance"),
    _row("terminated", _PUBLIC, "Instance terminated by PMON, pid = 20111", LogEvent.INSTANCE_ENDED,
         about=About.OWNER, pattern="Instance terminated by ", counts=False),
    _row("cause of the end", "public alert logs, 19c", "Cause - 'Instance is being terminated due to fatal process "
         "death (pid: 5, ospid: 41971, IPC0)'", LogEvent.INSTANCE_ENDED, about=About.OWNER,
         pattern="Cause - .Instance is being terminated", counts=False),
    *(
        _row(f"ORA-{code}", ERROR_MESSAGES, f"ORA-{code}: {text}", role=LineRole.CONTEXT)
        for code, text in (
            ("00481", "LMON process terminated with error"),
            ("00482", "LMD* process terminated with error"),
            ("00484", "LMS* process terminated with error"),
            ("29702", "error occurred in Cluster Group Service operation"),
            ("29743", "exiting from instance membership recovery protocol because this instance is not in good health"),
        )
    ),
    _row("Starting", _PUBLIC, "Starting ORACLE instance (normal)", role=LineRole.STARTED,
         pattern="Starting ORACLE instance"),
    _row("ORA-29746", ERROR_MESSAGES, "ORA-29746: Cluster Synchronization Service is being shut down.",
         role=LineRole.ORDER, about=About.OWNER),
    _row("Shutting down", _PUBLIC, "Shutting down ORACLE instance (abort) (OS id: 44064)", role=LineRole.ORDER,
         about=About.OWNER, pattern="Shutting down (ORACLE )?instance|Shutdown in progress|ALTER DATABASE CLOSE"),
    # --- what the operating system refused; several lines are one error
    *(
        _row(code, f"{ERROR_MESSAGES}; MOS 2041723.1", f"{code}: {text}", role=LineRole.OS_ERROR)
        for code, text in (
            ("ORA-27504", "IPC error creating OSD context"),
            ("ORA-27300", "OS system dependent operation:sendmsg failed with status: 105"),
            ("ORA-27301", "OS failure message: No buffer space available"),
            ("ORA-27302", "failure occurred at: sskgxpsnd2"),
            ("ORA-27303", "additional information: requested interface 169.254.45.12 not found. Check output from"),
        )
    ),
    _row("skgxpvfynet", "MOS 2041723.1", "skgxpvfynet: mtype: 61 process 11799 failed because of a resource problem "
         "in the OS. The OS has most likely run out of buffers (rval: 4)", LogEvent.NO_BUFFERS,
         pattern="skgxpvfynet:", counts=False),
    _row("network interface", _EVICTIONS, "network interface with IP address 169.254.45.12 no longer operational",
         LogEvent.INTERFACE_LOST, about=About.INTERFACE,
         pattern="network interface with IP .*no longer (operational|running)"),
    _row("network interface again", _EVICTIONS, "network interface with IP address 169.254.45.12 is now operational",
         role=LineRole.CONTEXT, pattern="network interface with IP .*now (operational|running)"),
    # --- others
    _row("ORA-29770", ERROR_MESSAGES, "ORA-29770: global enqueue process LMS0 (OSID 7) is hung for more than 70 "
         "seconds", LogEvent.HUNG),
    _row("Reconfiguration", _PUBLIC, "Reconfiguration started (old inc 2, new inc 4)", LogEvent.RECONFIGURED,
         pattern="^ *Reconfiguration started"),
    _row("Reconfiguration complete", _PUBLIC, "Reconfiguration complete (total time 0.1 secs)", role=LineRole.CONTEXT,
         pattern="^ *Reconfiguration complete"),
)  # fmt: skip
"""Of several rows that find a line, the first one counts."""
