"""The capture app: connects what has to happen at start-up, and runs no query itself."""

from django.apps import AppConfig


class CaptureConfig(AppConfig):
    name = "capture"

    def ready(self) -> None:
        """Connect system checks and the making of lanes.

        Django calls this for `migrate`, `test`, `shell` and twice under the autoreloader, before all else is ready.
        """
        from django.db.models.signals import post_migrate

        from capture import lanes, recovery, schedules, staff_actions, system_checks, worker  # noqa: F401  registers the checks

        post_migrate.connect(lanes.make_missing, sender=self)
        # Recovery is nobody's business but a worker's: here it is only connected.
        worker.about_to_serve.connect(recovery.before_serving)
        worker.upkeep.connect(schedules.at_upkeep)
        worker.upkeep.connect(staff_actions.at_upkeep)
