"""Send single UDP datagrams at planned times, and print what came back for each: on this node, and on peers as a text.

This file is also the program that a peer's Python runs (`python3 -E -s -S -c TEXT WORD...`), so it imports only the
standard library, and keeps to the syntax of Python 2.7 and 3. It needs no privilege, reads no file and changes nothing.

A word is a path, with its datagrams: `SOURCE,TARGET,PORT,AT:SLOT:SOURCEPORT:BYTES:DF/AT:SLOT:...`. AT is in
milliseconds from the start; a slot has one source port, which the kernel chooses where SOURCEPORT is 0; BYTES are those
of the payload; DF is 1 for Don't Fragment. The first word is the time for an answer, in milliseconds. A line of the
output is a datagram: number of the path, slot, source port, bytes, answer, sender of the answer.
"""

# Python 2.7 has no f-strings and no annotations, and its socket.error is no OSError.
# ruff: noqa: RUF005, UP031
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

import errno
import select
import socket
import struct
import sys
import time

RECVERR = {socket.AF_INET: (socket.IPPROTO_IP, 11), socket.AF_INET6: (socket.IPPROTO_IPV6, 25)}
DISCOVER = {socket.AF_INET: (socket.IPPROTO_IP, 10), socket.AF_INET6: (socket.IPPROTO_IPV6, 23)}
PROBE, NEVER = 3, 0
"""IP_PMTUDISC_PROBE sets DF and ignores a remembered path MTU; IP_PMTUDISC_DONT lets the kernel fragment."""
FAILED = (OSError, socket.error)
ERROR_QUEUE = 0x2000
PROHIBITED = {(2, 3, 9), (2, 3, 10), (2, 3, 13), (3, 1, 1)}
"""Origin, type and code of an ICMP error with which a filter refuses: RFC 1812, 5.2.7.1; RFC 4443, 3.1."""


def open_flow(family, source, source_port, target, port):
    """A socket from one source port to the closed port."""
    flow = socket.socket(family, socket.SOCK_DGRAM)
    try:
        level, option = RECVERR[family]
        flow.setsockopt(level, option, 1)
        flow.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 262144)
        flow.bind((source, source_port))
        flow.connect((target, port))
        flow.setblocking(False)
    except FAILED:
        flow.close()
        raise
    return flow


def outcome(flow, target):
    """The answer that the kernel holds for a socket, with its sender: `refused` is "port unreachable"."""
    if not hasattr(flow, "recvmsg"):
        number = flow.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return ("refused" if number == errno.ECONNREFUSED else errno.errorcode.get(number, str(number)), "")
    try:
        _, notes, _, _ = flow.recvmsg(1, 512, ERROR_QUEUE)
    except FAILED:
        flow.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        try:
            flow.recv(1)
        except FAILED:
            return ("", "")
        return ("data", target)
    for level, kind, data in notes:
        if (level, kind) in RECVERR.values() and len(data) >= 16:
            number, origin, icmp, code = struct.unpack("=IBBB", data[:7])
            rest = data[16:]
            offender = ""
            if len(rest) >= 8 and struct.unpack("=H", rest[:2])[0] == socket.AF_INET:
                offender = socket.inet_ntop(socket.AF_INET, rest[4:8])
            elif len(rest) >= 24:
                offender = socket.inet_ntop(socket.AF_INET6, rest[8:24])
            if (origin, icmp, code) in PROHIBITED:
                return ("prohibited", offender)
            if number == errno.ECONNREFUSED:
                return ("refused", offender)
            return (errno.errorcode.get(number, str(number)), offender)
    return ("", "")


def run(words, say, stopped):
    """Send all datagrams of the words; `say` gets each line, and `stopped` ends the run early."""
    patience_s = int(words[0]) / 1000.0
    plan = []
    for path, word in enumerate(words[1:]):
        source, target, port, datagrams = word.split(",")
        for datagram in datagrams.split("/"):
            at, slot, source_port, size, whole = (int(number) for number in datagram.split(":"))
            plan.append((at / 1000.0, path, slot, source_port, size, whole, source, target, int(port)))
    plan.sort()
    flows, waiting = {}, {}
    poller = select.poll()
    started = time.time()

    def finish(key, answer, sender):
        flow, _, size = waiting.pop(key)
        say("%d %d %d %d %s %s" % (key[0], key[1], flow.getsockname()[1], size, answer, sender or "-"))

    def listen(until):
        for number, _ in poller.poll(max(0.0, (until - time.time()) * 1000)):
            for key in [k for k, held in waiting.items() if held[0].fileno() == number]:
                answer, sender = outcome(waiting[key][0], "")
                if answer:
                    finish(key, answer, sender)
            for flow in flows.values():
                if flow.fileno() == number:
                    outcome(flow, "")
        for key in [k for k, held in waiting.items() if held[1] <= time.time()]:
            finish(key, "silence", "")

    try:
        for at, path, slot, source_port, size, whole, source, target, port in plan:
            while not stopped() and started + at > time.time():
                ends = [held[1] for held in waiting.values()]
                listen(min([started + at, time.time() + 0.2] + ends))
            if stopped():
                break
            key = (path, slot)
            if key in waiting:
                finish(key, "silence", "")
            family = socket.AF_INET6 if ":" in target else socket.AF_INET
            try:
                if key not in flows:
                    flows[key] = open_flow(family, source, source_port, target, port)
                    poller.register(flows[key].fileno(), select.POLLIN | select.POLLERR)
                flow = flows[key]
                level, option = DISCOVER[family]
                flow.setsockopt(level, option, PROBE if whole else NEVER)
                outcome(flow, "")
                waiting[key] = (flow, time.time() + patience_s, size)
                flow.send(b"\0" * size)
            except FAILED as error:
                waiting.pop(key, None)
                name = errno.errorcode.get(error.errno or 0, "?")
                say("%d %d %d %d unsent:%s -" % (path, slot, source_port, size, name))
            listen(time.time())
        while waiting and not stopped():
            listen(min(held[1] for held in waiting.values()))
    finally:
        for flow in flows.values():
            flow.close()


def print_line(line):
    """Write a line of the output."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    run(sys.argv[1:], print_line, lambda: False)
