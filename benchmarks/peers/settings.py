"""Django settings of the peers' project: BENCH_PEER says which queue, BENCH_DATABASE and BENCH_REDIS where."""

import os
from urllib.parse import unquote, urlsplit

from benchmarks.peers import PEERS

_database = urlsplit(os.environ["BENCH_DATABASE"])

SECRET_KEY = "of a benchmark"
DEBUG = False
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = PEERS[os.environ["BENCH_PEER"]].apps
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _database.path[1:],
        "USER": unquote(_database.username or ""),
        "PASSWORD": unquote(_database.password or ""),
        "HOST": unquote(_database.netloc.rpartition("@")[2].partition(":")[0]),
        "PORT": _database.port or "",
        "CONN_MAX_AGE": None,  # kept for good, and not asked whether it is well: what is fastest
    }
}

PROCRASTINATE_IMPORT_PATHS = ["benchmarks.peers.by_procrastinate"]

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

# Successes are kept, as the others keep them; with the default of 250 each one would first delete the oldest.
Q_CLUSTER = {"name": "peers", "workers": 8, "timeout": 60, "retry": 120, "save_limit": 0, "orm": "default"}

CELERY_BROKER_URL = f"redis+socket://{os.environ.get('BENCH_REDIS', '')}"
CELERY_TASK_DEFAULT_QUEUE = os.environ["BENCH_PEER"]  # both ways of using it share one Redis
CELERY_WORKER_PREFETCH_MULTIPLIER = 64  # as its guide to optimizing says of many short tasks
CELERY_TASK_IGNORE_RESULT = os.environ["BENCH_PEER"] == "celery"
CELERY_RESULT_BACKEND = None if CELERY_TASK_IGNORE_RESULT else "django-db"
