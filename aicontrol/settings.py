"""Django settings: one file, and everything that differs between installations comes from the environment.

Variables are read, the first that has one wins, from the environment, from ``.env`` in the checkout, and, while the
embedded database is used, from what a running bin/demo has left in the data folder (where its simulator is). Any of
them can come from a file instead: ``SECRET_KEY_FILE=/run/secrets/key`` is ``SECRET_KEY``, and so are the credentials of
a systemd unit. ``.env.example`` lists them.

A checkout with neither DATABASE_URL nor SECRET_KEY is a developer's: DEBUG is on and the database is embedded. Anything
else is a server: DEBUG is off unless it says otherwise, and ``capture/system_checks.py`` says what is missing.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from aicontrol import environment as env
from aicontrol import logs

BASE_DIR = Path(__file__).resolve().parent.parent

env.read_dotenv(BASE_DIR)
env.read_credentials()
DATA_DIR = env.data_folder(BASE_DIR)

# `embedded:` asks for the embedded database even with DEBUG off, as bin/demo does.
DATABASE_URL = env.text("DATABASE_URL")
EMBEDDED = "embedded:"
if DATABASE_URL in {"", EMBEDDED}:
    env.read_file(DATA_DIR / "demo.env")

# --- Security ---------------------------------------------------------------------------------------------------------

DEBUG = env.switch("DEBUG", default=not (DATABASE_URL or env.text("SECRET_KEY")))
SECRET_KEY = env.text("SECRET_KEY") or (env.kept_secret(DATA_DIR / "secret_key") if DEBUG else "")
SECRET_KEY_FALLBACKS = env.texts("SECRET_KEY_FALLBACKS")

ALLOWED_HOSTS = env.texts("ALLOWED_HOSTS")  # with DEBUG on, Django takes none for the loopback names
CSRF_TRUSTED_ORIGINS = env.texts("CSRF_TRUSTED_ORIGINS")

HTTPS = env.switch("HTTPS", default=not DEBUG)  # the default of the switches below; off for a demo on loopback
SECURE_SSL_REDIRECT = env.switch("SECURE_SSL_REDIRECT", default=HTTPS)
SESSION_COOKIE_SECURE = env.switch("SESSION_COOKIE_SECURE", default=HTTPS)
CSRF_COOKIE_SECURE = env.switch("CSRF_COOKIE_SECURE", default=HTTPS)
SECURE_HSTS_SECONDS = env.whole("SECURE_HSTS_SECONDS", 30 * 86_400 if HTTPS else 0, 0, 10 * 365 * 86_400)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.switch("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=HTTPS)
SECURE_HSTS_PRELOAD = env.switch("SECURE_HSTS_PRELOAD", default=HTTPS)

# Nothing but what the site itself serves, and nothing written into a page, is run, shown or asked for; the admin too.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        **{name: [SELF] for name in ("script-src", "style-src", "img-src", "font-src", "connect-src", "form-action")},
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
# Pages use none of these. Not named is the clipboard, to which answers can be copied.
PERMISSIONS_POLICY: dict[str, list[str]] = {
    name: [] for name in ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "capture.views.errors.csrf_failure"

# Whose word is taken for who asks and whether by HTTPS. Anybody else's X-Forwarded-For and -Proto are taken away.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
# By itself that of the trusted proxies. Without any, only for one that sets or removes the header itself.
SECURE_PROXY_SSL_HEADER = env.pair("SECURE_PROXY_SSL_HEADER") or (
    ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
)

# Load balancers and whoever watches ask for these over plain HTTP as well; neither says anything of anybody.
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]
METRICS_TOKEN = env.text("METRICS_TOKEN")  # without one there is no /metrics

# --- Applications -----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "csp",
    "django_htmx",
    "capture.apps.CaptureConfig",
]

MIDDLEWARE = [
    "aicontrol.proxies.BehindProxies",
    "aicontrol.request_ids.RequestId",
    "capture.middleware.HeadersOnly",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "capture.middleware.RefuseUnreadable",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "capture.middleware.RefuseNonsense",
    "capture.middleware.PageOfRefusal",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "aicontrol.urls"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Database ---------------------------------------------------------------------------------------------------------

# Without any entry Django still starts, so that the system check can say that DATABASE_URL is missing.
DATABASES: dict[str, dict[str, Any]] = {}
if DATABASE_URL not in {"", EMBEDDED}:
    DATABASES["default"] = env.postgres("DATABASE_URL")
elif DATABASE_URL or DEBUG:
    DATABASES["default"] = {
        "ENGINE": "aicontrol.embedded",
        "NAME": "aicontrol",
        "FOLDER": DATA_DIR,
        "DURABLE": env.switch("AICONTROL_FSYNC", default=True),
    }

# Where workers LISTEN for new jobs: True is the database itself, False nowhere, and behind a PgBouncer in transaction
# mode, which LISTEN does not pass, it is the address of the PostgreSQL there.
CAPTURE_LISTEN = env.switch_or_postgres("CAPTURE_LISTEN", default=True)

# Behind a PgBouncer in transaction mode the server cannot keep plans of statements from one transaction to the next; a
# worker that is connected to PostgreSQL itself gets through a quarter more jobs by it.
DATABASE_KEEP_PLANS = env.switch("DATABASE_KEEP_PLANS", default=False)

for database in [each for each in (*DATABASES.values(), CAPTURE_LISTEN) if isinstance(each, dict)]:
    # Pgbouncer in transaction mode hands each transaction to any connection: no cursor may outlive its transaction, nor
    # a prepared statement, of which Django makes none by itself; and timeouts are set by role or SET LOCAL, not here.
    database["DISABLE_SERVER_SIDE_CURSORS"] = True
    database["CONN_MAX_AGE"] = env.whole("CONN_MAX_AGE", 60, 0, 86_400)  # seconds
    database["CONN_HEALTH_CHECKS"] = True
    # Names the process in pg_stat_activity; manage.py and wsgi.py set it.
    database["OPTIONS"] = {
        "application_name": env.text("AICONTROL_PROCESS", "aicontrol"),
        # A host that is gone without a word is noticed within a minute; all of it is the client's own, no pooler minds.
        "connect_timeout": 5,
        "keepalives_idle": 15,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
        # Asked so often, a statement is prepared.
        **({"server_side_binding": True, "prepare_threshold": 3} if DATABASE_KEEP_PLANS else {}),
        **database.get("OPTIONS", {}),
    }

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Users and language -----------------------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "aicontrol.logins.AnyCase"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "capture:checks"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_RESET_TIMEOUT = 3 * 86_400  # seconds, of links in mails; mails and pages say three days

LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", _("English"))]  # locale/README.md says how to add one
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "aicontrol.formats"
USE_TZ = True
TIME_ZONE = "UTC"

# Wrong passwords are counted by username and address together, so that nobody can lock out others.
AXES_FAILURE_LIMIT = env.whole("LOGIN_ATTEMPTS", 10, 1, 1_000)
AXES_COOLOFF_TIME = timedelta(minutes=env.whole("LOGIN_PAUSE", 15, 1, 1_440))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "aicontrol.logins.username_of"
AXES_CLIENT_IP_CALLABLE = "aicontrol.logins.address_of"
AXES_LOCKOUT_CALLABLE = "aicontrol.logins.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # nor is what is tried meanwhile kept
AXES_DISABLE_ACCESS_LOG = True  # nobody needs to know when and from where people log in
AXES_ENABLE_ADMIN = False  # manage.py axes_reset_username ends a pause
AXES_VERBOSE = False

# --- Mail: invitations, and links to set a password -------------------------------------------------------------------

# By itself a developer's is printed, and a server's goes to the mail server of the same machine.
globals().update(env.mail("EMAIL_URL", "consolemail://" if DEBUG else "smtp://localhost:25"))
EMAIL_TIMEOUT = 10  # seconds; a request waits for it
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "AI Control <webmaster@localhost>")

# --- Static files -----------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
_STATIC = "StaticFilesStorage" if DEBUG else "CompressedManifestStaticFilesStorage"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": f"{'django.contrib.staticfiles.storage' if DEBUG else 'whitenoise.storage'}.{_STATIC}",
    },
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG

# --- Logging ----------------------------------------------------------------------------------------------------------

LOGGING = logs.configuration(
    env.choice("LOG_FORMAT", "PLAIN", logs.FORMATS), env.choice("LOG_LEVEL", "INFO", logs.LEVELS)
)

# --- Capture ----------------------------------------------------------------------------------------------------------

CAPTURE_MAX_PROMPT_LENGTH = env.whole("CAPTURE_MAX_PROMPT_LENGTH", 2_000, 1, 100_000)  # characters
CAPTURE_MAX_PROMPTS = env.whole("CAPTURE_MAX_PROMPTS", 100, 1, 10_000)  # of one check
CAPTURE_MAX_JOBS = env.whole("CAPTURE_MAX_JOBS", 1_000, 1, 100_000)  # of one check: prompts x systems x samples
CAPTURE_MAX_COMPETITORS = env.whole("CAPTURE_MAX_COMPETITORS", 20, 0, 1_000)  # of one check
CAPTURE_CHECKS_A_MINUTE = env.whole("CAPTURE_CHECKS_A_MINUTE", 30, 1, 10_000)  # that people of one team start

# Nothing that pages send is larger than the form of a check that is as long as it may be: a character is at most 12
# bytes there (four, each written as %XX), and the rest of the form has its own megabyte.
DATA_UPLOAD_MAX_MEMORY_SIZE = min(1_000_000 + 12 * CAPTURE_MAX_PROMPTS * CAPTURE_MAX_PROMPT_LENGTH, 50_000_000)
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1_000
DATA_UPLOAD_MAX_NUMBER_FILES = 0  # none is ever taken

# What a team may spend in a calendar month (UTC), in US dollars, where the admin says nothing else of the team.
CAPTURE_MONTHLY_BUDGET = env.amount("CAPTURE_MONTHLY_BUDGET", 100, 0, 1_000_000)

CAPTURE_MAX_ATTEMPTS = env.whole("CAPTURE_MAX_ATTEMPTS", 5, 1, 100)  # start calls of one job
# How often a job asks again after an attempt of which nobody knows whether it was charged.
CAPTURE_UNKNOWN_RETRIES = env.whole("CAPTURE_UNKNOWN_RETRIES", 1, 0, 100)
CAPTURE_REMOTE_DEADLINE = env.whole("CAPTURE_REMOTE_DEADLINE", 86_400, 1, 30 * 86_400)  # seconds with a remote id
CAPTURE_EXCHANGE_DEADLINE = env.number("CAPTURE_EXCHANGE_DEADLINE", 45, 0.1, 3_600)  # seconds of one HTTP exchange

CAPTURE_CONCURRENCY = env.whole("CAPTURE_CONCURRENCY", 8, 1, 256)  # seats of one worker
CAPTURE_POLL = env.number("CAPTURE_POLL", 1, 0.01, 3_600)  # seconds between looks into the queue
CAPTURE_GRACE = env.number("CAPTURE_GRACE", 60, 0, 3_600)  # seconds for exchanges in flight when a worker stops
# Most calls in hand by lane, over all workers, as a lane is made; staff change it in the admin.
CAPTURE_LANE_LIMITS = env.wholes(
    "CAPTURE_LANE_LIMITS", {"openai": 20, "perplexity": 10, "gemini": 20, "serpapi": 10}, 1, 10_000
)

# What is set of OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL and so on. Django's error page hides settings with KEY
# in their name.
CAPTURE_PROVIDER_KEYS = {
    name: value
    for prefix in ("OPENAI", "PERPLEXITY", "GEMINI", "SERPAPI")
    for name in (f"{prefix}_{part}" for part in ("API_KEY", "BASE_URL", "MODEL", "API"))
    if (value := env.text(name))
}
# Systems without a key are asked at the simulator, if there is one.
SIMULATOR_URL = env.text("SIMULATOR_URL")
