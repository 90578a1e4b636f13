"""Chains of dilemmas, from files to Samples.

In come a JSONL in schema `corda-1` or a public set in its own layout; out go `Chain` records and,
for a run, a Sample for each chain, condition and shuffle. Open `data.py` first, then `rollouts.py`.
"""
