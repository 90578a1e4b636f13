"""What the data cards say is what the files hold."""

import json
import re

from moral_evals.loaders.paths import bundled


def test_counts_in_the_card_of_the_bundled_sample():
    folder = bundled("morebench_sample")
    card = (folder / "README.md").read_text(encoding="utf-8")
    for name in ("dilemmas.jsonl", "theory_dilemmas.jsonl"):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        criteria = sum(len(r["criteria"]) for r in rows)
        assert re.search(rf"\| `{name}` \| {len(rows)} \| {criteria} \|", card)


def test_no_code_stands_under_datasets():
    # a package there would shadow Hugging Face's `datasets`
    assert not list(bundled("theories").parent.rglob("*.py"))
