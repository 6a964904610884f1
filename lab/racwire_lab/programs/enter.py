"""Run a command in the namespaces of a node: `python enter.py PID STARTED IDS COMMAND…`.

IDS are the numbers of the user and its groups, `54331:54321:54327`; `-` leaves them as they are.

`nsenter` does nearly the same, but is a process between the caller and the command: when it is killed, the command
continues, and Ctrl-C ends it before the command can react. With this program the caller has one process: signals,
stops, exit codes and death by a signal pass through, and the command ends with this process at the latest.

The program needs only the standard library, starts in a few milliseconds, and imports nothing of racwire.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_NAMESPACES = ("user", "mnt", "uts", "net", "pid")
_PR_SET_PDEATHSIG = 1
_FORWARDED = {signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
_FROM_TERMINAL = {signal.SIGINT, signal.SIGQUIT}
_FROM_BACKGROUND = {signal.SIGTTIN, signal.SIGTTOU}
"""What the kernel sends to a group that uses the terminal from the background."""
_PASSWORD = b"RACWIRE_DB_PASSWORD"
_GONE, _NOT_FOUND, _NOT_EXECUTABLE = 125, 127, 126

_libc = ctypes.CDLL(None, use_errno=True)


def main(argv: Sequence[str]) -> int:
    """Enter the node, run the command, and end as the command ended."""
    pid, started, ids, *command = argv
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED | _FROM_TERMINAL | {signal.SIGCHLD})
    try:
        _enter(int(pid), int(started))
    except OSError as error:
        print(
            f"racwire: could not enter the practice node ({error.strerror}): see `racwire lab status`.", file=sys.stderr
        )
        return _GONE
    child = os.fork()
    if child == 0:
        _exec(command, ids, mask)
    return _stand_by(child)


def continue_inside(pid: int, started: int) -> None:
    """Continue the calling program in the namespaces of that process, as the same user.

    Only a child can enter a PID namespace, so this function returns in a new process. The calling process waits for it,
    passes signals on to it, and ends as it ends, as with `main`. The program must not have started a thread. Raises
    OSError where the process has ended.
    """
    signals = _FORWARDED | _FROM_TERMINAL | {signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        _enter(pid, started)
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise
    child = os.fork()
    if child == 0:
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return
    os._exit(_stand_by(child))


def _stand_by(child: int) -> int:
    """Wait for the command on behalf of the caller, and return its exit code."""
    _forget_password()
    # This process learns of a stop of the whole group from the command: stopped itself, it would take a command that
    # has already continued for one that has just stopped.
    for number in (signal.SIGTSTP, *_FROM_BACKGROUND):
        signal.signal(number, signal.SIG_IGN)
    return _wait_for(child)


def _enter(pid: int, started: int) -> None:
    """Join the namespaces of a process, in an order in which each permits to join the next."""
    handles = [os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY) for name in _NAMESPACES if not _shared(pid, name)]
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        if int(stat.read().rpartition(")")[2].split()[19]) != started:
            raise ProcessLookupError(0, "the process has ended")
    here = os.getcwd()
    for handle in handles:
        if _libc.setns(handle, 0):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        os.close(handle)
    # Joining a mount namespace changes the current directory to its root.
    with contextlib.suppress(OSError):
        os.chdir(os.environ.get("HOME", "/"))
    with contextlib.suppress(OSError):
        os.chdir(here)


def _shared(pid: int, name: str) -> bool:
    """Whether this process is in the namespace already; joining one's own user namespace is an error."""
    return os.stat(f"/proc/{pid}/ns/{name}").st_ino == os.stat(f"/proc/self/ns/{name}").st_ino


def _become(ids: str) -> None:
    """Become the user, and leave a directory that this user may not use for the user's home."""
    if ids == "-":
        return
    uid, group, *groups = map(int, ids.split(":"))
    os.setgroups([group, *groups])
    os.setresgid(group, group, group)
    os.setresuid(uid, uid, uid)
    if not os.access(".", os.R_OK | os.X_OK):
        os.chdir(os.environ.get("HOME", "/"))


def _exec(command: list[str], ids: str, mask: set[int | signal.Signals]) -> None:
    try:
        # Before prctl: a change of the user clears the signal.
        _become(ids)
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            # Python sets handlers for these signals at its start; the command must get the handlers of the caller.
            if signal.getsignal(number) is not signal.SIG_IGN or number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"racwire: the practice node has no command '{command[0]}'.", file=sys.stderr)
        os._exit(_NOT_FOUND)
    except OSError as error:
        print(f"racwire: could not run '{command[0]}' in the practice node: {error.strerror}.", file=sys.stderr)
        os._exit(_NOT_EXECUTABLE)


def _forget_password() -> None:
    """Blank the password in this process's environment: the kernel shows it in /proc/PID/environ while this process
    waits."""
    _libc.getenv.restype = ctypes.c_void_p
    if place := _libc.getenv(_PASSWORD):
        ctypes.memset(place, ord("*"), len(ctypes.string_at(place)))


def _wait_for(child: int) -> int:
    """Pass signals on until the command ends. Return its exit code, or die by the same signal."""
    while True:
        info = signal.sigwaitinfo(_FORWARDED | _FROM_TERMINAL | {signal.SIGCHLD})
        if info.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            if not ended:
                continue
            if os.WIFSTOPPED(status) and os.WSTOPSIG(status) in _FROM_BACKGROUND and _took_terminal():
                os.kill(0, signal.SIGCONT)
                continue
            if os.WIFSTOPPED(status):
                # Ctrl-Z: stop this process as well, so that the caller's shell gets the terminal; both continue
                # together.
                os.kill(os.getpid(), signal.SIGSTOP)
                os.kill(child, signal.SIGCONT)
                continue
            return _as_it_ended(status)
        # Ctrl-C on the terminal reaches the command directly; only signals to this process alone are passed on.
        if info.si_signo in _FORWARDED or info.si_code <= 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, info.si_signo)


def _took_terminal() -> bool:
    """Make this process group the foreground of the terminal, if the foreground has ended.

    A shell that the command started leaves it so: within the node no process can name the group of the command."""
    try:
        os.killpg(os.tcgetpgrp(0), 0)
    except ProcessLookupError:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(0, os.getpgrp())
            return True
    except OSError:
        pass
    return False


def _as_it_ended(status: int) -> int:
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 + number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
