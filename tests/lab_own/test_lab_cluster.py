"""The practice cluster starts, is found, survives actions from outside, and leaves nothing behind."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import racwire_lab
from racwire_lab import Lab, LabError, down, find, up
from racwire_lab.cluster import ssh_configuration
from tests.lab.lab_support import (
    PATIENCE_S,
    assert_healthy,
    lab_directory,
    needs_namespaces,
    processes_of,
    run,
    ssh,
    until,
)
from tui.cli import lab

pytestmark = needs_namespaces


def racwire(*words: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_options(parser)
    return lab.run(parser.parse_args(words))


def test_up_status_down(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with lab_directory(tmp_path / "lab") as directory:
        assert racwire("status") == 2
        assert racwire("down") == 0
        assert racwire("up") == 0
        assert "`racwire lab break switch-mtu`" in capfd.readouterr().err
        assert directory.stat().st_mode & 0o777 == 0o700
        assert racwire("up") == 0
        assert "already up" in capfd.readouterr().err
        assert racwire("up", "--nodes", "3") == 2
        assert "`racwire lab down` first" in capfd.readouterr().err
        assert racwire("break", "switch-mtu", "--node", "1", "--network", "eth1") == 0
        capfd.readouterr()
        assert racwire("status", "--format", "json") == 0
        status = json.loads(capfd.readouterr().out)
        assert status["faults"] == [{"fault": "switch-mtu", "node": "rac1", "network": "eth1"}]
        assert status["nodes"] == ["rac1", "rac2"]
        assert racwire("mend") == 0
        cluster = find()
        assert cluster is not None
        assert_healthy(cluster)
        assert run(cluster, "rac2", "cat", "/proc/sys/net/ipv4/ipfrag_time").stdout == "30\n"
        assert racwire("down") == 0
        assert not directory.exists()


def test_ssh_between_nodes(tmp_path: Path) -> None:
    if ssh_configuration.find_sshd() is None:
        pytest.skip("SSH BETWEEN PRACTICE NODES WAS NOT TESTED: sshd is missing on this machine")
    with lab_directory(tmp_path / "lab"):
        cluster = up(3, database=False)
        assert cluster.remote_shell == "ssh"
        for peer in cluster.nodes:
            done = ssh(cluster, "rac1", peer, "uname -n; echo $HOME; exit 7")
            assert (done.stdout, done.returncode) == (f"{peer}\n{cluster.directory}/home\n", 7)


@pytest.mark.beyond_sample
def test_a_replacement_for_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_configuration, "find_sshd", lambda: None)
    with lab_directory(tmp_path / "lab"):
        cluster = up(database=False)
        assert cluster.remote_shell == "direct"
        assert "RACWIRE_SSH_CONFIG" not in cluster.environment("rac1")
        done = ssh(cluster, "rac1", "rac2", "uname -n; echo wrong >&2; exit 7")
        assert (done.stdout, done.stderr, done.returncode) == ("rac2\n", "wrong\n", 7)
        piped = (
            f"head -c 3000000 /dev/zero | {cluster.environment('rac1')['RACWIRE_RSH']} root@rac2 'cat; exit 3' | wc -c"
        )
        assert run(cluster, "rac1", "sh", "-c", piped).stdout.strip() == "3000000"
        cluster.break_("no-ssh")
        assert "Permission denied" in ssh(cluster, "rac1", "rac2", "true").stderr
        cluster.mend().break_("peer-down")
        assert ssh(cluster, "rac1", "rac2", "true").returncode == 255


def test_kill_of_the_first_process_ends_all(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab") as directory:
        os.kill(up().state.init.pid, signal.SIGKILL)
        until(lambda: not processes_of(directory))
        assert find() is None
        cluster = up(database=False)
        assert_healthy(cluster)
        os.kill(cluster.state.init.pid, signal.SIGKILL)
        until(lambda: not processes_of(directory))
        assert find() is None
        assert down()


def test_a_recycled_pid_is_never_killed(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab") as directory:
        cluster = up(database=False)
        state = json.loads((directory / "state.json").read_text())
        other = subprocess.Popen(["sleep", "30"])
        saved = dict(state, init={"pid": other.pid, "started": state["init"]["started"] - 1})
        (directory / "state.json").write_text(json.dumps(saved))
        assert find() is None
        assert other.poll() is None
        (directory / "state.json").write_text(json.dumps(state))
        assert cluster.state.init.alive()
        other.kill()
        other.wait()


@pytest.mark.beyond_sample
def test_killed_while_coming_up_leaves_no_process(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab") as directory:
        script = """
