"""What the files of sysctl and a profile of tuned set at the next boot: from the text that a node prints."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import SysctlFiles, SysctlLine, TunedProfile, UdpSocket, Unknown
from checks.rules.sysctls_at_boot import line_that_sets, spelled, tuned_line_against
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.sysctl_files import parse_line, parse_sysctl_files, parse_udp_sockets
from checks.sources.sh_text import FILE_MARK, MARK, MASKED, UNREADABLE

MAX, FILTER = "net.core.rmem_max", "net.ipv4.conf.eth1.rp_filter"


def printed(files: dict[str, str], tuned: str = "", settings: dict[str, str] | None = None, profiles=None) -> str:
    """Return what the program prints for these files."""

    def of(found: dict[str, str]) -> str:
        return "\n".join(f"{FILE_MARK} {path}\n{text}" for path, text in found.items())

    parts = {
        "sysctl": of(files),
        "tuned": tuned,
        "tuned settings": of(settings or {}),
        "tuned profiles": of(profiles or {}),
    }
    return "".join(f"\n{MARK} {name}\n{text}\n{MARK} end 0\n" for name, text in parts.items())


def at_boot(files: dict[str, str], key: str = MAX) -> tuple[str, str] | None:
    line = line_that_sets(parse_sysctl_files(printed(files)).at_boot, key)
    return line and (line.value, line.file)


def test_the_last_name_decides_whatever_its_directory():
    early, late = "/etc/sysctl.d/10-a.conf", "/usr/lib/sysctl.d/50-b.conf"
    assert at_boot({early: f"{MAX} = 1", late: f"{MAX} = 2"}) == ("2", late)
    own = "/etc/sysctl.d/zz-racwire-2026-11-20-a.conf"
    assert at_boot({own: f"{MAX} = 3", "/etc/sysctl.d/99-sysctl.conf": f"{MAX}=1", late: f"{MAX}=2"}) == ("3", own)


def test_a_file_in_etc_masks_one_of_the_same_name():
    usual = "/usr/lib/sysctl.d/50-b.conf"
    assert at_boot({usual: f"{MAX} = 2", "/etc/sysctl.d/50-b.conf": ""}) is None
    assert at_boot({usual: f"{MAX} = 2", "/etc/sysctl.d/50-b.conf": MASKED}) is None
    assert at_boot({usual: f"{MAX} = 2", "/run/sysctl.d/50-b.conf": f"{MAX} = 3"}) == ("3", "/run/sysctl.d/50-b.conf")


def test_sysctl_conf_counts_at_boot_only_through_its_link():
    files = parse_sysctl_files(printed({"/etc/sysctl.conf": f"{MAX} = 5"}))
    assert line_that_sets(files.at_boot, MAX) is None
    assert files.last == (SysctlLine(MAX, "5", "/etc/sysctl.conf"),)
    linked = {"/etc/sysctl.d/99-sysctl.conf": f"{MAX} = 5", "/etc/sysctl.conf": f"{MAX} = 5"}
    assert at_boot(linked) == ("5", "/etc/sysctl.d/99-sysctl.conf")


def test_a_file_that_may_not_be_read_is_named_unless_it_is_masked():
    closed = {"/etc/sysctl.d/60-secret.conf": UNREADABLE, "/usr/lib/sysctl.d/60-secret.conf": f"{MAX} = 2"}
    files = parse_sysctl_files(printed(closed))
    assert files.unread == ("/etc/sysctl.d/60-secret.conf",)
    assert files.at_boot == ()
    masked = {"/etc/sysctl.d/60-secret.conf": "", "/usr/lib/sysctl.d/60-secret.conf": UNREADABLE}
    assert parse_sysctl_files(printed(masked)).unread == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" net.core.rmem_max=1 ", SysctlLine(MAX, "1", "f")),
        ("net/core/rmem_max = 1", SysctlLine(MAX, "1", "f")),
        ("-net.core.rmem_max = 1", SysctlLine(MAX, "1", "f")),
        ("net.ipv4.udp_mem = 1\t2  3", SysctlLine("net.ipv4.udp_mem", "1 2 3", "f")),
        ("net.ipv4.conf.eth1/100.rp_filter = 2", SysctlLine("net.ipv4.conf.eth1.100.rp_filter", "2", "f")),
        ("net/ipv4/conf/eth1.100/rp_filter = 2", SysctlLine("net.ipv4.conf.eth1.100.rp_filter", "2", "f")),
        ("-net.ipv4.conf.all.rp_filter", SysctlLine("net.ipv4.conf.all.rp_filter", "", "f", is_exception=True)),
        ("# net.core.rmem_max = 1", None),
        ("; net.core.rmem_max = 1", None),
        ("net.core.rmem_max", None),
        ("", None),
        ("= 3", None),
    ],
)
def test_a_line_in_each_spelling(text, line):
    assert parse_line(text, "f") == line


def test_a_pattern_sets_what_no_line_of_its_own_sets():
    pattern = {"/usr/lib/sysctl.d/50-default.conf": "net.ipv4.conf.*.rp_filter = 1\n-net.ipv4.conf.all.rp_filter"}
    file = "/usr/lib/sysctl.d/50-default.conf"
    assert at_boot(pattern, FILTER) == ("1", file)
    assert at_boot(pattern, "net.ipv4.conf.bond0.100.rp_filter") == ("1", file)
    assert at_boot(pattern, "net.ipv4.conf.all.rp_filter") is None
    assert at_boot(pattern, "net.ipv4.conf.eth1.arp_filter") is None
    own = "/etc/sysctl.d/10-own.conf"  # sorts before the pattern, and wins all the same
    assert at_boot({**pattern, own: f"{FILTER} = 2"}, FILTER) == ("2", own)


def test_the_name_of_an_interface_is_spelled_so_that_it_is_read_back():
    for interface in ("eth1", "bond0.100", "ens1f0.1.2"):
        key = f"net.ipv4.conf.{interface}.rp_filter"
        line = parse_line(f"{spelled(key)} = 2", "f")
        assert line is not None
        assert line.key == key
    assert spelled(MAX) == MAX


TUNED = {
    "/usr/lib/tuned/oracle/tuned.conf": "[main]\ninclude=throughput-performance\n[sysctl]\nnet.core.rmem_max = 262144",
    "/usr/lib/tuned/throughput-performance/tuned.conf": "[sysctl]\nnet.core.rmem_default=>65536\nnet.core.rmem_max=1",
}


def tuned(main: str, active: str = "oracle", profiles=None) -> TunedProfile | Unknown | None:
    settings = {"/etc/tuned/active_profile": active, "/etc/tuned/tuned-main.conf": main}
    return parse_sysctl_files(printed({}, "enabled", settings, TUNED if profiles is None else profiles)).tuned


def test_a_tuned_profile_wins_only_where_the_files_are_not_applied_again():
    usual, alone = tuned("reapply_sysctl = 1"), tuned("reapply_sysctl = 0")
    assert isinstance(usual, TunedProfile)
    assert isinstance(alone, TunedProfile)
    assert (usual.reapplies, alone.reapplies) == (True, False)
    assert tuned_line_against(usual, MAX, "16777216") is None
    line = tuned_line_against(alone, MAX, "16777216")
    assert line == SysctlLine(MAX, "262144", "/usr/lib/tuned/oracle/tuned.conf")
    assert tuned_line_against(alone, MAX, "262144") is None
    assert tuned_line_against(alone, "net.core.rmem_default", "4194304") is None  # raises smaller values only
    assert tuned_line_against(alone, "net.core.rmem_default", "1024") is not None


def test_a_tuned_that_is_off_has_no_profile_and_one_that_cannot_be_read_is_unknown():
    assert parse_sysctl_files(printed({}, "", {"/etc/tuned/active_profile": "oracle"}, TUNED)).tuned is None
    closed = tuned("", profiles={"/etc/tuned/oracle/tuned.conf": UNREADABLE})
    assert closed == Unknown("this user may not read /etc/tuned/oracle/tuned.conf")
    missing = tuned("", "site")
    assert isinstance(missing, TunedProfile)
    assert missing.not_found == ("site",)


def test_profiles_that_include_each_other_end():
    profiles = {
        f"/etc/tuned/{a}/tuned.conf": f"[main]\ninclude={b}\n[sysctl]\n{MAX}={n}"
        for n, (a, b) in enumerate(["xy", "yx"])
    }
    found = tuned("", "x", profiles)
    assert isinstance(found, TunedProfile)
    assert [line.value for line in found.sets] == ["1", "0"]


SS = """\
State  Recv-Q Send-Q  Local Address:Port  Peer Address:PortProcess
UNCONN 0      0      169.254.175.99:42424      0.0.0.0:*
\t skmem:(r0,rb524288,t0,tb2097152,f4096,w0,o0,bl0,d0)
UNCONN 0      0      192.168.10.1%eth1:123     0.0.0.0:*     skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d3)
UNCONN 0      0      *:111     *:*
\t skmem:(r0,rb212992,t0,tb212992)
UNCONN 0      0      [fe80::1]%eth1:546     [::]:*
\t skmem:(r0,rb4194304,t0,tb212992,f0,w0,o0,bl0,d0)
"""


def test_sockets_with_their_buffers_on_one_line_or_two():
    assert parse_udp_sockets("rac1", OutputSection(SS)) == (
        UdpSocket("169.254.175.99", 42424, 524288),
        UdpSocket("192.168.10.1", 123, 212992),
        UdpSocket("*", 111, 212992),
        UdpSocket("fe80::1", 546, 4194304),
    )
    assert isinstance(parse_udp_sockets("rac1", OutputSection("sh: ss: not found", 127)), Unknown)


ODD = st.lists(
    st.one_of(
        st.sampled_from((*SS.splitlines(), f"{MARK} sysctl", f"{MARK} end 0", f"{FILE_MARK} /etc/sysctl.d/a.conf")),
        st.sampled_from((f"{MAX} = 1", "-net.x", "= ", "[sysctl]", "include=a,b", "enabled", UNREADABLE, MASKED)),
        st.text(max_size=40),
    )
).map("\n".join)


@given(ODD)
def test_odd_texts_never_raise(text):
    found = parse_sysctl_files(text)
    assert isinstance(found, SysctlFiles)
    assert msgspec.json.decode(msgspec.json.encode(found), type=SysctlFiles) == found
    parse_udp_sockets("rac1", OutputSection(text))


@given(
    st.dictionaries(
        st.sampled_from([f"/{d}/sysctl.d/{n}.conf" for d in ("etc", "run", "usr/lib") for n in "abz"]),
        st.integers(0, 9).map(str),
    )
)
def test_one_file_decides_as_sysctl_d_says(values):
    """The rule of sysctl.d(5), written once more: mask by name and directory, then the last name."""
    rank = ["/etc/sysctl.d", "/run/sysctl.d", "/usr/lib/sysctl.d"]
    names: dict[str, str] = {}
    for path in sorted(values, key=lambda p: rank.index(p.rpartition("/")[0])):
        names.setdefault(path.rpartition("/")[2], path)
    wanted = None if not names else (values[names[max(names)]], names[max(names)])
    assert at_boot({path: f"{MAX} = {value}" for path, value in values.items()}) == wanted
