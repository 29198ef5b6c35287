"""What goes wrong with the embedded server."""


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL can't be used. The message says why, and what can be done, in full."""
