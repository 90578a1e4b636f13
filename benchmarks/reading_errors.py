"""How often replies are misread: the corpora of tests/corpus, labelled by hand, against the readers.

A wrong pick is an answer or verdict that the reply does not give; a lost one is a reply that is
clear to a person and is not read. Run it from the repository's root.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput

from moral_evals.loaders.reply import read_reply
from moral_evals.scorers.judging.judge import one_verdict
from moral_evals.solvers.answers import read_choice

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"


@dataclass(frozen=True)
class Misread:
    """A reply that was not read as its label says."""

    id: str
    reply: str
    expected: str | None
    read: str | None
    wrong: bool


@dataclass(frozen=True)
class Errors:
    """What the reader made of a corpus."""

    replies: int
    clear: int
    wrong: list[Misread]
    lost: list[Misread]

    @property
    def lost_share(self) -> float:
        """Share of the clear replies that were not read."""
        return len(self.lost) / self.clear


def reading_errors(kind: str, folder: Path = CORPUS) -> Errors:
    """Read a whole corpus.

    Args:
        kind: `corda` or `judge`.
        folder: Where its files are, `KIND_*.jsonl`.
    """
    rows = [row for file in sorted(folder.glob(f"{kind}_*.jsonl")) for row in _rows(file)]
    read = _choice if kind == "corda" else _verdict
    found = [(row, read(row)) for row in rows]
    misread = [
        (row, Misread(row["id"], row["reply"], row["expected"], said, wrong=said is not None))
        for row, said in found
        if said != row["expected"]
    ]
    return Errors(
        replies=len(rows),
        clear=sum(row["clear"] for row in rows),
        wrong=[m for _, m in misread if m.wrong],
        lost=[m for row, m in misread if row["clear"] and not m.wrong],
    )


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _choice(row: dict[str, Any]) -> str | None:
    message = ChatMessageAssistant(content=row["reply"])
    choice = ChatCompletionChoice(message=message, stop_reason=row["stop"])
    reply = read_reply(ModelOutput(model="corpus/corpus", choices=[choice]))
    if reply.truncated or reply.refused:
        return None
    reading, label = read_choice(reply, row["options"])
    return {"answered": label, "abstained": "NONE"}.get(reading)


def _verdict(row: dict[str, Any]) -> str | None:
    return one_verdict(row["reply"], cut=row["stop"] == "max_tokens")


def main() -> None:
    """Print the error rates and every misread reply."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    print("| corpus | replies | wrong picks | clear replies | lost | share lost |")
    print("|---|---:|---:|---:|---:|---:|")
    everything = {kind: reading_errors(kind) for kind in ("corda", "judge")}
    for kind, errors in everything.items():
        print(
            f"| {kind} | {errors.replies} | {len(errors.wrong)} | {errors.clear} | "
            f"{len(errors.lost)} | {errors.lost_share:.1%} |"
        )
    for errors in everything.values():
        for m in (*errors.wrong, *errors.lost):
            kind = "wrong" if m.wrong else "lost"
            print(f"{kind} {m.id}: {m.reply[-90:]!r}, labelled {m.expected}, read as {m.read}")


if __name__ == "__main__":
    main()
