"""Rules of the packet filter of a node, as pasted: `nft list ruleset`, `iptables-save -c`, `iptables -L -v -n`.

Only rules that decide are kept: those that accept, drop or reject, and the policies of chains.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.model.pasted import DeviceSystem, FilterRule, PastedOutput, RuleVerdict

_MOST_BYTES = 65_535
_VERDICTS = {"accept": RuleVerdict.ACCEPT, "drop": RuleVerdict.DROP, "reject": RuleVerdict.REJECT}


@dataclass
class _Rule:
    """A rule that is being read."""

    nics_in: list[str] = field(default_factory=list)
    nics_out: list[str] = field(default_factory=list)
    protocols: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    destinations: list[str] = field(default_factory=list)
    lengths: tuple[int, int] | None = None
    is_of_fragments: bool = False
    is_partial: bool = False
    is_limit: bool = False
    verdict: RuleVerdict | None = None

    def rule(self, device: str, chain: str, hook: str, text: str, packets: int | None) -> FilterRule | None:
        """Return the rule; None where it decides nothing."""
        if self.verdict is None:
            return None
        return FilterRule(
            device=device,
            chain=chain,
            hook=hook,
            text=text,
            verdict=self.verdict,
            nics_in=tuple(self.nics_in),
            nics_out=tuple(self.nics_out),
            protocols=tuple(self.protocols),
            sources=tuple(self.sources),
            destinations=tuple(self.destinations),
            lengths=self.lengths,
            is_of_fragments=self.is_of_fragments,
            is_partial=self.is_partial,
            is_limit=self.is_limit,
            packets=packets,
        )


_TABLE = re.compile(r"table (?:(ip6?|inet|arp|bridge|netdev) )?([\w.-]{1,60}) \{.*")
_CHAIN = re.compile(r"chain ([\w.-]{1,80}) \{.*")
_HOOK = re.compile(
    r"type \w{2,10} hook (\w{4,12})(?: device \"?([\w.-]{1,15})\"?)? priority [^;]{1,40};(?: policy (accept|drop);)?.*"
)
_COUNTED = re.compile(r"\bcounter packets ([0-9]{1,20}) bytes [0-9]{1,20}\b")
_COMMENT = re.compile(r'\s*(?:comment "[^"]{0,128}"|# handle [0-9]{1,8})')
_WORD = re.compile(r'"[^"]{0,64}"|\{[^{}]{0,4000}\}|[^\s"{}]+')


def nft_rules(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the rules of `nft list ruleset`, with the hook of their chain and their counters."""
    rules: list[FilterRule] = []
    used: set[int] = set()
    table = chain = hook = nic = ""
    depth = 0
    for at, line in enumerate(block.lines):
        stripped = line.strip()
        if begun := _TABLE.fullmatch(stripped):
            table, chain, depth = f"{begun[1] or 'ip'} {begun[2]}", "", 1
        elif not table:
            continue
        elif begun := _CHAIN.fullmatch(stripped):
            chain, hook, nic = begun[1], "", ""
        elif stripped.endswith("{"):
            chain = ""  # a set, a map
            depth += 1
        elif stripped == "}":
            chain, depth = "", depth - 1 if not chain and depth > 1 else depth
        elif chain and (based := _HOOK.fullmatch(stripped)):
            hook, nic = based[1], based[2] or ""
            if based[3]:
                rules.append(
                    FilterRule(
                        device=block.device,
                        chain=f"{table} {chain}",
                        hook=hook,
                        text=f"policy {based[3]}",
                        verdict=_VERDICTS[based[3]],
                        is_policy=True,
                        nics_in=(nic,) if nic else (),
                    )
                )
        elif chain and stripped:
            counted = _COUNTED.search(stripped)
            text = _COMMENT.sub("", _COUNTED.sub("counter", stripped)).strip()
            if read := _nft(text, nic).rule(
                block.device, f"{table} {chain}", hook, text, int(counted[1]) if counted else None
            ):
                rules.append(read)
        used.add(at)
    if used:
        is_cut = bool(chain)
        yield FoundPart(
            output=PastedOutput.RULES,
            platform=DeviceSystem.LINUX,
            lines=frozenset(used),
            is_cut=is_cut,
            rules=tuple(rules),
        )


