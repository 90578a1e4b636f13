"""The user's small files: judge pairs, models, prices, other benchmarks' scores.

In come JSONL, CSV and YAML; out go checked records, or one line that names file, row and field.
Open `reader.py` first, on which the CSV files rest; each other file reads one kind.
"""
