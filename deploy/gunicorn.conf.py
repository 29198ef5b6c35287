"""How gunicorn serves the pages: `gunicorn --config deploy/gunicorn.conf.py aicontrol.wsgi`."""

from pathlib import Path

from aicontrol import environment, logs

environment.read_dotenv(Path(__file__).parent.parent)

# Without systemd's socket it listens on the loopback address.
bind = "127.0.0.1:8000"
workers = environment.whole("WEB_PROCESSES", 3, 1, 64)
threads = environment.whole("WEB_THREADS", 4, 1, 64)
# A process that has hung for so long is replaced; a request that takes longer is not one of ours.
timeout = 60
graceful_timeout = 30
# Processes are renewed now and then, not all at once.
max_requests = 20_000
max_requests_jitter = 2_000
# The heartbeat of processes is a file; it need not be on a disk.
worker_tmp_dir = "/dev/shm"  # noqa: S108  gunicorn makes a file of its own there
control_socket_disable = True
# By itself gunicorn takes a header SCRIPT_NAME for the proxy's word, and fails where the address begins otherwise.
# Our proxy sends none, so whoever does is a client; as all headers with an underscore it is dropped.
forwarder_headers = ""

logconfig_dict = logs.configuration(
    environment.choice("LOG_FORMAT", "PLAIN", logs.FORMATS), environment.choice("LOG_LEVEL", "INFO", logs.LEVELS)
)
