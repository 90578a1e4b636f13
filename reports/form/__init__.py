"""The one form of a report, and everything that prints it.

In come `Report`s of `Table`s and notes; out go terminal, Markdown, CSV, JSON and LaTeX.
Open `document.py` first, then `render.py`.
"""