def _nft(text: str, nic: str) -> _Rule:
    rule = _Rule(nics_in=[nic] if nic else [])
    words = _WORD.findall(text)
    at = 0
    while at < len(words):
        word, rest = words[at], words[at + 1 :]
        taken = 1
        if word in ("iif", "iifname", "oif", "oifname") and rest:
            taken = _nft_nics(rule, word, rest)
        elif word in ("ip", "ip6") and len(rest) > 1:
            taken = _nft_ip(rule, rest)
        elif word in ("l4proto", "nexthdr") and rest:
            rule.protocols += _items(rest[0])
            taken = 2
        elif word == "meta" and len(rest) > 1 and rest[0] == "length":
            taken = 2 + _nft_length(rule, rest[1:])
        elif word in ("udp", "tcp", "icmp", "icmpv6", "th", "sctp"):
            rule.protocols += [] if word == "th" or word in rule.protocols else [word]
            taken = _nft_of_protocol(rule, rest)
        elif word == "exthdr" or (word == "frag" and rest):
            rule.is_of_fragments = True
            taken = 3
        elif word == "limit":
            rule.is_limit = True
        elif word in _VERDICTS:
            rule.verdict = _VERDICTS[word]
            break
        elif word in ("ct", "mark", "meta", "fib", "ether", "numgen", "vlan", "socket", "rt") and word != "meta":
            rule.is_partial = True
        at += max(1, taken)
    return rule


def _nft_nics(rule: _Rule, word: str, rest: Sequence[str]) -> int:
    if rest[0] in ("!=", "!"):
        rule.is_partial = True
        return 3
    names = _items(rest[0])
    (rule.nics_in if word.startswith("i") else rule.nics_out).extend(names)
    return 2


def _nft_ip(rule: _Rule, rest: Sequence[str]) -> int:
    """What stands after `ip`: an address, a length, a protocol, fragments."""
    if rest[0] in ("saddr", "daddr"):
        if rest[1] in ("!=", "!"):
            rule.is_partial = True
            return 4
        if rest[1].startswith("@"):
            rule.is_partial = True
        else:
            (rule.sources if rest[0] == "saddr" else rule.destinations).extend(_items(rest[1]))
        return 3
    if rest[0] == "length":
        return 2 + _nft_length(rule, rest[1:])
    if rest[0] in ("protocol", "nexthdr"):
        rule.protocols += _items(rest[1])
        return 3
    if rest[0] == "frag-off":
        rule.is_of_fragments = True
        return 2 + next((i + 1 for i, word in enumerate(rest[1:6]) if word.isdigit() or word.startswith("0x")), 1)
    rule.is_partial = True
    return 2


def _nft_length(rule: _Rule, rest: Sequence[str]) -> int:
    """A comparison of the length; the number of words it takes."""
    if not rest:
        return 0
    sign, value = (
        (rest[0], rest[1]) if rest[0] in (">", ">=", "<", "<=", "==", "!=") and len(rest) > 1 else ("", rest[0])
    )
    ends = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", value)
    if ends is None or sign == "!=":
        rule.is_partial = True
        return 2 if sign else 1
    low, high = int(ends[1]), int(ends[2] or ends[1])
    rule.lengths = {
        ">": (low + 1, _MOST_BYTES),
        ">=": (low, _MOST_BYTES),
        "<": (0, low - 1),
        "<=": (0, low),
    }.get(sign, (low, high))
    return 2 if sign else 1


def _nft_of_protocol(rule: _Rule, rest: Sequence[str]) -> int:
    """What stands after the name of a protocol: a length, or what narrows the rule (ports, types)."""
    if rest[:1] == ("length",) or (rest and rest[0] == "length"):
        taken = _nft_length(rule, rest[1:])
        if rule.lengths:  # of the UDP datagram, without the IP header
            low, high = rule.lengths
            rule.lengths = min(low + 20, _MOST_BYTES) if low else 0, min(high + 20, _MOST_BYTES)
        return 2 + taken
    if rest and rest[0] in ("dport", "sport", "type", "flags", "code", "option"):
        rule.is_partial = True
        return 3
    return 1


