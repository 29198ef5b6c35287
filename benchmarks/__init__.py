"""How long things take, measured on a real PostgreSQL; each module is run by `python -m benchmarks.NAME`."""
