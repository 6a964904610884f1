"""Send single UDP datagrams at planned times, and print what came back for each: on this node, and on peers as a text.

A peer's Python runs this file too (`python3 -E -s -S -c TEXT WORD...`): it imports only the standard library and keeps
to the syntax of Python 2.7 and 3. It needs no privilege, reads no file and changes nothing.

A word is a path with its datagrams, `SOURCE,TARGET,PORT,AT:SLOT:SOURCEPORT:BYTES:DF/AT:SLOT:...,NODE:MOST:COUNTED`. AT
is in milliseconds from the start; a slot has one source port, which the kernel chooses where SOURCEPORT is 0; BYTES are
those of the payload; DF is 1 for Don't Fragment, 2 for it and 3 without it where no answer is awaited. NODE is the
number of the receiver: at most MOST datagrams in fragments to it may be without an answer, on all its paths; COUNTED is
its Udp.NoPorts before. The first word: the time for an answer, the longest wait for others and the greatest age of
their results, in ms; 1 to send nothing while another racwire sends.

A receiver limits its answers to all senders of a node together, so one racwire of a node sends at a time: an abstract
socket is the lock, which all users of the node see and which ends with its process. The others wait, get its words and
lines, and send only what it did not; they believe their own user and root. A word with `=` first is an earlier run.

A line of the output is a datagram: number of the path, slot, source port, bytes, answer, sender of the answer; `held`
is one in fragments that was not sent, `enough` one whose path has shown both losses and answers. Others are `start
MILLISECONDS`, `busy` where nothing is sent, `used PATH PID AGE COUNTED` where another racwire had results of a path,
`first` before those of its earlier run, and `waited PID MILLISECONDS ended|held` where this one sent after a wait.
"""

# Python 2.7 has no f-strings and no annotations, and its socket.error is no OSError.
# ruff: noqa: RUF005, UP031
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

import errno
import heapq
import os
import select
import socket
import struct
import sys
import time

clock = getattr(time, "monotonic", time.time)
RECVERR = {socket.AF_INET: (socket.IPPROTO_IP, 11), socket.AF_INET6: (socket.IPPROTO_IPV6, 25)}
DISCOVER = {socket.AF_INET: (socket.IPPROTO_IP, 10), socket.AF_INET6: (socket.IPPROTO_IPV6, 23)}
LOCK = "\0racwire-probe"
"""The abstract socket. Its name belongs to the network namespace, as the receivers' limit of answers does."""
PEER = getattr(socket, "SO_PEERCRED", 17)
SLOW_MS = 1100
"""Between datagrams of a path where a kernel answers no more than one a second."""
ENOUGH = 2
"""Lost and answered datagrams of a path after which no other port is tried: each more may displace a block."""
PROBE, NEVER, COUNTED, CUT_COUNTED = 3, 0, 2, 3
"""IP_PMTUDISC_PROBE sets DF and ignores a learned path MTU, IP_PMTUDISC_DONT lets the kernel cut; two values of DF."""
FAILED, ERROR_QUEUE = (OSError, socket.error), 0x2000
PROHIBITED = {(2, 3, 9), (2, 3, 10), (2, 3, 13), (3, 1, 1)}
"""Origin, type and code of an ICMP error with which a filter refuses: RFC 1812, 5.2.7.1; RFC 4443, 3.1."""


def open_flow(family, source, source_port, target, port):
    """A socket from one source port to the closed port."""
    flow = socket.socket(family, socket.SOCK_DGRAM)
    try:
        flow.setsockopt(*(RECVERR[family] + (1,)))
        flow.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 262144)
        flow.bind((source, source_port))
        flow.connect((target, port))
        flow.setblocking(False)
    except FAILED:
        flow.close()
        raise
    return flow


def outcome(flow):
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
        return ("data", "")
    for level, kind, data in notes:
        if (level, kind) in RECVERR.values() and len(data) >= 16:
            number, origin, icmp, code = struct.unpack("=IBBB", data[:7])
            rest, offender = data[16:], ""
            if len(rest) >= 8 and struct.unpack("=H", rest[:2])[0] == socket.AF_INET:
                offender = socket.inet_ntop(socket.AF_INET, rest[4:8])
            elif len(rest) >= 24:
                offender = socket.inet_ntop(socket.AF_INET6, rest[8:24])
            name = "refused" if number == errno.ECONNREFUSED else errno.errorcode.get(number, str(number))
            return ("prohibited" if (origin, icmp, code) in PROHIBITED else name, offender)
    return ("", "")


