"""All reports of some logs as one HTML file that loads nothing.

In come the reports of `compare` and `findings` and the figures of `plots/`; out goes the file.
Open `command.py` first, then `sections.py`.
"""
