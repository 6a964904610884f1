"""A SCAN listener: it serves no session itself, and redirects clients to the listeners of the instances in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence

from racwire_lab.oracle_net.connecting import ConnectRequest, redirect, refuse
from racwire_lab.oracle_net.listener import Listener
from racwire_lab.oracle_net.packets import Channel
from racwire_lab.oracle_net.services import refusal


class ScanListener(Listener):
    """Queries the available listeners for each client; when there are none, it refuses the service (12514)."""

    def __init__(
        self,
        targets: Callable[[], Sequence[tuple[str, int]]],
        *,
        services: Collection[str],
        logon_timeout_s: float = 60.0,
    ) -> None:
        super().__init__(logon_timeout_s=logon_timeout_s)
        self.services = services
        self._targets = targets
        self._turn = itertools.count()

    async def serve(self, channel: Channel, request: ConnectRequest) -> None:
        """Redirect the client, or refuse it."""
        code = self.faults.refuse or refusal(request, self.services)
        targets = self._targets()
        if code or not targets:
            refuse(channel, code or 12514)
            return
        redirect(channel, request, *targets[next(self._turn) % len(targets)])