import os, signal
from racwire_lab import up
up(progress=lambda said: "Starting" in said and os.kill(os.getpid(), signal.SIGKILL))
"""
        ended = subprocess.run([sys.executable, "-c", script], check=False)
        assert ended.returncode == -signal.SIGKILL
        until(lambda: not processes_of(directory))
        assert_healthy(up(database=False))


def test_files_of_other_programs_are_not_changed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACWIRE_LAB_DIR", str(tmp_path))
        for command in (up, down, find):
            with pytest.raises(LabError, match="not a practice cluster's"):
                command()
        patch.setenv("RACWIRE_LAB_DIR", "/proc/lab")
        with pytest.raises(LabError, match="Could not make"):
            up()
    assert (tmp_path / "precious").read_text() == "x"


def test_a_fault_that_cannot_be_stored_is_not_made(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab") as directory:
        cluster = up(database=False)
        (directory / "state.json.new").symlink_to("/dev/full")
        with pytest.raises(LabError, match="No space is left for the practice cluster"):
            cluster.break_("switch-mtu")
        assert_healthy(cluster)
        (directory / "state.json.new").unlink()
        found = find()
        assert found
        assert found.faults == ()


@pytest.mark.beyond_sample
def test_two_labs_and_many_commands_at_once(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "other"):
        up()
        with lab_directory(tmp_path / "lab"), concurrent.futures.ThreadPoolExecutor() as pool:
            labs = list(pool.map(lambda _: up(), range(4)))
            assert len({lab.state.init for lab in labs}) == 1
            list(pool.map(lambda fault: labs[0].break_(fault), ["loss", "routed", "switch-mtu", "node-mtu"]))
            running = find()
            assert running is not None
            assert len(running.faults) == 4
            running.mend()
            assert_healthy(running)


class TestEntering:
    @pytest.fixture(scope="class")
    @staticmethod
    def cluster(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
        with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
            yield up(database=False)

    def test_exit_code_stdin_directory_and_environment(self, cluster: Lab, tmp_path: Path) -> None:
        done = subprocess.run(
            cluster.enter("rac1", ["sh", "-c", "cat; pwd; echo $GRID_HOME; exit 42"]),
            input="in\n",
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, **cluster.environment("1")},
        )
        assert done.stdout == f"in\n{tmp_path}\n{cluster.directory}/nodes/rac1/grid\n"
        assert done.returncode == 42
        assert run(cluster, "rac1", "sh", "-c", "kill -9 $$").returncode == -signal.SIGKILL
        assert run(cluster, "rac1", "no-such-command").returncode == 127

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
    def test_the_command_ends_with_the_entering_process(self, cluster: Lab, number: signal.Signals) -> None:
        mark = f"3{number:03d}.{os.getpid()}"
        with subprocess.Popen(cluster.enter("rac1", ["sleep", mark])) as process:
            until(lambda: f"sleep {mark} " in processes_of(Path(mark)), "the command does not start")
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == -number
        until(lambda: processes_of(Path(mark)) == [], "the command outlives what entered")

    def test_the_caller_may_handle_an_interrupt(self, cluster: Lab) -> None:
        script = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"
        process = subprocess.Popen(
            cluster.enter("rac1", ["sh", "-c", script]), stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        with process.stdout:
            assert process.stdout.read() == "caught\n"
        assert process.wait(PATIENCE_S) == 5

    def test_a_node_that_does_not_exist(self, cluster: Lab) -> None:
        with pytest.raises(LabError, match="There is no node 'rac3'"):
            cluster.enter("rac3", ["true"])


@pytest.mark.beyond_sample
@pytest.mark.skipif(os.getuid() != 0, reason="ORDINARY USERS WERE NOT TESTED: only root can become one")
def test_rootless(tmp_path_factory: pytest.TempPathFactory) -> None:
    other_uid = 65534
    # A copy, and the system's Python: the user may not be able to read ours.
    python = "/usr/bin/python3"
    probe = "import sys; sys.exit(sys.version_info < (3, 11))"
    if not os.access(python, os.X_OK) or subprocess.run([python, "-c", probe], check=False).returncode:
        pytest.skip("ORDINARY USERS WERE NOT TESTED: there is no /usr/bin/python3 of 3.11 or later")
    # What the database needs is found where this Python has it, when the two are of one version.
    same = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    ours = ".".join(map(str, sys.version_info[:2]))
    installed = [sysconfig.get_path("purelib")] if same.startswith(f"{ours}.") else []
    source = Path("/tmp") / f"racwire-rootless-{os.getpid()}"  # pytest's own directory is closed to other users
    try:
        shutil.copytree(
            Path(racwire_lab.__file__).parent, source / "racwire_lab", ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in (source, *source.rglob("*")):
            os.chown(path, other_uid, other_uid)
        script = """
