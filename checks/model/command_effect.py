"""What a command does to a running cluster when it is typed on the busiest node at noon, and what undoes it: each
judged once, here.

A command that no rule covers, or that lacks the limits a rule asks for (`ping` without -c, `tcpdump` without -p, -c, -s
and a time limit), is not judged: `Effect.NOT_JUDGED`. The tests judge every command that racwire prints.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from checks.model.effect import Effect

_READING = (
    "awk|cat|chronyc (tracking|sources)|command|crsctl (check|config|get|query|stat|status)|cut|date|df|dgmgrl / show|"
    "echo|emctl status|false|findmnt|getent|gpnptool get|grep|head|id|iscsiadm -m (session|node)$|journalctl|less|"
    "lldpctl|ls|lscpu|lsmod|lsnrctl status|mpstat|netstat|nfsstat|nl|nstat|numactl --hardware|numastat|ocrcheck|"
    "ocrconfig -showbackup|oifcfg (getif|iflist)|olsnodes|opatch (lsinventory|lspatches)|pidof|printf|ps|readlink|sar|"
    "show|skgxpinfo|sleep|sort|srvctl (config|status)|stat|sudo -l|systemctl (-q )?(is-\\w+|status|show|cat)|tail|test|"
    "timedatectl|tr|true|uname|uniq|uptime|vmstat|wc"
)
"""Programs that read, with the subcommands that do."""

_RULES: dict[Effect, tuple[str, ...]] = {
    Effect.READS: (
        rf"({_READING})(?= |$)",
        r"\[ ",
        r"#",
        # bounded, at most 100 packets; a broadcast of arping -D has no sender, and changes no neighbour's table
        r"(ping|arping) (?!.*-\w*[fb]\b)(?=.*-c \d{1,2}\b)",
        r"(traceroute|tracepath)( -n)? \S+$",
        r"timeout \d{1,3} tcpdump -p (?=.*-c \d{1,3}\b)(?=.*-s \d{2,3}\b)(?!.* -w)",
        r"iperf3 -u -c (?!.* -[nPt] ?\d)(?=.* -k \d{1,3}$)",  # datagrams; -n counts bytes
        r"iperf3 -s -1 ",
        r"ip (-\S+ )*(addr|address|link|maddr|route|rule|neigh|neighbour|xfrm policy)( (show|get|list)( .*)?)?$",
        r"ss (?!.*-\w*K)",
        r"dmesg( -T)?$",
        r"sed (?!.*-\w*i)",
        r"ethtool (-[aciglkmnPSTx] )?(?!-)\S+$",
        r"ethtool -n (?!-)\S+ rx-flow-hash udp4$",
        r"tc (-s )?(qdisc|class|filter) show",
        r"bridge (fdb|link) show$",
        r"(docker|podman) network ls$|virsh net-list( --all)?$",
        r"sysctl (?!-[wpf]\b|.*( -[wpf]\b|--(write|load|system)|=))",
        r"nmcli (-\S+ )*(-f \S+ )?(connection( show.*)?|device show \S+)$",
        # SQL
        r"(?i)(select|show|with)\b",
        # Each carries out its own limits, and asks for the cluster's name before it sends load.
        r"racwire\b",
        r"asmcmd (ls\w*|md_backup)\b",
    ),
    Effect.HARMLESS: (
        r"sysctl -w ((net\.core\.|net\.ipv4\.(ipfrag_|icmp_echo_ignore_all|conf\.\S+\.(rp_filter|arp_\w+)|udp_)|"
        r"vm\.min_free_kbytes)\S*=[^=]*)+$",
        r"(cp|scp|ssh-copy-id|tar|mkdir|cd|umask) ",
        # nf_tables, which the kernel loads for it, hooks nothing by itself
        r"nft list ruleset$",
        r"ip neigh del ",
        r"ip link set \S+ arp on$",
        r"ip route (add|change|replace) ",
        r"firewall-cmd (--permanent )?--zone=trusted --change-interface=",
        r"crsctl start ",
        r"srvctl (start|add|update) (?!.*-remove)",
        r"ocrconfig (-local )?-manualbackup",
        r"(?i)create (restore point|user|role)\b|(?i:grant)\b|(?i:drop restore point)\b|(?i:alter user)\b",
        r"(?i)alter pluggable database \S+ open\b",
        r"(?i)alter system set db_recovery_file_dest",
        r"(?i)exec(ute)? dbms_workload_repository\.|(?i:begin dbms_workload_repository\.create_snapshot)",
        r"ethtool -N \S+ rx-flow-hash ",
        r"mount |iscsiadm -m node .*-(L|-login)\b",
    ),
    Effect.AT_NEXT_START: (
        r"nmcli connection (modify|load) ",
        r"(sed -i|rm -f|chmod|chown|vi) ",
        r"netplan (set|generate)\b",
        r"crsctl (enable|disable) crs",
        r"oifcfg (setif|delif) ",
        r"(?i)alter system (re)?set .*scope=spfile",
    ),
    Effect.ADDS_LOAD: (
        r"cluvfy (comp nodecon|comp nodereach) ",
        r"(perl )?mcasttest\.pl",
        r"(orachk|exachk|tfactl|oclumon) ",
    ),
    Effect.LOSES_PACKETS: (r"ip route del ", r"tc qdisc (del|replace|add) ", r"ip rule (add|del) "),
    Effect.STOPS: (
        r"crsctl stop ",
        r"srvctl (stop|relocate|remove|update .*-remove)\b",
        r"systemctl (disable|stop|mask) (--now )?(?!network|NetworkManager|firewalld)",
        r"(?i)alter pluggable database \S+ close|(?i:alter database archivelog)|(?i:shutdown)\b|(?i:startup)\b",
        r"umount |iscsiadm -m node .*-(U|-logout)\b",
    ),
    Effect.NODE_OUT_FIRST: (
        r"ethtool -[ACGKLrs] ",
        r"ip link set (dev )?\S+ (up|down|name \S+)$",
        r"ip address (add|del|delete) ",
        r"nmcli (connection|device) (up|down|reapply|modify)\b",
        r"(ifup|ifdown) ",
        r"networkctl (reload|reconfigure)\b",
        r"(reboot|shutdown -r now|systemctl reboot)$",
    ),
    Effect.CLUSTER_DOWN_FIRST: (r"ip link set (dev )?\S+ mtu ",),
}
"""What the simple commands of each effect look like: the program without its directory, then its words. The first rule
that fits decides, in the order of the effects."""

_NOTED_FIRST = {
    r"sysctl -w net\.ipv4\.ip_forward=0": "",  # the step before it finds the file that sets it to 1
    r"sysctl -w ": "the present value (`sysctl KEY`)",
    r"ethtool -G ": "the present size (`ethtool -g NIC`)",
    r"ethtool -K ": "the present settings (`ethtool -k NIC`)",
    r"ethtool -N ": "the present hash (`ethtool -n NIC rx-flow-hash udp4`)",
    r"ip route (add|change|replace|del) ": "the routes (`ip route show table all`)",
    r"ip rule del ": "the rules (`ip rule show`)",
    r"tc qdisc del ": "the queue discipline (`tc qdisc show dev NIC`)",
    r"firewall-cmd .*--change-interface=": "the zone of each NIC",
    r"oifcfg (setif|delif) ": "the lines of `oifcfg getif`",
    r"(chmod|chown) ": "owner and mode (`ls -l FILE`)",
    r"nmcli connection modify ": "the present value (`nmcli connection show NAME`)",
    r"(?i)alter system reset ": "the present value of each instance",
}
"""What people write down before a change, because it undoes the change: by the beginning of the command."""
_UNDOES = {
    r"systemctl disable --now ": "`systemctl enable --now` undoes it.",
    r"crsctl enable crs": "`crsctl disable crs` undoes it.",
    r"racwire change new\b": "The plan has its rollback.",
}
"""What undoes a change without a note."""

_KEYWORDS = frozenset(("if", "then", "else", "elif", "fi", "do", "done", "while", "!", "{", "}", "(", ")", "exec"))
_NO_FILE = re.compile(r"&\d|\d|/dev/null")
_GUARDED = re.compile(
    r"systemctl -q is-active firewalld && firewall-cmd (--zone=\S+ )?--(get|list)-\S+$|"
    r"grep -q '\^nf_tables ' /proc/modules && nft list ruleset$|"
    r"grep -q \. /proc/net/ip_tables_names && (iptables -S|iptables-save -c)$"
)
"""Commands that read, and would start or load what they read: D-Bus starts a firewalld that is enabled and stopped, and
its default zone rejects blocks; for root, `nft` and `iptables` load modules."""
_KEPT = re.compile(r"kept=\$\(sysctl -a --pattern 'ipv4\.conf\.\*_redirects' \| tr -d ' '\)$")
_FORWARDING = re.compile(r"sysctl -w net\.ipv4\.ip_forward=0 \$kept$")
"""Without the settings that were kept before, a change of ip_forward resets them on every NIC."""


def effect_of(commands: Iterable[str]) -> Effect:
    """Return the worst effect of these commands; each may be a line of shell, or a statement of SQL."""
    return max((_of_line(command) for command in commands), key=lambda effect: effect.rank, default=Effect.READS)


def rollback_of(commands: Iterable[str]) -> str:
    """Return what undoes a change with these commands, in one sentence or more; empty where nothing needs undoing."""
    words = [_without_path(command) for command in commands]
    noted = dict.fromkeys(filter(None, (_first(_NOTED_FIRST, text) for text in words)))
    undoes = dict.fromkeys(filter(None, (_first(_UNDOES, text) for text in words)))
    note = [f"First note {' and '.join(noted)}, for the rollback."] if noted else []
    return " ".join((*note, *undoes))


def _without_path(command: str) -> str:
    program, _, rest = command.partition(" ")
    return f"{program.rpartition('/')[2]} {rest}"


def _first(by_beginning: dict[str, str], command: str) -> str:
    return next((text for pattern, text in by_beginning.items() if re.match(pattern, command)), "")


@cache
def _of_line(command: str) -> Effect:
    if _GUARDED.match(command) or _KEPT.match(command):
        return Effect.READS
    if _FORWARDING.match(command):
        return Effect.HARMLESS
    if re.match(r"(?i)(select|alter|create|drop|grant|exec|begin|show)\b", command):
        return _of_simple(command)
    simple = [_of_simple(part) for part in simple_commands(command)]
    return max(simple, key=lambda effect: effect.rank, default=Effect.READS)


def simple_commands(command: str) -> Iterator[str]:
    """Yield each simple command of lines of shell, its program without its directory, and `> FILE` for each file that
    they write. A line with an open quote starts with a quote, as no command does that a rule knows."""
    for line in command.split("\n"):
        yield from _of_shell_line(line)


def _of_shell_line(line: str) -> Iterator[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        tokens = list(lexer)
    except ValueError:  # an open quote
        yield f'"{line}'
        return
    skip = False
    for number, token in enumerate(tokens):
        if skip:
            skip = False
        elif token.startswith("#"):
            break
        elif token in (">", ">>", ">&", "<"):
            target = tokens[number + 1] if number + 1 < len(tokens) else ""
            if words and words[-1].isdigit():
                words.pop()  # the number of the stream
            if token in (">", ">>") and not _NO_FILE.fullmatch(target):
                yield f"> {target}"
            skip = True
        elif set(token) <= set(";|&()"):
            yield from _of_words(words)
            words = []
        else:
            words.append(token)
    yield from _of_words(words)


def _of_file(path: str) -> Effect:
    if path.startswith(("/proc", "/sys", "/dev")):
        return Effect.NOT_JUDGED
    return Effect.AT_NEXT_START if path.startswith(("/etc", "/usr", "/run")) else Effect.HARMLESS


def _of_words(words: Sequence[str]) -> Iterator[str]:
    left = list(words)
    while left and (left[0] in _KEYWORDS or re.match(r"\w+=", left[0])):
        del left[0]
    if not left:
        return
    if left[0] == "sudo" and left[1:2] != ["-l"]:
        del left[: 3 if left[1:2] == ["-u"] else 1]
    if left and left[0] == "ssh":
        names = [n for n, word in enumerate(left) if n and not word.startswith("-") and left[n - 1] not in ("-o", "-p")]
        yield from _of_words(left[names[0] + 1 :]) if names else ()
        return
    if left and left[0] == "timeout" and left[2:3] != ["tcpdump"]:
        del left[:2]
    if left and left[0] == "nice":
        del left[0]
    if left:
        yield " ".join((left[0].rpartition("/")[2], *left[1:]))


def _of_simple(text: str) -> Effect:
    if text.startswith("> "):
        return _of_file(text.removeprefix("> "))
    for effect, rules in _RULES.items():
        if any(re.match(rule, text) for rule in rules):
            return effect
    return Effect.NOT_JUDGED
