"""Receipts as rows, and back; as `rows` does with all that is a company's own business."""

from __future__ import annotations

from awareness_core.receipts import Receipt, Stage
from awareness_sql.rows import Row, RowValues, milliseconds_from, moment_from
from awareness_sql.tables import receipts

RECEIPT_COLUMNS = (
    receipts.c.id,
    receipts.c.fingerprint,
    receipts.c.holder,
    receipts.c.stage,
    receipts.c.lease_until,
    receipts.c.expires_at,
)


def receipt_row(receipt: Receipt) -> RowValues:
    """All columns of `receipts` but the company's."""
    return {
        "id": receipt.id,
        "fingerprint": receipt.fingerprint,
        "holder": receipt.holder,
        "stage": receipt.stage.value,
        "lease_until": milliseconds_from(receipt.lease_until),
        "expires_at": milliseconds_from(receipt.expires_at),
    }


def receipt_from_row(row: Row) -> Receipt:
    """The value of a row of `RECEIPT_COLUMNS`."""
    receipt_id, fingerprint, holder, stage, lease_until, expires_at = row
    return Receipt(
        id=receipt_id,
        fingerprint=fingerprint,
        holder=holder,
        stage=Stage(stage),
        lease_until=moment_from(lease_until),
        expires_at=moment_from(expires_at),
    )