class SenderTurn:
    """The lock of this node's senders: waits for it, takes the results of others, gives its own to those who wait."""

    def __init__(self, earlier):
        self.earlier = earlier
        self.lock, self.guests, self.told = None, [], 0.0
        self.pid, self.waited, self.ended = 0, 0.0, False

    def take(self, patience_s, enough, stopped):
        """Wait so long for the lock, twice so for a racwire that shows life, or until others' results are `enough`."""
        started = clock()
        while not stopped():
            lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                lock.bind(LOCK)
                lock.listen(64)
                lock.setblocking(False)
                self.lock = lock
                return
            except FAILED as error:
                lock.close()
                if error.errno != errno.EADDRINUSE or clock() - started >= patience_s * (2 if self.ended else 1):
                    return
            if self.hear(started + patience_s, patience_s, enough, stopped):
                return
            self.waited = clock() - started

    def hear(self, until, more_s, enough, stopped):
        """Wait for the end of the run that has the lock. Return whether what it sends suffices."""
        latest, self.ended = until + more_s, False
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.settimeout(0.2)
            line.connect(LOCK)
            self.pid, user, _ = struct.unpack("iII", line.getsockopt(socket.SOL_SOCKET, PEER, 12))
            is_believed = user in (0, os.getuid())
            poller = select.poll()
            # What other users tell is not read: poll reports their end all the same.
            poller.register(line.fileno(), select.POLLIN if is_believed else 0)
            text = b""
            while not stopped() and clock() < until:
                if not poller.poll(min(200.0, (until - clock()) * 1000)):
                    continue
                piece = line.recv(65536) if is_believed else b""
                text += piece
                if not piece or len(text) > 4000000:
                    self.ended = True
                    break
                until = max(until, min(latest, clock() + 2))
                if piece.strip() and text.endswith(b"\n") and enough(self.pid, text.decode("ascii", "replace").split()):
                    return True
        except FAILED:
            self.ended = True  # or too many wait for it
            time.sleep(max(0.0, min(0.2, until - clock())))
        finally:
            line.close()
        return False

    def welcome(self):
        """Accept those who wait, tell them of the earlier runs, and show life each second."""
        if clock() - self.told >= 1:
            self.told = clock()
            self.tell(self.guests, [""])
        while self.lock:
            try:
                guest = self.lock.accept()[0]
            except FAILED:
                return
            guest.setblocking(False)
            self.guests.append(guest)
            self.tell([guest], self.earlier)

    def end(self, record):
        """Tell those who wait of this run, if it is complete, and release the lock."""
        self.welcome()
        self.tell(self.guests, [record] if record else [])
        for one in self.guests + [self.lock] * bool(self.lock):
            one.close()

    @staticmethod
    def tell(guests, records):
        """Send records to those who wait; whose buffer is full gets none."""
        for guest in guests:
            try:
                guest.send("".join(record + "\n" for record in records).encode("ascii"))
            except FAILED:
                continue


def record_of(began, words, lines):
    """A run as one word: its start in milliseconds, its words and its lines."""
    return "=%d;%s;%s" % (began * 1000, "|".join(words), "|".join(line.replace(" ", "_") for line in lines))


def parse_datagrams(word):
    """The datagrams of a word in the order of sending: time, slot, source port, bytes, Don't Fragment."""
    return sorted([int(number) for number in datagram.split(":")] for datagram in word.split(",")[3].split("/"))


def slots_of(word):
    """The slots of a word: the wanted source port, and the datagrams in the order of sending."""
    slots = {}
    for _, slot, source_port, size, whole in parse_datagrams(word):
        slots.setdefault(slot, (source_port, []))[1].append((size, whole))
    return slots


def same_way(word, words):
    """The words about the path of a word, with their numbers."""
    return [(number, one) for number, one in enumerate(words) if one.split(",")[:3] == word.split(",")[:3]]


