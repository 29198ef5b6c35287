"""A gist goes with its capture whoever deletes that, the previous release's pages included, which know of no gists.

Beside Django's own constraint, which is looked at when a transaction ends, and then has nothing to complain of.
"""

from django.db import migrations

GO_ALONG = """
ALTER TABLE capture_gist ADD CONSTRAINT gist_goes_with_capture
    FOREIGN KEY (capture_id) REFERENCES capture_capture (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):
    dependencies = [("capture", "0015_staff_actions")]  # noqa: RUF012  Django's way

    operations = [  # noqa: RUF012
        migrations.RunSQL(GO_ALONG, "ALTER TABLE capture_gist DROP CONSTRAINT gist_goes_with_capture"),
    ]
