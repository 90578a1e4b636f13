"""What a CORDA rollout leaves in the log: one `ChainAnswer` of `StepRecord`s, as plain JSON.

Options are known by their ids and never by the label shown: labels and positions move from
shuffle to shuffle, and a log must give the same numbers whatever the next run shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from moral_evals.loaders.corda.rollouts import CONDITIONS, Condition
from moral_evals.scorers.corda.order import Tiers

Status = Literal["answered", "abstained", "unparsed", "refused", "truncated", "error"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Everything but `answered` is a missing answer: left out of scores, its rate reported."""


@dataclass(frozen=True)
class StepRecord:
    """One question put and what came back.

    Attributes:
        index: Place of the step in its chain, from 0.
        step_id: Id of the step.
        options: Option id to tier values, in the order of the data.
        chosen: Id of the option chosen; None unless answered.
        status: What came back.
        shown: Option ids in the order displayed.
        labels: Labels in the order displayed.

    Raises:
        ValueError: If these contradict each other.
    """

    index: int
    step_id: str
    options: Mapping[str, Tiers]
    chosen: str | None
    status: Status
    shown: tuple[str, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse contradictions, which would otherwise surface as wrong numbers."""
        problem = self._problem()
        if problem:
            raise ValueError(f"step {self.step_id!r}: {problem}")

    def _problem(self) -> str:
        if self.status not in STATUSES:
            return f"unknown status {self.status!r}; allowed: {', '.join(STATUSES)}"
        if (self.chosen is not None) != (self.status == "answered"):
            return f"status {self.status!r} with chosen option {self.chosen!r}"
        if self.chosen is not None and self.chosen not in self.options:
            return f"chosen option {self.chosen!r} is not among {', '.join(self.options)}"
        if self.index < 0 or len(self.options) < 2:
            return "a step has an index from 0 and at least two options"
        if sorted(self.shown) != sorted(self.options):
            return "the options shown are not the options of the step"
        if len(self.labels) != len(self.shown) or len(set(self.labels)) != len(self.labels):
            return "labels are not one distinct label an option"
        return ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; options are a list, because their order matters."""
        return {
            "index": self.index,
            "step_id": self.step_id,
            "options": [{"option_id": o, "tiers": dict(t)} for o, t in self.options.items()],
            "chosen": self.chosen,
            "status": self.status,
            "shown": list(self.shown),
            "labels": list(self.labels),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "StepRecord":
        """The record that `to_json` wrote.

        Raises:
            KeyError: If a field is absent.
            ValueError: If fields contradict each other.
        """
        return cls(
            index=int(data["index"]),
            step_id=data["step_id"],
            options={o["option_id"]: dict(o["tiers"]) for o in data["options"]},
            chosen=data["chosen"],
            status=data["status"],
            shown=tuple(data["shown"]),
            labels=tuple(data["labels"]),
        )


@dataclass(frozen=True)
class ChainAnswer:
    """One rollout: a chain answered once, in one condition and one shuffle.

    Attributes:
        chain_id: Id of the chain, the unit that is resampled.
        stratum: Stratum of the chain, "" if the data name none.
        condition: What history was shown (section 3.4).
        shuffle: Number of the layout (section 3.5), from 0.
        steps: The steps of the chain in order.

    Raises:
        ValueError: For an unknown condition or steps given twice.
    """

    chain_id: str
    stratum: str
    condition: Condition
    shuffle: int
    steps: tuple[StepRecord, ...]

    def __post_init__(self) -> None:
        """Refuse an unknown condition and repeated steps."""
        if self.condition not in CONDITIONS:
            raise ValueError(
                f"chain {self.chain_id!r}: unknown condition {self.condition!r}; "
                f"allowed: {', '.join(CONDITIONS)}"
            )
        if len({s.index for s in self.steps}) != len(self.steps):
            raise ValueError(f"chain {self.chain_id!r}: a step is given twice")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON with text keys."""
        return {
            "chain_id": self.chain_id,
            "stratum": self.stratum,
            "condition": self.condition,
            "shuffle": self.shuffle,
            "steps": [s.to_json() for s in self.steps],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ChainAnswer":
        """The rollout that `to_json` wrote; errors as in `StepRecord.from_json`."""
        return cls(
            chain_id=data["chain_id"],
            stratum=data["stratum"],
            condition=data["condition"],
            shuffle=int(data["shuffle"]),
            steps=tuple(StepRecord.from_json(s) for s in data["steps"]),
        )
