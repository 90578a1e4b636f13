"""The scores of single runs: figures, what was not measured, breakdowns.

In come logs; out goes a report a log, with tables for each kind of score in it.
Open `command.py` first, then `rubric.py`, `corda.py` or `agreement.py`.
"""
