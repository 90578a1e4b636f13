"""From a panel's verdicts to the scores and metrics of MoReBench.

In come a rubric and the judges' verdicts (`judging/`), out go a Score with its record and, over a
run, the metrics. Open `score.py` first; `record.py` says what a log holds of it.
"""
