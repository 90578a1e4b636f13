"""The `scripted` provider's ModelAPI: reads a CORDA prompt and answers by a fixed rule.

Rules that look at tier values find them by the options' texts in the chains of a file: the bundled
ones, or those that `-M chains=PATH` names. Randomness is seeded by the prompt and `-M seed=N`.
"""

import hashlib
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from moral_evals.loaders.corda.chains import Option, read_chains
from moral_evals.loaders.errors import OptionError, listing
from moral_evals.loaders.paths import bundled
from moral_evals.scorers.corda.order import DEFAULT_ORDER, TierOrder, rank_values

_SHOWN = re.compile(r"^\[(\w+)\] (.+)$", re.MULTILINE)
_CONSIDERED = re.compile(r"^ {3}Options considered: (.+)$", re.MULTILINE)
_DECIDED = re.compile(r"^ {3}Decision taken: (.+)$", re.MULTILINE)

WELFARE = "welfare"


@dataclass(frozen=True)
class Question:
    """What a responder sees: labels and texts in the order displayed, and the last decision."""

    labels: list[str]
    texts: list[str]
    last_decision: str
    considered: str
    rng: random.Random


class ScriptedAPI(ModelAPI):
    """Responders that choose by position, label, tier values, chance or history."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        chains: str | None = None,
        seed: int = 0,
        gamma: float = 0.8,
        tier_order: str | list[str] | None = None,
        **unknown: Any,
    ) -> None:
        """Choose the rule.

        Args:
            model_name: Name of the rule.
            base_url: Not used.
            api_key: Not used.
            config: Not used.
            chains: JSONL file whose options the prompts show; None for the bundled chains.
            seed: Seed of random rules.
            gamma: Log-odds that `history-sensitive` loses after a bad decision.
            tier_order: Tiers of those chains, highest first; None for the default order.
            unknown: Refused.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        rules: dict[str, Callable[[Question], int]] = {
            "uniform": lambda q: int(q.rng.random() * len(q.labels)),
            "first-position": lambda q: 0,
            "first-label": lambda q: q.labels.index(min(q.labels)),
            "lexicographic-best": lambda q: self._extreme(q, max, self._order),
            "lexicographic-worst": lambda q: self._extreme(q, min, self._order),
            "welfare-first": lambda q: self._extreme(q, max, self._welfare_first()),
            "history-sensitive": self._history_sensitive,
        }
        if unknown:
            raise OptionError(
                f"-M {next(iter(unknown))}: allowed are chains, seed, gamma, tier_order."
            )
        if model_name not in rules:
            raise OptionError(f"scripted/{model_name}: allowed are {listing(rules)}.")
        self._rule, self._seed, self._gamma = rules[model_name], seed, gamma
        self._asked: Counter[str] = Counter()
        path = Path(chains) if chains else bundled("corda") / "chains.jsonl"
        if not path.is_file():
            raise OptionError(f"-M chains={chains}: no such file.")
        self._order = _order(tier_order)
        names = tuple(dict.fromkeys((*self._order.names, *DEFAULT_ORDER.names)))
        self._steps = [s.options for c in read_chains(path, names) for s in c.steps]

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer the last message in the form that the task asks for."""
        prompt = input[-1].text
        shown = _SHOWN.findall(prompt.rpartition("\nOptions\n")[2])
        if not shown:
            raise OptionError("scripted models answer CORDA's prompts only.")
        decided, considered = _DECIDED.findall(prompt), _CONSIDERED.findall(prompt)
        # asked again, a random rule draws again: shuffles of a step may share a layout
        self._asked[prompt] += 1
        key = f"{self._seed}\0{self._asked[prompt]}\0{prompt}"
        digest = hashlib.sha256(key.encode()).digest()
        question = Question(
            labels=[label for label, _ in shown],
            texts=[text for _, text in shown],
            last_decision=decided[-1] if decided else "",
            considered=considered[-1] if considered else "",
            rng=random.Random(int.from_bytes(digest, "big")),
        )
        said = f"ANSWER: {question.labels[self._rule(question)]}"
        output = ModelOutput.from_content(f"scripted/{self.model_name}", said)
        # without usage Inspect would count tokens, for which it downloads a vocabulary
        output.usage = ModelUsage(
            input_tokens=len(prompt) // 4, output_tokens=3, total_tokens=len(prompt) // 4 + 3
        )
        return output

    def _welfare_first(self) -> TierOrder:
        names = self._order.names
        if WELFARE not in names:
            raise OptionError(f"scripted/welfare-first: no tier {WELFARE!r} in {listing(names)}.")
        return TierOrder((WELFARE, *(name for name in names if name != WELFARE)))

    def _options_on_record(self, line: str) -> list[str]:
        """Options of a line of the record; joined by " - ", which may stand within one too."""
        for options in self._steps:
            for texts in permutations([o.text for o in options]):
                if " ".join(f"- {t}" for t in texts) == line:
                    return list(texts)
        return []

    def _ranks(self, texts: Sequence[str], order: TierOrder) -> list[float]:
        options = {o.text: o for o in self._options(texts)}
        return [float(r.u) for r in rank_values([options[t].tiers for t in texts], order)]

    def _options(self, texts: Sequence[str]) -> tuple[Option, ...]:
        for options in self._steps:
            if {o.text for o in options} == set(texts):
                return options
        raise OptionError(f"scripted models know no option {texts[0][:60]!r}; set -M chains=PATH.")

    def _extreme(self, q: Question, pick: Callable[..., float], order: TierOrder) -> int:
        ranks = self._ranks(q.texts, order)
        top = pick(ranks)
        # among equals by content, so that no position or label gains
        return min((i for i, u in enumerate(ranks) if u == top), key=lambda i: q.texts[i])

    def _history_sensitive(self, q: Question) -> int:
        bad = False
        before = self._options_on_record(q.considered) if q.last_decision else []
        if q.last_decision in before:
            ranks = self._ranks(before, self._order)
            bad = ranks[before.index(q.last_decision)] < max(ranks)
        odds = math.exp(1.0 - (self._gamma if bad else 0.0))
        best = self._extreme(q, max, self._order)
        others = [i for i in range(len(q.labels)) if i != best]
        if q.rng.random() < odds / (1 + odds):
            return best
        return others[int(q.rng.random() * len(others))]


def _order(given: str | list[str] | None) -> TierOrder:
    if given is None:
        return DEFAULT_ORDER
    names = given.replace(">", ",").split(",") if isinstance(given, str) else given
    try:
        return TierOrder(tuple(str(name).strip() for name in names))
    except ValueError as error:
        raise OptionError(f"-M tier_order: {error}.") from error