import subprocess, sys
import racwire_lab as lab
from racwire_lab.cluster.far_end import why_not
try:
    cluster = lab.up(rate="1g", hypervisor=["rac2"])
    for fault in lab.FAULTS.values():
        if fault.needs_fragments or fault.needs_users or fault.needs_storage or why_not(fault.name):
            continue
        if cluster.database or not fault.needs_database:
            cluster.break_(fault.name)
    cluster.mend()
    cluster.reboot("rac2")
    if access := cluster.database:
        password = access.password_file.read_text().strip()
        ask = (
            "import oracledb, sys; session = oracledb.connect(user='RACWIRE', password=input(), dsn=sys.argv[1]); "
            "print(session.cursor().execute('SELECT COUNT(*) AS n FROM gv$instance').fetchone()[0])"
        )
        command = cluster.enter("rac1", [sys.executable, "-c", ask, access.connect])
        subprocess.run(command, input=password, text=True, check=True)
    else:
        print("no database")
    remote = f"ssh -F {cluster.directory}/ssh_config" if cluster.remote_shell == "ssh" else f"{cluster.directory}/rsh"
    there = "uname -n; id -u; ping -c1 10.20.0.1 >&2"
    work = f"ping -c1 -W1 -Mdo -s8972 192.168.11.2 >&2 && id -u && {remote} rac2 '{there}'"
    subprocess.run(cluster.enter("rac1", ["sh", "-c", work]), check=True)
    print(cluster.remote_shell)
finally:
    print(lab.down())
"""
        done = subprocess.run(
            [python, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            cwd=source,
            user=other_uid,
            group=other_uid,
            extra_groups=[],
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                "RACWIRE_LAB_DIR": f"{source}/lab",
                "PYTHONPATH": os.pathsep.join([str(source), *installed]),
            },
        )
        if "let ordinary users make namespaces" in done.stderr:
            pytest.skip(f"ORDINARY USERS WERE NOT TESTED: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        database, *output = done.stdout.splitlines()
        assert database == "2" or (not installed and database == "no database")
        assert output[:2] == ["0", "rac2"]
        assert output[-1] == "True"
        if ssh_configuration.find_sshd():
            assert output[2:4] == [str(other_uid), "ssh"]
        assert not (source / "lab").exists()
    finally:
        shutil.rmtree(source)