def _items(word: str) -> list[str]:
    return [item.strip().strip('"') for item in word.strip("{} ").split(",") if item.strip()]


_SAVED = re.compile(r"\s*(?:\[([0-9]{1,20}):[0-9]{1,20}\] )?-A (\S{1,80}) (.{1,1000})")
_SAVED_TABLE = re.compile(r"\s*\*(filter|nat|mangle|raw|security)\s*")
_SAVED_POLICY = re.compile(r"\s*:(\S{1,80}) (ACCEPT|DROP|-)(?: \[([0-9]{1,20}):[0-9]{1,20}\])?\s*")
_SAVED_OTHER = re.compile(r"\s*(?:COMMIT|# (?:Generated by|Completed on) .{0,80})\s*")
_HOOKS = {
    "INPUT": "input",
    "FORWARD": "forward",
    "OUTPUT": "output",
    "PREROUTING": "prerouting",
    "POSTROUTING": "postrouting",
}


def iptables_rules(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the rules of `iptables-save`, with `-c` their counters."""
    rules: list[FilterRule] = []
    used: set[int] = set()
    table = "filter"
    for at, line in enumerate(block.lines):
        if begun := _SAVED_TABLE.fullmatch(line):
            table = begun[1]
        elif policy := _SAVED_POLICY.fullmatch(line):
            if policy[2] != "-":
                rules.append(
                    FilterRule(
                        device=block.device,
                        chain=f"{table} {policy[1]}",
                        hook=_HOOKS.get(policy[1], ""),
                        text=f"policy {policy[2]}",
                        verdict=_VERDICTS[policy[2].casefold()],
                        is_policy=True,
                        packets=int(policy[3]) if policy[3] else None,
                    )
                )
        elif saved := _SAVED.fullmatch(line):
            packets = int(saved[1]) if saved[1] else None
            read = _iptables(saved[3]).rule(
                block.device,
                f"{table} {saved[2]}",
                _HOOKS.get(saved[2], ""),
                f"-A {saved[2]} {saved[3]}".strip(),
                packets,
            )
            rules += [read] if read else []
        elif not _SAVED_OTHER.fullmatch(line):
            continue
        used.add(at)
    if rules:
        yield FoundPart(
            output=PastedOutput.RULES, platform=DeviceSystem.LINUX, lines=frozenset(used), rules=tuple(rules)
        )


_NO_MATTER = frozenset(
    {"--comment", "--reject-with", "--log-prefix", "--limit-burst", "--hashlimit-name", "--log-level"}
)
_MODULES = frozenset({"udp", "tcp", "icmp", "length", "comment", "limit", "hashlimit", "frag", "u32"})


def _iptables(text: str) -> _Rule:
    rule = _Rule()
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    at, is_not = 0, False
    while at < len(words):
        word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        at += 2
        if word == "!":
            is_not, at = True, at - 1
            continue
        if is_not:
            rule.is_partial, is_not = True, False
        elif word in ("-i", "--in-interface"):
            rule.nics_in.append(value)
        elif word in ("-o", "--out-interface"):
            rule.nics_out.append(value)
        elif word in ("-p", "--protocol"):
            rule.protocols += [] if value == "all" else [value]
        elif word in ("-s", "--source"):
            rule.sources += value.split(",")
        elif word in ("-d", "--destination"):
            rule.destinations += value.split(",")
        elif word == "--length":
            low, _, high = value.partition(":")
            rule.lengths = (
                int(low or 0) if low.isdigit() or not low else 0,
                int(high)
                if high.isdigit()
                else (_MOST_BYTES if ":" in value else int(low) if low.isdigit() else _MOST_BYTES),
            )
        elif word in ("-f", "--fragment"):
            rule.is_of_fragments = True
            at -= 1
        elif word in ("--limit", "--hashlimit-above", "--hashlimit-upto", "--hashlimit"):
            rule.is_limit = True
        elif word in ("-j", "-g", "--jump"):
            rule.verdict = _VERDICTS.get(value.casefold())
        elif word in ("-m", "--match"):
            rule.is_partial |= value not in _MODULES
        elif word.startswith("-") and word not in _NO_MATTER:
            rule.is_partial = True
    return rule
