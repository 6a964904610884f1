"""The logon of a client: the two sides negotiate their capabilities, and the user proves the password."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from racwire_lab.database.backend import Caller, OracleError
from racwire_lab.oracle_net import logon_messages as messages
from racwire_lab.oracle_net.connecting import ConnectRequest
from racwire_lab.oracle_net.conversation import BrokenOffError, Conversation
from racwire_lab.oracle_net.listener import hang
from racwire_lab.oracle_net.logon_messages import AuthRequest, DataTypesRequest, FastRequest, ProtocolRequest
from racwire_lab.oracle_net.replies import Replies
from racwire_lab.oracle_net.verifier import Challenge, Verifier
from racwire_lab.oracle_net.wire import ProtocolError, Writer

if TYPE_CHECKING:
    from racwire_lab.oracle_net.server import OracleServer

_ATTRIBUTES = {
    "AUTH_MACHINE": "machine",
    "AUTH_SID": "os_user",
    "AUTH_TERMINAL": "terminal",
    "AUTH_PID": "process",
}
_WRONG = OracleError(1017, "invalid username/password; logon denied")
_HIGHEST = 24


@dataclass(frozen=True)
class LoggedOn:
    """A finished logon: the user, the negotiated protocol, and the answer that is still to be sent."""

    caller: Caller
    replies: Replies
    welcome: Writer


class Logon:
    """The logon of one session."""

    def __init__(
        self,
        server: OracleServer,
        conversation: Conversation,
        number: int,
        request: ConnectRequest,
        *,
        marks_ends: bool,
    ) -> None:
        self._server = server
        self._conversation = conversation
        self._number = number
        self._request = request
        self._marks_ends = marks_ends
        self._profile = server.profile
        self._replies = Replies(_HIGHEST)

    async def run(self) -> LoggedOn | None:
        """Log the client on. Return None when the logon was refused.

        Raises ProtocolError, and the errors of `Conversation.read`.
        """
        if self._server.faults.closes_at_login:
            await self._conversation.channel.receive()
            self._conversation.channel.abort()
            raise ConnectionResetError
        prologue, request = await self._agree()
        if self._server.faults.hang_at_login:
            await hang(self._conversation.channel)
        user = request.user.strip('"').upper()
        try:
            verifier = self._server.verifier(user)
        except OracleError as error:
            await self._fail(error, prologue)
            return None
        challenge = Challenge(verifier or Verifier.unmatchable())
        await self._conversation.respond(self._with_pairs(prologue, self._offered(challenge)))
        answer = await self._read()
        if not isinstance(answer, AuthRequest) or not answer.is_answer:
            raise ProtocolError("another message instead of the password")
        self._replies.sequence += 1
        parts = (answer.pairs.get("AUTH_SESSKEY", ""), answer.pairs.get("AUTH_PASSWORD", ""))
        proof = await asyncio.to_thread(challenge.answer, *parts)
        if objection := self._objection(user, answer, proof):
            await self._fail(objection)
            return None
        caller = self._caller(user, answer, {**request.pairs, **answer.pairs})
        welcome = Writer()
        if warning := self._server.faults.login_warning:
            self._replies.warning(welcome, warning)
        return LoggedOn(caller, self._replies, self._with_pairs(welcome, self._welcome(caller, proof or "")))

    def _offered(self, challenge: Challenge) -> list[tuple[str, str, int]]:
        """The pairs of the challenge, with another type of verifier where a fault says so."""
        type_ = self._server.faults.verifier_type
        if type_ is None:
            return challenge.pairs()
        return [(key, value, type_ if key == "AUTH_VFR_DATA" else flag) for key, value, flag in challenge.pairs()]

    async def _agree(self) -> tuple[Writer, AuthRequest]:
        """Answer the requests before the one for a session. Return the start of its answer, and that request."""
        while True:
            match await self._read():
                case ProtocolRequest():
                    await self._conversation.respond(Writer().raw(messages.protocol_answer(self._profile)))
                case DataTypesRequest() as request:
                    await self._conversation.respond(Writer().raw(messages.data_types_answer()))
                    self._settle(request)
                case FastRequest(data_types, auth):
                    self._settle(data_types)
                    prologue = messages.protocol_answer(self._profile) + messages.data_types_answer()
                    return Writer().raw(prologue), auth
                case AuthRequest(is_answer=False) as auth:
                    return Writer(), auth
                case AuthRequest():
                    raise ProtocolError("a password before a challenge")

    async def _read(self) -> messages.LogonRequest:
        version = self._replies.field_version
        try:
            return await self._conversation.read(lambda reader: messages.read_request(reader, version))
        except BrokenOffError:
            raise ProtocolError("a break before the logon") from None

    def _settle(self, request: DataTypesRequest) -> None:
        self._replies.field_version = messages.agreed_field_version(request, self._profile)
        self._conversation.marks_ends = self._marks_ends

    def _with_pairs(self, writer: Writer, pairs: list[tuple[str, str, int]]) -> Writer:
        writer.raw(messages.parameters(pairs))
        self._replies.summary(writer)
        return writer

    async def _fail(self, error: OracleError, writer: Writer | None = None) -> None:
        writer = writer or Writer()
        self._replies.summary(writer, error)
        await self._conversation.respond(writer)

    def _objection(self, user: str, answer: AuthRequest, proof: str | None) -> OracleError | None:
        """The error that refuses the user; None to accept."""
        if proof is None:
            return _WRONG
        if answer.as_sysdba and user not in self._server.sysdba:
            return OracleError(1031, "insufficient privileges")
        if user == "SYS" and not answer.as_sysdba:
            return OracleError(28009, "connection as SYS should be as SYSDBA or SYSOPER")
        return self._server.faults.login_error

    def _caller(self, user: str, answer: AuthRequest, pairs: dict[str, str]) -> Caller:
        caller = Caller(user, self._number, self._number * 7 + 1, is_sysdba=answer.as_sysdba)
        caller.program = pairs.get("AUTH_PROGRAM_NM", "")
        caller.module = caller.program
        caller.extra = {name: pairs[key] for key, name in _ATTRIBUTES.items() if key in pairs}
        caller.extra["service"] = self._request.service or self._server.instance_name
        return caller

    def _welcome(self, caller: Caller, proof: str) -> list[tuple[str, str, int]]:
        server = self._server
        values = {
            "AUTH_VERSION_STRING": "- Production",
            "AUTH_VERSION_NO": str(self._profile.version_number),
            "AUTH_SESSION_ID": str(caller.session_id),
            "AUTH_SERIAL_NUM": str(caller.serial),
            "AUTH_INSTANCE_NO": str(server.instance_number),
            "AUTH_SC_DB_DOMAIN": server.db_domain,
            "AUTH_SC_DBUNIQUE_NAME": server.db_unique_name,
            "AUTH_SC_REAL_DBUNIQUE_NAME": server.db_unique_name,
            "AUTH_SC_SERVICE_NAME": caller.extra["service"],
            "AUTH_SC_INSTANCE_NAME": server.instance_name,
            "AUTH_INSTANCENAME": server.instance_name,
            "AUTH_MAX_OPEN_CURSORS": str(server.max_open_cursors),
            "AUTH_MAX_IDEN_LENGTH": "128" if self._profile.field_version >= 8 else "30",
            "AUTH_SVR_RESPONSE": proof,
        }
        return [(key, value, 0) for key, value in values.items()]
