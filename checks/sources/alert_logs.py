"""The command that reads the alert logs of a node and the traces of Clusterware: listed lines only, from the end,
bounded in size and time. No I/O.

The messages are those of `checks.rules.log_events.table`. The logs come last in the answer of the program SETUP. A file
system that hangs (NFS) stops this command alone: a process in the background opens the directories and files and writes
into a pipe, and the foreground reads that pipe for a limited time. When the file system answers later, the process ends
at its next write, because the pipe has no reader.
"""

from __future__ import annotations

from checks.rules.log_events.table import WANTED, WANTED_IN_TRACES, described
from checks.sources.grid_commands import OLR_FILES, ORATAB_FILES
from checks.sources.sh_text import FILE_MARK, MARK, UNREADABLE

LOGS_LIMIT_S = 6
"""Seconds after which racwire stops to wait for the logs of a node; local disks answer in a tenth of a second."""
TAIL_BYTES = 2_000_000
"""Bytes at the end of each log that are searched: about a day of a busy instance, and less than an hour of a trace."""
MOST_LINES = 120
"""Most lines of one log, with their time stamps; the last ones count."""
MOST_FILES = 16
"""Most logs of a node: those that were written last."""
_LINE_BYTES = 480
_MOST_CLOSED = 40
"""Most directories that are named because this user may not list them."""

LOOKED_IN = f"{MARK}-looked-in"
"""The prefix of the line that names an ORACLE_BASE whose directory diag was searched."""
DONE = f"{MARK}-logs-done"
"""The last line: all logs were read."""
NO_TIMEOUT = f"{MARK}-no-timeout"
"""The line that shows that the node lacks the program timeout, so that the logs were not read."""

_STAMP = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}[0-9.,:+Z -]*$"
    r"|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} ([A-Z]{2,5} )?[0-9]{4}$"
)
"""A line that is a time stamp alone: in ISO 8601 (12.2 and later, CRS before 12.1.0.2), or as `date` prints it."""

_OLR, _ORATAB = " ".join(OLR_FILES), " ".join(ORATAB_FILES)

