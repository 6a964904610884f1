"""A SCAN listener: it serves no session itself, and redirects clients to the listeners of the instances in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from racwire_lab.oracle_net.connecting import ConnectRequest, redirect, refuse
from racwire_lab.oracle_net.listener import Listener
from racwire_lab.oracle_net.packets import Channel
from racwire_lab.oracle_net.services import NO_NAME, UNKNOWN_SERVICE, UNKNOWN_SID


class ScanListener(Listener):
    """Queries the listeners that serve a client's service; when there are none, it refuses the service (12514)."""

    def __init__(
        self,
        targets: Callable[[str], Sequence[tuple[str, int]]],
        *,
        logon_timeout_s: float = 60.0,
    ) -> None:
        super().__init__(logon_timeout_s=logon_timeout_s)
        self._targets = targets
        self._turn = itertools.count()

    async def serve(self, channel: Channel, request: ConnectRequest) -> None:
        """Redirect the client, or refuse it."""
        targets = self._targets(request.service) if request.service else ()
        if self.faults.refuse or not targets:
            unknown = UNKNOWN_SERVICE if request.service else UNKNOWN_SID if request.sid else NO_NAME
            refuse(channel, self.faults.refuse or unknown)
            return
        redirect(channel, request, *targets[next(self._turn) % len(targets)])
