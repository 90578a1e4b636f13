"""Figures over units (scenarios, chains) become intervals, tests and verdicts.

`bootstrap.py` first: a `Statistic` is a function of column sums, `Bootstrap` gives its interval.
`paired.py` tests a difference of two sides, `multiplicity.py` adjusts several tests and says which
verdict they carry, `power.py` how many units a difference takes.
"""