def answers_of(word, record):
    """All that another run got on the path of a word, as lines without the path."""
    _, words, lines = record.split(";")
    ways = tuple("%d_" % number for number, _ in same_way(word, words.split("|")[1:]))
    return [line.split("_", 1)[1].replace("_", " ") for line in lines.split("|") if line.startswith(ways)]


def borrow(word, record):
    """What another run counted before and got to the datagrams of a word, as lines without the path; none unless it
    sent all of them. Where the kernel chooses the source port, a slot of another number serves as well."""
    answers, found, counted = {}, [], ""
    for line in answers_of(word, record):
        answers.setdefault(int(line.split()[0]), []).append(line.split(" ", 1)[1])
    for _, other in same_way(word, record.split(";")[1].split("|")[1:]):
        counted = (other.split(",") + ["::"])[4].split(":")[2]
        theirs = {at: sent for at, sent in slots_of(other).items() if len(answers.get(at, [])) == len(sent[1])}
        for slot, wanted in sorted(slots_of(word).items()):
            most = len(wanted[1])
            serving = [at for at, (port, sizes) in sorted(theirs.items()) if (port, sizes[:most]) == wanted]
            if not serving:
                return ("", [])
            theirs.pop(serving[0])
            found += ["%d %s" % (slot, answer) for answer in answers[serving[0]][:most]]
    return (counted, found)


def whole_run(word, earlier, record):
    """What another racwire counted before and got at first on the path of a word, as lines without the path.

    None unless it sent what this one did in its own earlier run, slot by slot."""
    for own in earlier:
        for _, first in same_way(word, own.split(";")[1].split("|")[1:]):
            counted, answers = borrow(first, record)
            if answers and set(answers) <= set(answers_of(word, record)):
                return (counted, answers)
    return ("", [])


def run(words, say, stopped):
    """Send what no other run has sent; `say` gets each line, and `stopped` ends the run early."""
    limits = [int(number) for number in words[0].split(":")] + [0, 0, 0]
    turn = SenderTurn([word for word in words[1:] if word.startswith("=")])
    words = [word for word in words if not word.startswith("=")]
    taken, lines, record = {}, [], ""

    def enough(pid, records):
        for record in records:
            try:
                began = int(record[1:].split(";")[0]) / 1000.0
                age_ms = max(0, (time.time() - began) * 1000)
                for path, word in enumerate(words[1:]):
                    if path in taken or age_ms > limits[2]:
                        continue
                    counted, answers = borrow(word, record)
                    used = "used %d %d %d %s" % (path, pid, age_ms, counted or "-")
                    if answers:
                        taken[path] = (began, [used], answers)
                    elif record != records[-1]:
                        # It sent from other ports at first, and has examined these by now.
                        first, answers = whole_run(word, turn.earlier, record)
                        examined = answers_of(word, records[-1])
                        if answers and (examined or not any("silence" in answer for answer in answers)):
                            used = ["used %d %d %d %s" % (path, pid, age_ms, first or "-")]
                            used += ["first %d %s" % (path, answer) for answer in answers]
                            taken[path] = (began, used, examined)
            except (ValueError, IndexError):
                continue  # of another release
        return len(taken) == len(words) - 1

    def keep(line):
        lines.append(line)
        say(line)

    turn.take(limits[1] / 1000.0, enough, stopped)
    try:
        if limits[3] and turn.lock is None:
            return say("busy")
        began = min([time.time()] + [start for start, _, _ in taken.values()])
        say("start %d" % (began * 1000))
        for path, (_, used, answers) in sorted(taken.items()):
            for line in used:
                say(line)
            for answer in answers:
                keep("%d %s" % (path, answer))
        own = [(path, word) for path, word in enumerate(words[1:]) if path not in taken]
        if own and turn.waited:
            say("waited %d %d %s" % (turn.pid, turn.waited * 1000, "ended" if turn.ended else "held"))
        send(own, limits[0] / 1000.0, turn, keep, stopped)
        if not stopped() and all(len(used) == 1 for _, used, _ in taken.values()):
            record = record_of(began, words, lines)
    finally:
        turn.end(record)


def plan_of(words, has_waited):
    """The datagrams in the order of sending. After a wait the receivers' limit is used up: then all are far apart."""
    plan = []
    for path, word in words:
        source, target, port = word.split(",")[:3]
        last = -SLOW_MS
        for at, slot, source_port, size, whole in parse_datagrams(word):
            last = max(at, last + SLOW_MS) if has_waited else at
            plan.append((last / 1000.0, path, slot, source_port, size, whole, source, target, int(port)))
    return sorted(plan)


