"""The MoReBench authors' own files: judgements, generations, prompts.

In come the JSONL files of their code, or its checkout; out go rows, scenarios and prompt texts.
Open `rows.py` first; `scenarios.py` joins rows to dilemmas, `prompts.py` fetches the wording.
"""
