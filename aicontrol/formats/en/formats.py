"""English, before Django's own: a time is one that can be found in a log, to the second and with its zone."""

TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = "j M Y, H:i:s T"
SHORT_DATETIME_FORMAT = "d/m/Y H:i:s T"
