"""What bounds a session when its client does not: a host that is cut off, a process that is frozen.

By role, since a setting of a session does not pass a connection pooler in transaction mode, and a SET LOCAL ends with
its transaction. Sessions that begin from now on have them, those of a pooler too.
"""

from django.db import migrations

TIMEOUTS = {
    "idle_in_transaction_session_timeout": "60s",  # a claim, which holds up a lane, sets a shorter one itself
    "lock_timeout": "60s",
    "statement_timeout": "10min",
    "client_connection_check_interval": "5s",  # what nobody waits for any more is not worked on
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}


def _alter(change: str) -> str:
    return f"EXECUTE format('ALTER ROLE %I IN DATABASE %I {change}', current_user, current_database());"


def _block(changes: list[str]) -> str:
    return f"DO $$ BEGIN {' '.join(map(_alter, changes))} END $$"


class Migration(migrations.Migration):
    dependencies = [("capture", "0006_mentions")]

    operations = [
        migrations.RunSQL(
            _block([f"SET {name} = ''{value}''" for name, value in TIMEOUTS.items()]),
            _block([f"RESET {name}" for name in TIMEOUTS]),
        )
    ]
