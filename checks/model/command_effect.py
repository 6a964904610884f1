"""What a command does to a running cluster when it is typed on the busiest node at noon: each judged once, here.

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
        r"ip (-\S+ )*(addr|address|link|route|rule|neigh|neighbour|xfrm policy)( (show|get|list)( .*)?)?$",
        r"ss (?!.*-\w*K)",
        r"dmesg( -T)?$",
        r"sed (?!.*-\w*i)",
        r"ethtool (-[aciglkmnPSTx] )?(?!-)\S+$",
        r"tc (-s )?(qdisc|class|filter) show",
        r"nft list ruleset$",
        r"bridge (fdb|link) show$",
        r"(docker|podman) network ls$|virsh net-list( --all)?$",
        r"sysctl (?!-[wpf]\b|.*( -[wpf]\b|--(write|load|system)|=))",
        r"nmcli (-\S+ )*(-f \S+ )?connection( show.*)?$",
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

_KEYWORDS = frozenset(("if", "then", "else", "elif", "fi", "do", "done", "while", "!", "{", "}", "(", ")", "exec"))
_NO_FILE = re.compile(r"&\d|\d|/dev/null")
_GUARDED = re.compile(
    r"systemctl -q is-active firewalld && firewall-cmd (--zone=\S+ )?--(get|list)-\S+$|"
    r"grep -q \. /proc/net/ip_tables_names && iptables -S$"
)
"""Commands that read, and would start or load what they read: D-Bus starts a firewalld that is enabled and stopped, and
its default zone rejects blocks; `iptables` loads the module of its table."""
_KEPT = re.compile(r"kept=\$\(sysctl -a --pattern 'ipv4\.conf\.\*_redirects' \| tr -d ' '\)$")
_FORWARDING = re.compile(r"sysctl -w net\.ipv4\.ip_forward=0 \$kept$")
"""Without the settings that were kept before, a change of ip_forward resets them on every NIC."""


def effect_of(commands: Iterable[str]) -> Effect:
    """Return the worst effect of these commands; each may be a line of shell, or a statement of SQL."""
    return max((_of_line(command) for command in commands), key=lambda effect: effect.rank, default=Effect.READS)


@cache
def _of_line(command: str) -> Effect:
    if _GUARDED.match(command) or _KEPT.match(command):
        return Effect.READS
    if _FORWARDING.match(command):
        return Effect.HARMLESS
    if re.match(r"(?i)(select|alter|create|drop|grant|exec|begin|show)\b", command):
        return _of_simple(command)
    simple = [part for line in command.split("\n") for part in _simple_commands(line)]
    return max(simple, key=lambda effect: effect.rank, default=Effect.READS)


def _simple_commands(line: str) -> Iterator[Effect]:
    """Yield the effect of each simple command of a line of shell, and of each file that it writes."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        tokens = list(lexer)
    except ValueError:  # an open quote
        yield Effect.NOT_JUDGED
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
                yield _of_file(target)
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


def _of_words(words: Sequence[str]) -> Iterator[Effect]:
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
    yield _of_simple(" ".join((left[0].rpartition("/")[2], *left[1:]))) if left else Effect.READS


def _of_simple(text: str) -> Effect:
    for effect, rules in _RULES.items():
        if any(re.match(rule, text) for rule in rules):
            return effect
    return Effect.NOT_JUDGED
