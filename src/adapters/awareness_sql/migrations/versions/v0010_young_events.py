"""What PostgreSQL is told of the events of campaigns before it has looked into them by itself.

All of their indexes begin with the company and the campaign. While the planner knows nothing of a column it takes it
that there are 200 values, so that a campaign of a company would be a row at most, and each index as good as another: a
first import would read all that it has written before for each event. So for a moment here are a few events to look
into: of one company and two campaigns, each with an address, a place and a key of its own.
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_STEPS = """
SELECT set_config('app.operator', 'on', true), set_config('app.tenant', 'nobody', true);
INSERT INTO companies (id, name, name_key, language, sso_domains, invitation_lifetime, created_at)
VALUES ('nobody', 'nobody', 'nobody (0010)', 'fr', '', 1, 0);
INSERT INTO campaigns (company_id, id, name, state, created_at, listed_at, total, sent, opened, clicked, submitted,
                       reported, errors, machine)
SELECT 'nobody', n, n, 'completed', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(0, 1) AS n;
INSERT INTO campaign_events (company_id, campaign_id, key, email_key, step, at, place, signs)
SELECT 'nobody', n % 2, n, n, 'sent', n, n, 0 FROM generate_series(1, 40) AS n;
ANALYZE campaign_events;
DELETE FROM campaign_events WHERE company_id = 'nobody';
DELETE FROM campaigns WHERE company_id = 'nobody';
DELETE FROM companies WHERE id = 'nobody';
SELECT set_config('app.operator', '', true), set_config('app.tenant', '', true)
"""


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for step in _STEPS.split(";"):
            op.execute(step)
