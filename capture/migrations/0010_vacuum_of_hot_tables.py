"""What changes often is vacuumed often: by itself PostgreSQL waits until a fifth of a table is dead.

No fillfactor: a job's every move changes its status, which partial indexes are about, so that none of 2,500 updates was
HOT at a fillfactor of 100, 70 or 10; lanes have room as they are (49 of 49), and so have attempts when their id is
noted (497 of 500).
"""

from django.db import migrations

OFTEN = {"autovacuum_vacuum_scale_factor": "0.01", "autovacuum_vacuum_threshold": "1000",
         "autovacuum_analyze_scale_factor": "0.02"}
SMALL = {"autovacuum_vacuum_scale_factor": "0", "autovacuum_vacuum_threshold": "200"}

SETTINGS = {
    "capture_capturejob": OFTEN,
    "capture_attempt": OFTEN,
    "capture_lane": SMALL,
    "capture_worker": SMALL,
}


def _set(table, settings):
    return f"ALTER TABLE {table} SET ({', '.join(f'{name} = {value}' for name, value in settings.items())})"


class Migration(migrations.Migration):
    dependencies = [("capture", "0009_schedule_due_unless_off")]

    operations = [
        migrations.RunSQL(_set(table, settings), f"ALTER TABLE {table} RESET ({', '.join(settings)})")
        for table, settings in SETTINGS.items()
    ]
