"""Storage of a node: `ss -t -i -n` and mountstats as old and new systems print them, and what grew between readings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import StorageUse, Unknown
from checks.sources.nodes.socket_text import parse_sockets
from checks.sources.nodes.storage_reading import STALLED_FROM, storage_use
from checks.sources.nodes.storage_text import StorageReading, parse_mounts, parse_storage
from checks.sources.sh_text import MARK

NEW = """\
State    Recv-Q Send-Q                 Local Address:Port      Peer Address:Port Process
ESTAB    0      0                         10.40.0.11:876         10.40.0.200:2049
\t cubic wscale:7,7 rto:204 rtt:0.214/0.05 ato:40 mss:8948 pmtu:9000 rcvmss:8948 advmss:8948 cwnd:10 \
bytes_sent:81920 bytes_retrans:8948 bytes_acked:72972 bytes_received:655360 segs_out:1210 segs_in:1314 \
data_segs_out:900 data_segs_in:990 send 3344859813bps lastsnd:32 pacing_rate 6689719624bps delivered:901 \
app_limited busy:760ms unacked:1 retrans:1/5 dsack_dups:1 rcv_rtt:1.5 rcv_space:62636 rcv_ssthresh:64396 \
minrtt:0.05 snd_wnd:65536
SYN-SENT 0      1                         10.40.0.11:940         10.40.0.201:2049
\t cubic rto:4000 backoff:2 mss:524 rcvmss:88 advmss:8960 cwnd:1 ssthresh:7 segs_out:3 lastsnd:1 unacked:1 \
retrans:1/2 lost:1
ESTAB    0      0      [::ffff:10.40.0.11]%eth3:48876 [::ffff:10.40.0.200]:3260
\t ts sack bbr wscale:9,7 rto:201 mss:1448 pmtu:1500 advmss:1448 cwnd:10 bbr:(bw:90Mbps,mrtt:0.2) segs_out:7
ESTAB    0      0        [fd00:40::11]:49152        [fd00:40::c8]:4420
\t cubic mss:8928 pmtu:9000 advmss:8928 cwnd:10 segs_out:9 bytes_received:12 tcp-ulp-mptcp
"""
OLD = """\
State      Recv-Q Send-Q        Local Address:Port          Peer Address:Port
ESTAB      0      0             10.40.0.11:760            10.40.0.200:2049
\t ts sack cubic wscale:7,7 rto:204 rtt:1.875/0.75 ato:40 mss:1448 cwnd:10 send 61.8Mbps rcv_rtt:4 rcv_space:29200
ESTAB      0      0             ::ffff:10.40.0.11:811     ::ffff:10.40.0.200:2049
\t ts sack cubic wscale:7,7 rto:6528 backoff:5 rtt:2/1 mss:1448 cwnd:1 ssthresh:2 unacked:3 retrans:1/9 lost:3
"""
ONE_LINE = """\
tcp ESTAB 0 0 10.40.0.11:876 10.40.0.200:2049 cubic wscale:7,7 mss:8948 pmtu:9000 advmss:8948 cwnd:10 segs_out:1
ESTAB 0 0 10.40.0.11:22 10.40.0.9:51876 cubic mss:1448 pmtu:1500
"""
MOUNTS = """\
device 10.40.0.200:/vol/backup mounted on /backup with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=1048576,wsize=1048576,hard,proto=tcp,timeo=600,mountaddr=10.40.0.200,addr=10.40.0.200
\tbytes:\t10 20 0 0 5000 7000 2 3
\txprt:\ttcp 876 1 1 0 12 100 99 0 250 0 31 12 30
\txprt:\ttcp 900 1 1 0 12 40 40 0 80 0 31 12 30
\t        READ: 50 50 0 6200 7200 3 100 110 0
\t       WRITE: 30 33 1 4900 4080 1 60 70 0
device filer:/with space mounted on /u01/old data with fstype nfs4 statvers=1.0
\topts:\trw,vers=4.1,proto=tcp6,clientaddr=fd00:40::11,addr=fd00:40::c8
\tbytes:\t0 0 0 0 0 0 0 0
\t        READ: 0 0 0 0 0 0 0 0
\t       WRITE: 0 0 0 0 0 0 0 0
device filer:/ancient mounted on /ancient with fstype nfs statvers=1.0
\topts:\trw,vers=3,proto=udp,timeo=7,addr=10.40.0.201
\txprt:\tudp 812 0 44 44 0 60 0
"""


def answer(sockets: str, mounts: str = "", listed: int = 1, code: int = 0) -> str:
    return (
        f"\n{MARK} sockets\nestablished {listed}\n{sockets}\n{MARK} end 0\n"
        f"\n{MARK} mounts\n{mounts}\n{MARK} end {code}\n"
    )


def reading(sockets: str, mounts: str = "", at_s: float = 0.0) -> StorageReading:
    found = parse_storage(answer(sockets, mounts))
    return StorageReading(found.sockets, found.mounts, at_s)


def use(before: StorageReading | Unknown, after: StorageReading | Unknown) -> StorageUse:
    found = storage_use(before, after)
    assert isinstance(found, StorageUse)
    return found


def test_sockets_of_a_new_release() -> None:
    nfs, iscsi, nvme = parse_sockets(NEW)
    assert (nfs.local, nfs.remote) == (("10.40.0.11", 876), ("10.40.0.200", 2049))
    assert nfs.values == {
        "mss": 8948, "pmtu": 9000, "advmss": 8948, "bytes_received": 655360, "segs_out": 1210, "retrans": 5,
        "bytes_sent": 81920, "bytes_acked": 72972, "segs_in": 1314,
    }  # fmt: skip
    assert (iscsi.local[0], iscsi.remote) == ("10.40.0.11", ("10.40.0.200", 3260)), "IPv4 in IPv6, with a scope"
    assert (nvme.remote, nvme.values["mss"]) == (("fd00:40::c8", 4420), 8928)


def test_sockets_of_a_release_without_path_mtu() -> None:
    first, second = parse_sockets(OLD)
    assert first.values == {"mss": 1448}
    assert (second.remote, second.values) == (("10.40.0.200", 2049), {"mss": 1448, "backoff": 5, "retrans": 9})


def test_values_in_the_same_line_and_other_ports() -> None:
    found = parse_storage(answer(ONE_LINE, "")).sockets
    assert isinstance(found, tuple)
    (only,) = found
    assert only.values == {"mss": 8948, "pmtu": 9000, "advmss": 8948, "segs_out": 1}


def test_mounts_of_both_versions() -> None:
    first, second, third = parse_mounts(MOUNTS)
    assert (first.mount, first.options["addr"], first.options["vers"]) == ("/backup", "10.40.0.200", "3")
    assert (first.transport, first.reads[0], first.writes[1]) == ("tcp", 50, 33)
    assert (second.mount, second.options["vers"], second.options["proto"]) == ("/u01/old data", "4.1", "tcp6")
    assert (third.transport, third.reads) == ("udp", ())


def test_growth_is_that_of_connections_and_mounts_of_both_readings() -> None:
    later = NEW.replace("segs_out:1210", "segs_out:2210").replace("retrans:1/5", "retrans:0/25")
    busy = MOUNTS.replace("READ: 50 50 0 6200 7200 3 100", "READ: 150 151 0 6200 7200 3 150").replace(
        "0 0 5000 7000", "0 0 9000 7000"
    )
    found = use(reading(NEW, MOUNTS, 10.0), reading(later, busy, 15.0))
    assert not isinstance(found.connections, Unknown)
    nfs = found.connections[0]
    assert (nfs.service, nfs.connections, nfs.compared, nfs.seconds) == ("NFS", 1, 1, 5.0)
    assert (nfs.segments, nfs.retransmits, nfs.silent) == (1000, 20, 1)
    assert found.connections[1].silent is None, "its ss shows no received bytes"
    assert not isinstance(found.mounts, Unknown)
    mount, second, udp = found.mounts
    assert (mount.operations, mount.retransmits, mount.round_trip_ms, mount.read_bytes) == (100, 1, 0.5, 4000)
    assert (second.protocol, second.operations, second.round_trip_ms) == ("tcp", 0, None)
    assert (udp.protocol, udp.operations, udp.server) == ("udp", None, "filer")


def test_many_connections_with_the_same_sizes_are_one_fact() -> None:
    lines = "".join(
        f"ESTAB 0 0 10.40.0.11:{port} 10.40.0.200:2049\n\t cubic mss:8948 pmtu:9000 advmss:8948 segs_out:{port}\n"
        for port in range(20000, 20300)
    )
    found = use(reading(lines), reading(lines + OLD, at_s=1.0))
    assert not isinstance(found.connections, Unknown)
    assert [(c.connections, c.compared, c.mss, c.path_mtu, c.stalled) for c in found.connections] == [
        (300, 300, 8948, 9000, 0),
        (2, 0, 1448, None, 1),
    ]
    assert STALLED_FROM == 3
    assert found.connections[1].retransmits is None, "not open at the first reading"


def test_a_connection_that_took_the_port_of_another_is_not_compared() -> None:
    again = NEW.replace("segs_out:1210", "segs_out:4").replace("retrans:1/5 ", "")
    found = use(reading(NEW), reading(again, at_s=1.0))
    assert not isinstance(found.connections, Unknown)
    assert (found.connections[0].compared, found.connections[0].retransmits) == (0, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (answer("no ss"), "no ss that shows"),
        (answer(""), "its ss showed none"),
        (answer(NEW).replace("established 1", ""), "/proc/net/tcp"),
        (answer("ESTAB 0 0 10.40.0.11:876 10.40.0.200:2049"), "does not show the packet sizes"),
        ("", "incomplete"),
        (answer(NEW)[:60], "incomplete"),
    ],
)
def test_what_cannot_be_read_is_unknown(text: str, reason: str) -> None:
    sockets = parse_storage(text).sockets
    assert isinstance(sockets, Unknown)
    assert reason in sockets.reason


def test_no_connection_and_no_mount_are_known() -> None:
    found = parse_storage(answer("", "", listed=0, code=1))
    assert (found.sockets, found.mounts) == ((), ())
    assert isinstance(parse_storage(answer("", "", listed=0, code=2)).mounts, Unknown)


def test_a_first_reading_that_failed_leaves_the_sizes() -> None:
    found = use(Unknown("rac1 did not answer."), reading(NEW, MOUNTS, 3.0))
    assert not isinstance(found.connections, Unknown)
    assert next((c.mss, c.retransmits, c.seconds) for c in found.connections) == (8948, None, 0.0)
    assert storage_use(reading(NEW), Unknown("rac1 did not answer.")) == Unknown("rac1 did not answer.")


WORDS = st.sampled_from([*NEW.split(), *MOUNTS.split(), "\n", "\n\t", "²:9", "::%:2049", "1:99999", MARK])


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    parse_sockets(text)
    parse_mounts(text)
    parse_storage(text)
    storage_use(reading(text, text), reading(NEW + text, MOUNTS + text))
