"""How long things take, measured on a real PostgreSQL.

`bin/bench` runs those modules that have a `run`; each of the others is run by `python -m benchmarks.NAME`.

    frame/   what they share: the server, the queues that are compared, rounds and ratios, the page of results
    ours/    our queue as it is compared: who enqueues, and a worker whose AI systems answer within the process
    peers/   the queues that somebody would otherwise take, in an environment of their own
"""
