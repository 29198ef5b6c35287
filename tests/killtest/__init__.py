"""The kill test: real workers are killed while they work, and then three ledgers are compared.

    python -m tests.killtest --kills 200        (bin/killtest sets up what that needs)

    arguments.py    what can be asked for
    points.py       the named points at which a worker can be killed
    plan.py         all kills, interruptions and faults, derived from the seed
    server.py       the PostgreSQL, which is crashed and has connections cut
    caretaker.py    stops it when the test itself was killed
    tethered.py     what else ends with the test
    systems.py      the simulator, which is killed, too
    doomed.py       starts a worker that kills itself at a named point
    fleet.py        the workers, each started again at once after its death
    run.py          the test from its beginning to its end
    logs.py         the ledger that the workers' logs are
    ledgers.py      what database, simulator and logs say, and where they disagree
    report.py       the table

The plan is the same for the same seed; at which instruction a signal arrives is not.
"""
