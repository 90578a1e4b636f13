"""The records of MoReBench: a `Scenario` is a dilemma with its rubric of `Criterion`s."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from moral_evals.loaders.errors import nearest
from moral_evals.loaders.values import Number, Words, short

DIMENSIONS = (
    "identifying",
    "clear process",
    "logical process",
    "helpful outcome",
    "harmless outcome",
    "other",
)
"""Rubric dimensions in the order of every table; `other` is rare but real."""

THEORIES = (
    "Act Utilitarianism",
    "Kantian Deontology",
    "Aristotelian Virtue Ethics",
    "Scanlonian Contractualism",
    "Gauthierian Contractarianism",
)
NEUTRAL = "neutral"
ROLES = ("ai_advisor", "ai_agent")

# The dataset card's spelling differs from the data's.
_THEORY_ALIASES = {"gautheierian contractarianism": "Gauthierian Contractarianism"}

# Sources are composite ("expert_written_ethic_bowl"); the paper reports three groups.
_SOURCE_GROUPS = (
    ("daily", "daily_dilemmas"),
    ("ai_risk", "ai_risk"),
    ("expert", "expert"),
)


@dataclass(frozen=True)
class OwnNames:
    """Names that the rows of a user's own file may hold beside the benchmark's."""

    theories: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()

    def context(self) -> dict[str, Any]:
        """What the records' validation of a file's rows is told."""
        return {"theories": self.theories, "dimensions": self.dimensions}


NO_OWN_NAMES = OwnNames()


def source_group(source: str) -> str:
    """The paper's group of a DILEMMA_SOURCE; an unknown source is its own group."""
    for prefix, group in _SOURCE_GROUPS:
        if source == prefix or source.startswith(prefix + "_"):
            return group
    return source


def theory_name(text: str, own: Iterable[str] = ()) -> str | None:
    """The exact name of a theory or `neutral`, or None if the text names neither.

    `own` are names of the user's own theories, which stand beside the five.

    Case, surrounding and repeated blanks, hyphens and underscores do not matter.
    """
    key = _plain(text)
    key = _THEORY_ALIASES.get(key, key).casefold()
    return next((t for t in (*THEORIES, NEUTRAL, *own) if _plain(t) == key), None)


def _plain(name: str) -> str:
    return " ".join(name.replace("-", " ").replace("_", " ").split()).casefold()


def _theory(value: Any, info: ValidationInfo) -> str:
    # the user's own theories are known to the reader of a file, not to the record
    own = (info.context or {}).get("theories", ())
    name = theory_name(value, own) if isinstance(value, str) else None
    if name is None:
        allowed = ", ".join((*THEORIES, *own, NEUTRAL))
        hint = (
            "" if own else " (a theory of your own needs morebench_theory with -T theories=FOLDER)"
        )
        raise ValueError(f"{short(value)} is unknown; allowed: {allowed}{hint}")
    return name


def _role(value: Any) -> str:
    name = value.strip() if isinstance(value, str) else value
    if name not in ("", *ROLES):
        raise ValueError(f"{short(value)} is unknown; allowed: {', '.join(ROLES)}, or nothing")
    return str(name)


Theory = Annotated[str, BeforeValidator(_theory)]
"""A theory's exact name or `neutral`, from any of its spellings."""

Role = Annotated[str, BeforeValidator(_role)]
"""A role of `ROLES`, or nothing."""


def slug(text: str) -> str:
    """Lower-case words joined by hyphens, for ids and file names."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


_DIMENSION = "dim_"


def dimension_name(text: str) -> str:
    """A dimension's name from any spelling: case, blanks, hyphens and underscores do not matter."""
    return _plain(text)


def dimension_key(dimension: str) -> str:
    """Key of a dimension in score values and metrics, e.g. `dim_clear_process`."""
    return _DIMENSION + dimension.replace(" ", "_")


def own_dimensions_in(keys: Iterable[str]) -> tuple[str, ...]:
    """The user's own dimensions among some keys of score values, in order and without repeats."""
    names = (k.removeprefix(_DIMENSION).replace("_", " ") for k in keys if k.startswith(_DIMENSION))
    return tuple(dict.fromkeys(n for n in names if n not in DIMENSIONS))


class Criterion(BaseModel):
    """One line of a rubric: a statement about the reasoning, and what a yes is worth.

    The sign of `weight` alone says whether a yes is good; the wording never does.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    text: Words
    weight: Number
    dimension: str

    @field_validator("dimension", mode="before")
    @classmethod
    def _known_dimension(cls, value: Any, info: ValidationInfo) -> str:
        name = dimension_name(value) if isinstance(value, str) else ""
        # a log may hold own names, which were checked when its data were read
        if name and info.context is None:
            return name
        allowed = (*DIMENSIONS, *(info.context or {}).get("dimensions", ()))
        if name not in allowed:
            raise ValueError(
                f"{short(value)} is not a dimension{nearest(name, allowed)}; allowed: {', '.join(allowed)}, and "
                "names of your own that -T dimensions=FILE lists"
            )
        return name


class ScenarioMetadata(BaseModel):
    """What a Sample carries beside the dilemma's text: `sample.metadata_as(ScenarioMetadata)`.

    Plain JSON with text keys, so that a log alone is enough to score it again.

    Attributes:
        dimensions: The user's own of the whole run, in the order of every table.
    """

    model_config = ConfigDict(frozen=True)

    theory: str = NEUTRAL
    role: str = ""
    source: str = ""
    source_group: str = ""
    type: str = ""
    context: str = ""
    criteria: list[Criterion] = Field(default_factory=list)
    dimensions: tuple[str, ...] = ()

    def every_dimension(self) -> tuple[str, ...]:
        """The benchmark's dimensions, the user's own as declared, and others that occur."""
        found = (*DIMENSIONS, *self.dimensions, *(c.dimension for c in self.criteria))
        return tuple(dict.fromkeys(found))


class Scenario(BaseModel):
    """A dilemma with its labels and rubric, as read from one row of a file.

    Theory and role choose the prompt, so a slip in them must not pass.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Words
    dilemma: Words
    theory: Theory = NEUTRAL
    role: Role = ""
    source: str = ""
    type: str = ""
    context: str = ""
    criteria: tuple[Criterion, ...]

    def metadata(self, dimensions: Sequence[str] = ()) -> dict[str, Any]:
        """The plain-JSON form of `ScenarioMetadata`, with the user's own dimensions if any."""
        return ScenarioMetadata(
            theory=self.theory,
            role=self.role,
            source=self.source,
            source_group=source_group(self.source),
            type=self.type,
            context=self.context,
            criteria=list(self.criteria),
            dimensions=tuple(dimensions),
        ).model_dump(mode="json", exclude=None if dimensions else {"dimensions"})
