"""Dilemmas with weighted criteria, from files to Samples.

In come the published CSV (from the hub or a path) or a JSONL in schema `dilemma-1`; out go
`Scenario` records as Samples, with where they came from. Open `data.py` first, then `records.py`.
"""
