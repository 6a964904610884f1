"""Cuts of one cable of the practice cluster, at the switch: when it was cut and mended, exactly."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass

import racwire_lab
from racwire_lab.cluster.processes import into

_TABLE = "racwire_cut"


@dataclass(frozen=True)
class Cut:
    """One cut. The interruption lasted at least from `cut_s` to `mend_s`, and at most from `before_s` to `after_s`.

    Seconds since 1970.
    """

    before_s: float
    cut_s: float
    mend_s: float
    after_s: float

    @property
    def least_s(self) -> float:
        """The shortest that the interruption can have been."""
        return self.mend_s - self.cut_s

    @property
    def most_s(self) -> float:
        """The longest that it can have been."""
        return self.after_s - self.before_s


class SwitchPort:
    """The switch's end of a cable, such as that of eth2 of rac2."""

    def __init__(self, cluster: racwire_lab.Lab, node: str, interface: str) -> None:
        state = cluster.state
        self._port = f"{node}-{interface}"
        self._inside = into(state.init, "net", rootless=state.rootless)

    def dropping(self, seconds: float) -> Cut:
        """The switch drops what comes from and goes to the port; the links stay up."""
        rules = "".join(f'add rule bridge {_TABLE} c {end} "{self._port}" drop; ' for end in ("iifname", "oifname"))
        chain = f"add table bridge {_TABLE}; add chain bridge {_TABLE} c {{ type filter hook forward priority -10; }}; "
        return self._cut(["nft", chain + rules], ["nft", f"delete table bridge {_TABLE}"], seconds)

    def down(self, seconds: float) -> Cut:
        """The switch's port is down, so that the NIC has no carrier: a cable that is pulled."""
        return self._cut(["ip", "link", "set", self._port, "down"], ["ip", "link", "set", self._port, "up"], seconds)

    def _cut(self, cut: list[str], mend: list[str], seconds: float) -> Cut:
        before_s = time.time()
        self._run(cut)
        try:
            cut_s = time.time()
            time.sleep(max(0.0, seconds - (cut_s - before_s) / 2))  # as long as was asked, as nearly as it can be
            mend_s = time.time()
        finally:
            self._run(mend)
        return Cut(before_s, cut_s, mend_s, time.time())

    def _run(self, command: list[str]) -> None:
        subprocess.run([*self._inside, *command], check=True, capture_output=True, timeout=20)
