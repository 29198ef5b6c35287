"""The AI systems offline, wire for wire, over HTTP: `python -m simulator --port 8900`.

A demo, a test or a benchmark points the product at this instead of at a paid API. Nothing here
imports the product, so that the two can only agree over the wire.

    server      sockets: one HTTP exchange in, one out, also cut, trickled or reset
    app         one request: which system, which fault, what becomes of it
    systems/    one module per AI system: its paths, checks, bodies and error bodies
    answers     what is said (questions, topics, pages feed it), before a system gives it its form
    calls       a call and its state by the wall clock
    store       calls and counts under one lock, written to a journal so that they outlive the process
    script      faults to order; faults the named shapes among them
    control     /__control__/: counts, script, reset
"""
