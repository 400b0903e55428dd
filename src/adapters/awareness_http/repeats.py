"""Answers a request that carries an `Idempotency-Key`: carried out once, and answered alike however often it is sent.

Stands between the gateway and the routes, none of which knows of it. An answer leaves only when it is committed with
what it speaks of. What is refused is not kept (Choice: decisions/021).
"""

from __future__ import annotations

from typing import Final

import attrs
from litestar.types import ASGIApp, Receive, Scope, Send

from awareness_core.receipts import ReceiptId
from awareness_core.use_cases.once import AnsweredBefore, kept_answer, once
from awareness_http.calls import Call, put_call
from awareness_http.errors import HeaderPairs
from awareness_http.idempotency import FingerprintedBody
from awareness_http.kept_answers import AnswerSpool

_REPLAYED: Final[HeaderPairs] = ((b"idempotency-replayed", b"true"),)


@attrs.frozen
class Repeatable:
    """One such request: its name within its company, and its body as it arrives."""

    receipt_id: ReceiptId
    body: FingerprintedBody

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, call: Call) -> None:
        """Let `app` answer, or answer as before. `receive` is the guard in front of `body`.

        Raises what the route raises, and what `receipts.is_answered` refuses.
        """
        try:
            with AnswerSpool() as answer:
                await self._carry_out(app, scope, receive, answer, call)
                await answer.send(send)
        except AnsweredBefore:
            with AnswerSpool() as earlier:
                await earlier.fill(kept_answer(call.ports, call.company_id, self.receipt_id))
                await earlier.send(send, headers=_REPLAYED)

    async def _carry_out(
        self, app: ASGIApp, scope: Scope, receive: Receive, answer: AnswerSpool, call: Call
    ) -> None:
        async with once(
            call.ports, call.company_id, self.receipt_id, lambda: self.body.fingerprint(receive)
        ) as run:
            put_call(scope, attrs.evolve(call, ports=run.ports))
            await app(scope, receive, answer.keep)
            if answer.is_success:
                await run.settle(answer)
