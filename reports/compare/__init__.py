"""Runs side by side, and each pair of models under a test.

In come finished runs under equal conditions (`runs/`); out go tables with differences, intervals
and verdicts. Open `command.py` first, then `rubric.py` or `corda.py`; `pairs.py` has the test.
"""
