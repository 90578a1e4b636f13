"""Asking judges about criteria, and reading what they say.

In come criteria, a text and `JudgeOptions`; out goes a `Judgement`, the verdicts of a panel with
its ballots. Open `judge.py` first; `call.py` is the one file that asks a model.
"""
