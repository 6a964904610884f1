"""What the system's `ping` printed, read packet by packet. All generations of iputils; never raises.

The wording of a refusal by this node's own kernel changed over the years:

* iputils 2019 and later: `ping: local error: message too long, mtu=1500`
* before: `ping: local error: Message too long, mtu=1500`
* RHEL 5 and 6: `From 192.168.10.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)`, from the node's own address
"""

from __future__ import annotations

import re

from checks.model.packet_sizes import ICMP_HEADER
from checks.sources.probes.pinger import Tally

_REPLY = re.compile(
    r"^(?P<bytes>\d+) bytes from (?P<from>\S+?)(?: \([^)]*\))?[:,]? icmp_[rs]eq=(?P<seq>\d+)"
    r"(?: ttl=(?P<ttl>\d+))?(?: time=(?P<ms>\d+(?:\.\d+)?) ms)?(?P<rest>.*)$",
    re.ASCII,
)
_FROM = re.compile(r"^From (?P<from>\S+?)(?: \([^)]*\))?[:,]? icmp_[rs]eq=\d+ (?P<what>.+)$", re.ASCII)
_TOO_BIG = re.compile(r"(?:frag needed and df set \(mtu = |packet too big: mtu=)(?P<mtu>\d+)", re.IGNORECASE | re.ASCII)
_LOCAL = re.compile(r"message too long(?:, mtu[ =:]+(?P<mtu>\d+))?", re.IGNORECASE | re.ASCII)
_UNREACHABLE = re.compile(r"unreachable|prohibited|no route|filtered|isolated|unknown code", re.IGNORECASE)
_SUMMARY = re.compile(r"^(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received", re.ASCII)
_COMPLAINT = re.compile(r"^(?:ping6?: |connect: |sendmsg: |bind: |setsockopt)(?P<what>.*)$")


def parse_ping(text: str, *, payload: int, asked: int, source_ip: str) -> Tally:
    """What a `ping -n -s payload -c asked` printed about.

    Answers count once (`DUP!` does not add), and only at the size that was sent. Where ping ended without its summary,
    `asked` packets are taken as sent, unless it complained before it sent anything.
    """
    tally = Tally(payload)
    seen: set[int] = set()
    sent: int | None = None
    begun = False
    for line in (raw.strip() for raw in text.splitlines()):
        begun = begun or line.startswith("PING ")
        if reply := _REPLY.match(line):
            sequence = _number(reply["seq"])
            if _number(reply["bytes"]) != payload + ICMP_HEADER:
                tally.error(f"an answer of another size: {line}")
            elif "truncated" in reply["rest"] or "DIFFERENT ADDRESS" in reply["rest"]:
                tally.error(line)
            elif sequence not in seen:
                seen.add(sequence)
                tally.answered(float(reply["ms"] or 0.0), _number(reply["ttl"]) if reply["ttl"] else None)
        elif answer := _FROM.match(line):
            _note_icmp_error(tally, answer["from"], answer["what"], source_ip)
        elif summary := _SUMMARY.match(line):
            sent = _number(summary["sent"])
        elif refusal := _LOCAL.search(line):
            tally.refuse(_number(refusal["mtu"]) if refusal["mtu"] else None)
        elif complaint := _COMPLAINT.match(line):
            tally.error(complaint["what"].strip() or line)
    if sent is None:
        sent = asked if begun or seen else 0
    tally.sent = max(min(sent, asked), len(seen), min(tally.refused, asked))
    tally.refused = min(tally.refused, tally.sent - len(seen))
    return tally


def _note_icmp_error(tally: Tally, sender: str, what: str, source_ip: str) -> None:
    """A `From ADDRESS icmp_seq=N ...` line."""
    if too_big := _TOO_BIG.search(what):
        if sender == source_ip:
            tally.refuse(_number(too_big["mtu"]))
        else:
            tally.too_big(_number(too_big["mtu"]), sender)
        return
    if _UNREACHABLE.search(what):
        tally.unreachable_from = sender
    tally.error(what)


def _number(digits: str) -> int:
    """The number; one of absurd length, which no ping prints, is as good as none."""
    return int(digits) if len(digits) <= 18 else 0
