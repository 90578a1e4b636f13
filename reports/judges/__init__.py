"""What judges cost, and what another judge would have said.

In come logs, a task that is still to run, or the cache of verdicts; out go costs, changes of score
and agreement. Open `judgings.py` for two judgings of one reply, `estimate.py` for costs.
"""
