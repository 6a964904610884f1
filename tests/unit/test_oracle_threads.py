"""LMS, LGWR and VKTM by their arguments, with their threads: texts of /proc, and a real process read by the program."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from checks.model.facts import ScheduledProcess, Unknown
from checks.rules.host_limits import slow_processes
from checks.sources.host_sections import HOST_COMMANDS, MOST_THREADS
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.setup_host import parse_host

_STAT = "S 1 900 900 0 -1 4210752 10 0 0 0 5 7 0 0 {priority} 0 1 0 4242 1000 99 18446744073709551615"
_MIDDLE = " 1 1 0 0 0 0 0 4096 81920 1 0 0 17 3 {rt} {policy} 0 0 0 0 0 0 0 0 0 0 0"


def thread(tid: int, rt: int, policy: int) -> str:
    return f"{tid} " + (_STAT + _MIDDLE).format(priority=-2 if rt else 20, rt=rt, policy=policy)


def process(pid: int, arguments: str, *threads: str) -> str:
    return "\n".join((f"{pid}/cmdline:1:{arguments}", *threads))


def read(*texts: str, instances: tuple[str, ...] | Unknown = ("prod1",)):
    sections = {name: OutputSection() for name in HOST_COMMANDS} | {"scheduling": OutputSection("\n".join(texts))}
    return parse_host(sections, instances, frozenset({"104"}), lambda _: None).processes


LEADER, LMS = thread(71, 0, 0), thread(73, 1, 2)
WELL = ScheduledProcess("LMS1", "prod1", 0, 0, threads=3, real_time_threads=1)


def test_lms_of_19c_has_real_time_priority_in_one_of_its_threads():
    found = read(process(71, "ora_lms1_prod1", LEADER, thread(72, 0, 0), LMS))
    assert found == (WELL,)
    assert [slow_processes(found, version) for version in ((19, 22), (18, 3), ())] == [(), (), ()]
    assert slow_processes(found, (12, 2)) == found


def test_up_to_12_2_the_first_thread_is_the_process():
    found = read(process(71, "ora_lms0_prod1", thread(71, 1, 2)))
    assert found == (ScheduledProcess("LMS0", "prod1", 2, 1, 1, 1),)
    assert slow_processes(found, (12, 2)) == ()


@pytest.mark.parametrize("version", [(11, 2), (12, 2), (18, 3), (19, 22), (23, 4), ()])
@pytest.mark.parametrize("arguments", ["ora_lms1_prod1", "ora_vktm_prod1", "ora_lm36_prod1"])
def test_no_real_time_thread_is_a_fault_in_each_release(version, arguments):
    found = read(process(71, arguments, LEADER, thread(72, 0, 0)))
    assert slow_processes(found, version) == found


def test_lmd_and_lgwr_have_no_real_time_priority_by_default():
    found = read(*(process(n, f"ora_{name}_prod1", thread(n, 0, 0)) for n, name in ((8, "lgwr"), (9, "lmd0"))))
    assert [p.name for p in found] == ["LGWR", "LMD0"]
    assert slow_processes(found, (19, 22)) == ()


def test_the_one_lms_of_two_that_lacks_a_real_time_thread():
    found = read(process(71, "ora_lms1_prod1", LEADER, LMS), process(81, "ora_lms2_prod1", thread(81, 0, 0)))
    assert [p.name for p in slow_processes(found, (19, 22))] == ["LMS2"]


@pytest.mark.parametrize(
    ("arguments", "name", "instance"),
    [
        ("asm_lms0_+ASM2", "LMS0", "+ASM2"),
        ("mdb_vktm_-MGMTDB", "VKTM", "-MGMTDB"),
        ("ora_lms0_a_name_of_many_letters", "LMS0", "a_name_of_many_letters"),
        ("ora_lmsa_X_1$#   ", "LMSA", "X_1$#"),
    ],
)
def test_the_arguments_name_process_and_instance_in_full(arguments, name, instance):
    (found,) = read(process(71, arguments, LEADER), instances=(instance,))
    assert (found.name, found.instance) == (name, instance)


@pytest.mark.parametrize(
    "text",
    [
        process(71, "ora_lms1_prod1"),
        process(71, "ora_lms1_prod1", thread(72, 0, 0)),
        process(71, "ora_lms1_watch", LEADER),
        process(71, "ora_lms1_prod1.sh", LEADER),
        process(71, "   ", LEADER),
        process(71, "ora_lms1_prod1", "71 S 1"),
        process(71, "ora_lms1_prod1", LEADER, *(thread(100 + n, 0, 0) for n in range(MOST_THREADS))),
        process(104, "ora_lms1_prod1", thread(104, 0, 0)),
    ],
    ids=["ended", "first ended", "no PMON", "program", "blanks", "cut", "too many threads", "container"],
)
def test_what_was_not_read_is_not_judged(text):
    assert read(text) == ()


def test_processes_that_this_user_does_not_see_are_not_known():
    assert isinstance(read(instances=Unknown("hidden")), Unknown)


def test_the_threads_of_lms_in_files_of_older_versions_were_not_read():
    old = (ScheduledProcess("LMS0", "prod1", 0, 0),)
    assert [slow_processes(old, version) for version in ((18, 3), (19, 22), ())] == [(), (), ()]
    assert slow_processes(old, (12, 2)) == old


_PROGRAM = """
import ctypes, sys, threading
libc = ctypes.CDLL(None)
def named():
    libc.prctl(15, b"a) S 1 (prod1", 0, 0, 0)
    print("ready", flush=True)
    sys.stdin.read()
libc.prctl(15, b"ora_scmn_prod1", 0, 0, 0)
thread = threading.Thread(target=named)
thread.start()
thread.join()
"""


@pytest.fixture
def lms() -> Iterator[int]:
    """A process of two threads with the name and arguments of LMS; it ends with its input."""
    arguments = ["ora_lms1_prod1", "-c", _PROGRAM]
    with subprocess.Popen(arguments, executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        yield child.pid


def test_the_program_reads_the_threads_of_a_real_process(lms):
    others = [tid for tid in map(int, os.listdir(f"/proc/{lms}/task")) if tid != lms]
    with open(f"/proc/{lms}/comm", encoding="ascii") as comm:
        assert comm.read() == "ora_scmn_prod1\n"
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(others[0], os.SCHED_RR, os.sched_param(1))
    is_raised = os.sched_getscheduler(others[0]) == os.SCHED_RR
    command = ["sh", "-c", HOST_COMMANDS["scheduling"]]
    text = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout
    assert "scmn" not in text
    own = text[text.index(f"{lms}/cmdline") :]
    assert read(own) == (ScheduledProcess("LMS1", "prod1", 0, 0, 2, 1 if is_raised else 0),)