def send(words, patience_s, turn, say, stopped):
    """Send the datagrams of paths, which are numbers with their words."""
    receivers, room, flows, waiting, lossy, last, seen = {}, {}, {}, {}, set(), {}, {}
    for path, word in words:
        node, most, _ = (word.split(",") + ["%d:1:" % path])[4].split(":")
        receivers[path] = node
        # What another run left in the receiver's memory is not known after a wait.
        room[node] = 0 if turn.waited else int(most)
        if all(len(sizes) == 1 for _, sizes in slots_of(word).values()):
            seen[path] = {"silence": 0, "refused": 0}
    poller, started = select.poll(), clock()

    def finish(key, answer, sender):
        flow, _, size, whole = waiting.pop(key)
        room[receivers[key[0]]] += answer == "refused" and not whole
        if answer == "silence":
            lossy.add(key[0])
        if whole and answer in seen.get(key[0], ()):
            seen[key[0]][answer] += 1
        say("%d %d %d %d %s %s" % (key[0], key[1], flow.getsockname()[1], size, answer, sender or "-"))

    def listen(until):
        turn.welcome()
        for number, _ in poller.poll(max(0.0, (until - clock()) * 1000)):
            for key in [k for k, held in waiting.items() if held[0].fileno() == number]:
                answer, sender = outcome(waiting[key][0])
                if answer:
                    finish(key, answer, sender)
            for flow in flows.values():
                if flow.fileno() == number:
                    outcome(flow)
        for key in [k for k, held in waiting.items() if held[1] <= clock()]:
            finish(key, "silence", "")

    def may_come_back(node):
        return room[node] <= 0 and any(receivers[key[0]] == node and not held[3] for key, held in waiting.items())

    try:
        plan = plan_of(words, bool(turn.waited))
        while plan:
            at, path, slot, source_port, size, whole, source, target, port = one = heapq.heappop(plan)
            key, node = (path, slot), receivers[path]
            while not stopped() and (started + at > clock() or (not whole and may_come_back(node))):
                listen(min([max(started + at, clock() + 0.01), clock() + 0.2] + [held[1] for held in waiting.values()]))
            if stopped():
                break
            if whole and path in seen and min(seen[path].values()) >= ENOUGH:
                say("%d %d %d %d enough -" % (path, slot, source_port, size))
                continue
            if path in lossy and clock() < last[path] + SLOW_MS / 1000.0:
                heapq.heappush(plan, (last[path] - started + SLOW_MS / 1000.0,) + one[1:])
                continue
            last[path] = clock()
            if key in waiting:
                finish(key, "silence", "")
            is_cut = whole in (NEVER, CUT_COUNTED)
            if is_cut and room[node] <= 0:
                say("%d %d %d %d held -" % (path, slot, source_port, size))
                continue
            family = socket.AF_INET6 if ":" in target else socket.AF_INET
            try:
                if key not in flows:
                    flows[key] = open_flow(family, source, source_port, target, port)
                    poller.register(flows[key].fileno(), select.POLLIN | select.POLLERR)
                flow = flows[key]
                flow.setsockopt(*(DISCOVER[family] + (NEVER if is_cut else PROBE,)))
                outcome(flow)
                if whole in (COUNTED, CUT_COUNTED):
                    room[node] -= is_cut
                    flow.send(b"\0" * size)
                    say("%d %d %d %d sent -" % (path, slot, flow.getsockname()[1], size))
                    continue
                waiting[key] = (flow, clock() + patience_s, size, whole)
                room[node] -= not whole
                flow.send(b"\0" * size)
            except FAILED as error:
                room[node] += waiting.pop(key, None) is not None and not whole
                say("%d %d %d %d unsent:%s -" % (path, slot, source_port, size, errno.errorcode.get(error.errno, "?")))
            listen(clock())
        while waiting and not stopped():
            listen(min(held[1] for held in waiting.values()))
    finally:
        for flow in flows.values():
            flow.close()


if __name__ == "__main__":
    run(sys.argv[1:], lambda line: sys.stdout.write(line + "\n"), lambda: False)
