"""The paper's findings, asked of the user's own runs.

In come rubric runs and small tables of models and benchmarks; out goes a report for each finding.
Open `command.py` first; every other file answers one question.
"""
