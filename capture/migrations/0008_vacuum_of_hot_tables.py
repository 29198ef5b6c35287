"""What changes often is vacuumed often: by itself PostgreSQL waits until a fifth of a table is dead.

A lane's row is written at every claim, and none of its columns is indexed: with room in its page, it is written
there and no index is touched (HOT). Every move of a job or the end of an attempt changes a column that an index is
about, so that room would help them nothing.
"""

from django.db import migrations

OFTEN = {"autovacuum_vacuum_scale_factor": "0.01", "autovacuum_vacuum_threshold": "1000",
         "autovacuum_analyze_scale_factor": "0.02"}
SMALL = {"autovacuum_vacuum_scale_factor": "0", "autovacuum_vacuum_threshold": "200"}

SETTINGS = {
    "capture_capturejob": OFTEN,
    "capture_attempt": OFTEN,
    "capture_lane": {**SMALL, "fillfactor": "10"},
    "capture_worker": SMALL,
}


def _set(table, settings):
    return f"ALTER TABLE {table} SET ({', '.join(f'{name} = {value}' for name, value in settings.items())})"


class Migration(migrations.Migration):
    dependencies = [("capture", "0007_schedule_due_unless_off")]

    operations = [
        migrations.RunSQL(_set(table, settings), f"ALTER TABLE {table} RESET ({', '.join(settings)})")
        for table, settings in SETTINGS.items()
    ]
