# Answers one peer's datagrams and flows; sends nothing of its own accord, writes no file, ends with its stdin.
# Runs on Python 2.7 and 3. Arguments: own address, peer, token in hex, most seconds, most bytes, most CPU seconds,
# name of its lock, and the bytes of memory for reassembly in use above which it ends, 0 for no limit.
# ruff: noqa
# mypy: ignore-errors
import binascii
import os
import select
import socket
import struct
import sys
import time


def main(own, peer, token, seconds, budget, cpu, name, room):
    clock = getattr(time, "monotonic", time.time)
    token, dontwait = binascii.unhexlify(token), 0x40

    def cpu_s():
        return sum(os.times()[:2])

    def cpu_ns():
        try:
            with open("/proc/self/schedstat") as stat:
                return int(stat.read().split()[0])
        except (IOError, OSError):
            return int(cpu_s() * 1e9)

    lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        lock.bind("\0" + name)
    except (OSError, socket.error):
        raise SystemExit("another measure runs")
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    s.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR: a full queue of this node is an error of sending
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", 0, 20000))
    s.bind((own, 0))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((own, 0))
    listener.listen(64)
    port = s.getsockname()[1]
    # packets and bytes in, packets and bytes out, refused by the kernel, from others
    n = [0, 0, 0, 0, 0, 0]
    flows, buf, zeros = {}, bytearray(70000), b"\0" * 262144
    streaming = [False]  # datagrams keep coming, so it waits for them without a select before each

    def table(path):
        with open(path) as lines:
            return [line.split() for line in lines]

    def memory():
        for w in table("/proc/net/sockstat"):
            if w[0] == "FRAG:" and "memory" in w:
                return int(w[w.index("memory") + 1])
        return 0

    def say(word):
        inode = str(os.fstat(s.fileno()).st_ino)
        drops = sum(int(words[-1]) for words in table("/proc/net/udp") if words[9] == inode)
        given = [s.getsockopt(socket.SOL_SOCKET, one) for one in (socket.SO_RCVBUF, socket.SO_SNDBUF)]
        said = [word] + n + [drops, cpu_ns(), memory()] + given
        sys.stdout.write("racwire %s %d %d %d %d %d %d %d %d %d %d %d\n" % tuple(said))
        sys.stdout.flush()

    def answer(data, who):
        try:
            s.sendto(data, dontwait, who)
            n[2] += 1
            n[3] += len(data)
        except (OSError, socket.error):
            n[4] += 1

    # Takes what waits, and returns whether more may wait. over: no more is asked for, so a request brings nothing.
    def datagrams(over):
        until = clock() + 0.05
        for turn in range(64):
            if turn and clock() > until:
                return True
            try:
                size, who = s.recvfrom_into(buf, 70000, 0 if streaming[0] else dontwait)
            except (OSError, socket.error) as error:
                streaming[0] = False
                while not turn:
                    try:
                        s.recv(1, 0x2000 | dontwait)  # an ICMP error, which would wake this program for ever
                    except (OSError, socket.error):
                        break
                return error.errno != 11
            if who[0] != peer or size < 28 or bytes(buf[8:24]) != token:
                n[5] += 1
                continue
            n[0] += 1
            n[1] += size
            kind, count, ask = struct.unpack_from("!BxH20xI", buf)
            if kind == 0:
                answer(memoryview(buf)[:size], who)
            elif kind == 1:
                answer(bytes(buf[:28]), who)
            elif kind == 3 and not over:
                ask = min(max(ask, 28), 65507)
                for i in range(min(count, 64)):
                    head = struct.pack("!BxH4s16sI", 4, i, bytes(buf[4:8]), token, ask)
                    answer(head + zeros[: ask - 28], who)
            streaming[0] = not flows
            if n[1] + n[3] > budget:
                return False
        return True

    def flow(h, st):
        try:
            if st["left"] and st["send"]:
                k = h.send(zeros[: min(st["left"], 262144)], dontwait | 0x4000)
                n[3] += k
                st["left"] -= k
                n[2] += not st["left"]
                return True
            data = h.recv(min(st["left"] or 16 - len(st["head"]), 262144), dontwait)
        except (OSError, socket.error) as error:
            return error.errno == 11
        if not data:
            return False
        if st["left"]:
            n[1] += len(data)
            st["left"] -= len(data)
        else:
            st["head"] += data
            if len(st["head"]) < 16:
                return True
            head, st["head"] = st["head"], b""
            if not st["known"]:
                st["known"] = head == token
                n[5] += not st["known"]
                return st["known"]
            kind, st["left"] = struct.unpack("!B7xQ", head)
            st["send"], st["answer"] = kind == 1, head[:8]
        if not st["left"] and not st["send"]:
            n[0] += 1
            try:
                h.send(st["answer"], dontwait | 0x4000)
            except (OSError, socket.error):
                return False
        return True

    sys.stdout.write("racwire ready %d %d\n" % (port, listener.getsockname()[1]))
    sys.stdout.flush()
    start = beat = looked = clock()
    why = ""
    while not why:
        writers = [h for h, st in flows.items() if st["left"] and st["send"]]
        readers = [h for h, st in flows.items() if not (st["left"] and st["send"])]
        ready, writable, _ = select.select([0, s, listener] + readers, writers, [], 0 if streaming[0] else 0.1)
        at = clock()
        if 0 in ready:
            said = os.read(0, 4096)
            if said:
                beat = at
                why = "quit" if b"q" in said else ""
                if b"s" in said:
                    streaming[0], until = False, clock() + 0.5
                    while datagrams(True) and clock() < until:
                        pass
                    say("state")
            else:
                why = "eof"
        if room and at - looked > 0.1:
            looked = at
            if memory() > room:
                why = "memory"
        if not why and (streaming[0] or s in ready):
            datagrams(False)
        if listener in ready:
            h, who = listener.accept()
            if who[0] == peer and len(flows) < 64:
                h.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                flows[h] = {"head": b"", "left": 0, "send": False, "known": False}
                streaming[0] = False
            else:
                n[5] += 1
                h.close()
        for h in [h for h in ready + writable if h in flows]:
            if not flow(h, flows[h]):
                del flows[h]
                h.close()
        if not why:
            if at - beat > 0.8:
                why = "heartbeat"
            elif at - start > seconds:
                why = "seconds"
            elif n[1] + n[3] > budget:
                why = "bytes"
            elif cpu_s() > cpu:
                why = "cpu"
    say("done-" + why)


if __name__ == "__main__":
    main(
        sys.argv[1],
        sys.argv[2],
        sys.argv[3],
        float(sys.argv[4]),
        int(sys.argv[5]),
        float(sys.argv[6]),
        sys.argv[7],
        int(sys.argv[8]),
    )
