"""A folder in which the documentation's commands run: small logs, small files, and models that answer.

Everything has round numbers. A dilemma has four criteria of weight 3, 2, 1 and -2, "Sees 0 ..." to
"Sees 3 ...". A model that sees n points meets the first n, so it earns, of a weight of 8,
6 with four points (the fault of weight -2 too), 8 with three, 7 with two.
"""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)

from moral_evals.loaders.morebench.hub import HubFile
from tests.docs.pages import ROOT, blocks
from tests.mocks import criteria_of, criterion_of, output, thinking
from tests.upstream_files import generation, judgement, write

POINTS = {"deepseek-r1": 4, "claude-sonnet-4-5": 3}
"""What a model sees; every other sees two."""

REGULAR = {4: 6 / 8, 3: 8 / 8, 2: 7 / 8}
"""A run's score by what its model sees."""

DILEMMAS = 6
WEIGHTS = (3, 2, 1, -2)
DIMENSIONS = ("identifying", "logical process", "clear process", "harmless outcome")

_SHOWN = re.compile(r"^\[(\w+)\] ", re.MULTILINE)


def seen_by(model: str) -> int:
    return POINTS.get(model.rpartition("/")[2], 2)


@modelapi(name="stand_in")
class StandIn(ModelAPI):
    """Every model of the pages: as candidate it says what it sees, as judge it looks for that."""

    def __init__(self, model_name: str, base_url: str | None = None, api_key: str | None = None,
                 config: GenerateConfig = GenerateConfig(), **model_args: Any) -> None:  # noqa: B008  # fmt: skip
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        asked = input[-1].text
        if rubric := criteria_of(input):
            return output("\n".join(f"{n}: {_verdict(asked, c)}" for n, c in rubric.items()))
        if "Aussage:" in asked:  # the German judge prompt of examples/own
            said = _verdict(asked, asked.rpartition("Aussage:")[2].strip())
            return output({"yes": "ja", "no": "nein"}[said])
        if "Criterion:" in asked:
            return output(_verdict(asked, criterion_of(input)))
        if shown := _SHOWN.search(asked.rpartition("\nOptions\n")[2]):
            return output(f"ANSWER: {shown[1]}")
        return thinking(f"I see {seen_by(self.model_name)} points.", "So I decide.")


def stand_in(name: str) -> Model:
    return get_model(f"stand_in/{name}", memoize=False)


def _verdict(asked: str, criterion: str) -> str:
    sees, point = re.search(r"I see (\d) points", asked), re.match(r"Sees (\d)", criterion)
    met = int(point[1]) < int(sees[1]) if sees and point else "declines" not in criterion
    return "yes" if met else "no"


def upstream_csv(path: Path, theories: Sequence[str]) -> Path:
    """A file as upstream publishes it."""
    columns = ("DILEMMA", "DILEMMA_SOURCE", "DILEMMA_TYPE", "THEORY", "ROLE_DOMAIN", "CONTEXT")
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*columns, "RUBRIC"])
        for theory in theories:
            for i in range(DILEMMAS):
                cells = [f"Case {i}?", "daily_dilemmas", "short_case", theory, "ai_advisor", "Work"]
                table.writerow([*cells, json.dumps(rubric(i))])
    return path


def rubric(i: int) -> list[dict[str, Any]]:
    return [
        {"id": f"c{j}", "title": f"Sees {j} in case {i}.", "weight": weight,
         "annotations": {"rubric_dimension": dimension}}
        for j, (weight, dimension) in enumerate(zip(WEIGHTS, DIMENSIONS, strict=True))
    ]  # fmt: skip


def hub_fetch(folder: Path) -> Any:
    """What stands in for `hub.fetch`: the two files, made here."""

    def fetch(filename: str, revision: str = "", repository: str = "") -> HubFile:
        theories = ["Kantian Deontology"] if "theory" in filename else ["neutral"]
        return HubFile(upstream_csv(folder / filename, theories), "0" * 40)

    return fetch


def generate_config() -> str:
    """The page's own file of settings."""
    yaml = [text for kind, text in blocks(ROOT / "docs/at-scale.md") if kind == "yaml"]
    return next(text for text in yaml if "reasoning_effort" in text)


def lay_out(desk: Path) -> None:
    """The files that the pages name, beside the logs."""
    (desk / "models.csv").write_text(
        "model,family,size_b\n" + "".join(f"{m},{m[:3]},{n}\n" for m, n in POINTS.items())
    )
    (desk / "scores.csv").write_text("model,other\n" + "".join(f"{m},.5\n" for m in POINTS))
    (desk / "generate.yaml").write_text(generate_config())
    price = {"input": 1, "output": 2, "input_cache_write": 0, "input_cache_read": 0}
    names = ["judge", "openrouter/openai/gpt-oss-120b", "openai/gpt-5",
             "openrouter/deepseek/deepseek-r1", "anthropic/claude-sonnet-4-5"]  # fmt: skip
    (desk / "prices.yaml").write_text(json.dumps({f"stand_in/{n}": price for n in names}))
    rows = [judgement("t1", n, weight=2, said="yes" if n else "no") for n in range(4)]
    write(desk / "judgements.jsonl", rows)
    write(desk / "generations.jsonl", [generation("t1", rows)])
    (desk / "bucket").mkdir()
    (desk / "bucket" / "logs").symlink_to("../logs")
    for name in ("examples", "inspect_tasks", "datasets"):
        (desk / name).symlink_to(ROOT / name)
