"""Connections for samples of instances."""

from checks.model.settings import TrafficSettings

SETTINGS = TrafficSettings(database_timeout_s=5)


class Failing:
    """Connections that fail some times before one is made."""

    def __init__(self, failures, connection):
        self.failures, self.connection, self.forgotten, self.wanted = list(failures), connection, [], []

    async def get(self, purpose):
        self.wanted.append(purpose)
        if self.failures:
            raise self.failures.pop(0)
        return self.connection

    async def forget(self, purpose):
        self.forgotten.append(purpose)

    async def close(self):
        pass
