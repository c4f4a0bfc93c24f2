"""The fault matrix: `make faults` plays it and prints a table.

A row says what breaks, at which moment, and plays it over several turns at once. Rows stand in
one file a family (`rows_*.py`), each with a list `ROWS`; `registry.py` names the files. What a
row needs is in `takes.py` (turns at a moment) and `judge.py` (what became of them).

    .venv/bin/python -m bench.faults --row mid-answer --trials 8 --seed 7
"""
