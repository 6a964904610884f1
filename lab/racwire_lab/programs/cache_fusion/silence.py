"""Instances that receive nothing from another one, and what their alert log says about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Silence:
    """The time since the last message of each other instance."""

    def __init__(self) -> None:
        self._heard: dict[int, float] = {}
        self._peers: frozenset[int] = frozenset()
        self._incarnation = 2

    def heard(self, peer: int, now: float) -> None:
        """Record a message of an instance."""
        if peer in self._heard:
            self._heard[peer] = now

    def turn(self, peers: Iterable[int], host: str, timeout_s: float, now: float) -> Iterator[list[str]]:
        """Yield each message for the alert log: IPC send timeouts, and reconfigurations when instances come or go."""
        known = frozenset(peers)
        if known != self._peers:
            self._incarnation += 2
            old, self._peers = self._incarnation - 2, known
            self._heard = {peer: self._heard.get(peer, now) for peer in known}
            yield [f"Reconfiguration started (old inc {old}, new inc {self._incarnation})"]
            yield ["Reconfiguration complete (total time 0.1 secs)"]
        for peer, at in self._heard.items():
            if now - at >= timeout_s:
                self._heard[peer] = now
                yield [
                    f"IPC Send timeout detected. Sender: ospid 4812 [oracle@{host} (LMS0)]",
                    f"Receiver: inst {peer} binc 430 ospid 4846",
                ]
                yield [f"IPC Send timeout to {peer - 1}.1 inc {self._incarnation} for msg type 65521 from opid 13"]
                yield [f"Communications reconfiguration: instance_number {peer} by ospid 4812"]
