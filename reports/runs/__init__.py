"""Finished logs, read once, as records that every report starts from.

In come paths of logs and folders; out go `RubricRun`s, `CordaRun`s, samples and data frames, with
the `Conditions` that make runs comparable. Open `rubric_runs.py` first, then `conditions.py`.
"""