# Each line of orabasetab is HOME:BASE:NAME:... (18c and later); crsconfig_params has the base of the Grid home before.
_BASES = (
    f"grid=$(grep -h -s '^crs_home=' {_OLR} | head -n 1 | cut -d = -f 2-); "
    f"for home in \"$grid\" $(grep -h -s '^[^#:]*:/' {_ORATAB} | cut -d : -f 2 | sort -u | head -n {MOST_FILES}); do "
    'if [ -n "$home" ]; then '
    "grep -h -s '^/[^:]*:/' \"$home/install/orabasetab\" | head -n 1 | cut -d : -f 2; "
    "grep -h -s '^ORACLE_BASE=/' \"$home/crs/install/crsconfig_params\" | head -n 1 | cut -d = -f 2; "
    "case $home in */product/*) printf '%s\\n' \"${home%%/product/*}\" ;; "
    '*/*/*/*) printf \'%s\\n\' "${home%/*/*}/grid" "${home%/*/*}/oracle" ;; esac; fi; done'
)
_CLOSED = (
    'for up in "$base/diag" "$base"/diag/crs "$base"/diag/crs/*/ "$base"/diag/crs/*/crs "$base"/diag/crs/*/crs/trace '
    '"$base"/diag/rdbms "$base"/diag/rdbms/*/ "$base"/diag/rdbms/*/*/ "$base"/diag/rdbms/*/*/trace '
    '"$base"/diag/asm "$base"/diag/asm/*/ "$base"/diag/asm/*/*/ "$base"/diag/asm/*/*/trace; do '
    'if [ -d "$up" ] && { [ ! -r "$up" ] || [ ! -x "$up" ]; }; then '
    f"printf '{FILE_MARK} %s\\n{UNREADABLE}\\n' \"$up\"; fi; done | head -n {2 * _MOST_CLOSED}"
)
_NAME_FILE = f"printf '{FILE_MARK} %s\\n' \"$file\""
_LAST_LINES = f"tail -n {MOST_LINES} | LC_ALL=C sed -E 's/^(.{{0,{_LINE_BYTES}}}).*/ \\1/'"
_OF_FILE = (
    f"{_NAME_FILE}; if [ ! -r \"$file\" ]; then printf '{UNREADABLE}\\n'; else "
    f"tail -c {TAIL_BYTES} -- \"$file\" | LC_ALL=C grep -a -E '{_STAMP}|{WANTED}' | "
    f"LC_ALL=C grep -a -E -B 1 '{WANTED}' | {_LAST_LINES}; fi"
)
# Each line of a trace has its time stamp.
_OF_TRACE = (
    f'if [ -r "$file" ]; then {_NAME_FILE}; tail -c {TAIL_BYTES} -- "$file" | '
    f"LC_ALL=C grep -a -E '{WANTED_IN_TRACES}' | {_LAST_LINES}; fi"
)
_CRS_LOG = '"$base"/diag/crs/*/crs/trace/alert.log'
_DATABASE_LOGS = '"$base"/diag/rdbms/*/*/trace/alert_*.log "$base"/diag/asm/*/*/trace/alert_*.log'
_TRACES = " ".join(f'"$base"/diag/crs/*/crs/trace/{name}.trc' for name in ("ocssd", "gipcd", "ohasd"))
_TRACES_OF_11_2 = '"$grid"/log/*/cssd/ocssd.log "$grid"/log/*/gipcd/gipcd.log "$grid"/log/*/ohasd/ohasd.log'
_READER = (
    f"bases=$({_BASES}); bases=$(printf '%s\\n' \"$bases\" | sort -u); "
    "for base in $bases; do "
    f'if [ -d "$base/diag" ]; then printf \'{LOOKED_IN} %s\\n\' "$base"; {_CLOSED}; fi; done; '
    f"(for base in $bases; do ls -t -- {_CRS_LOG}; done; for base in $bases; do ls -t -- {_DATABASE_LOGS}; done) | "
    f"head -n {MOST_FILES} | while read -r file; do {_OF_FILE}; done; "
    # Before 12.1.0.2 the log of Clusterware is in the Grid home.
    f"grid=$(grep -h -s '^crs_home=' {_OLR} | head -n 1 | cut -d = -f 2-); "
    f'for file in "$grid"/log/*/alert*.log; do if [ -f "$file" ]; then {_OF_FILE}; fi; done; '
    # The traces come last: they are the longest files.
    f"for base in $bases; do for file in {_TRACES}; do {_OF_TRACE}; done; done; "
    f"for file in {_TRACES_OF_11_2}; do {_OF_TRACE}; done; "
    f"printf '{DONE}\\n'"
)
LOGS_COMMAND = (
    "date '+now %s %z'; "
    f"if command -v timeout >/dev/null; then ( ( {_READER} ) 2>/dev/null & ) | "
    f"timeout {LOGS_LIMIT_S} cat; else printf '{NO_TIMEOUT}\\n'; fi"
)
"""Prints the node's clock and zone, the places, and for each log the listed lines after the time stamp of each. Each
line of a log starts with a blank, so that no line can pass for a mark."""

LOGS_HOW = (
    f"tail -c {TAIL_BYTES} BASE/diag/{{crs/HOST/crs,rdbms/*/*,asm/*/*}}/trace/alert*.log, "
    "GRID_HOME/log/HOST/alert*.log | grep of listed messages"
)
TRACES_HOW = (
    f"tail -c {TAIL_BYTES} BASE/diag/crs/HOST/crs/trace/{{ocssd,gipcd,ohasd}}.trc, "
    "GRID_HOME/log/HOST/{cssd/ocssd,gipcd/gipcd,ohasd/ohasd}.log | grep of listed messages"
)
LOGS_BASES_HOW = f"{_OLR} {_ORATAB} HOME/install/orabasetab HOME/crs/install/crsconfig_params"
LOGS_MESSAGES = "messages: " + ", ".join(described())
"""The messages that are searched, for the dry run."""
LOGS_RIGHT = "the Grid owner, root or the group of the files"
