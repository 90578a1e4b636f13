"""To and from other people's files: upstream's judgements, training signal.

In come finished logs or upstream's JSONL; out go JSONL files with a card, or a log that Inspect
opens. Open `import_upstream.py`, `export_upstream.py` or `export_rewards.py` first.
"""
