"""Upstream's rows brought together: one dilemma, one reply, and what was judged of it."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.morebench.csv_rows import stable_id
from moral_evals.loaders.morebench.records import NEUTRAL, Criterion, ScenarioMetadata, source_group
from moral_evals.loaders.upstream.index import GenerationIndex
from moral_evals.loaders.upstream.rows import GenerationRow, JudgementRow
from moral_evals.loaders.values import distinct

KEPT = "upstream"
"""Key of `KeptRows` in a sample's metadata."""

Ids = Literal["task_id", "dilemma"]
"""What names a sample: upstream's task id, or the text, by which live runs are named too."""


class KeptRow(BaseModel):
    """A judgement row without the judged text, which all rows of a reply share.

    Attributes:
        line: Its line in the file, by which the file's order is restored.
        criterion: Id of the criterion in the sample's rubric; empty for one of weight 0.
        fields: The row, its field `response` emptied.
    """

    line: int
    criterion: str
    fields: dict[str, Any]


class KeptRows(BaseModel):
    """What an imported sample keeps of upstream's files, so that they can be written again."""

    response: str | None = None
    rows: list[KeptRow] = []
    generation_line: int = 0
    generation: dict[str, Any] | None = None


@dataclass(frozen=True)
class UpstreamScenario:
    """A dilemma with the judgements of one reply to it.

    Attributes:
        id: Id of the sample.
        epoch: Repetition, from 1.
        rows: Its judgement rows; none if only the reply is there.
        row_criteria: For each row the id of its criterion below; empty for one of weight 0.
        generation: Its generation row, if the file was given.
        criteria: The rubric, in the dataset's order where that is known.
    """

    id: str
    epoch: int
    rows: tuple[JudgementRow, ...]
    row_criteria: tuple[str, ...]
    generation: GenerationRow | None
    criteria: tuple[Criterion, ...]

    @property
    def labels(self) -> GenerationRow | JudgementRow:
        """The row that names theory, role, source and type."""
        return self.generation or self.rows[0]

    def metadata(self) -> dict[str, Any]:
        """The sample's metadata: `ScenarioMetadata`, and the rows under `KEPT`."""
        row = self.labels
        known = ScenarioMetadata(
            theory=row.theory,
            role=row.role_domain,
            source=row.dilemma_source,
            source_group=source_group(row.dilemma_source),
            type=row.dilemma_type,
            context=self.generation.context.strip() if self.generation else "",
            criteria=list(self.criteria),
        )
        return {**known.model_dump(mode="json"), KEPT: self._kept().model_dump()}

    def _kept(self) -> KeptRows:
        return KeptRows(
            response=self.rows[0].response if self.rows else None,
            rows=[
                KeptRow(line=r.line, criterion=c, fields={**r.fields, "response": None})
                for r, c in zip(self.rows, self.row_criteria, strict=True)
            ],
            generation_line=self.generation.line if self.generation else 0,
            generation=self.generation.fields if self.generation else None,
        )


def scenarios(
    file: str,
    rows: Sequence[JudgementRow],
    generations: Sequence[GenerationRow] | None = None,
    ids: Ids = "task_id",
) -> list[UpstreamScenario]:
    """Group judgement rows by dilemma and join them with the replies they belong to.

    Args:
        file: Name of the judgement file, for messages.
        rows: Its rows.
        generations: Rows of the generation file that was judged.
        ids: What names a sample. `dilemma` needs the generations; without a task id it is used
            anyway.

    Raises:
        DataError: If rows contradict each other, or belong to no generation row.
    """
    for row in rows:
        if row.model != rows[0].model:
            problem = f"is {row.model!r}, but {rows[0].model!r} before; one model a file"
            raise DataError.at(file, row.line, "model", problem)
    index = GenerationIndex(generations)
    groups: dict[object, list[JudgementRow]] = {}
    for row in rows:
        groups.setdefault((_key(file, row, index), row.epoch), []).append(row)
    found = [_scenario(file, group, index.of_group(file, group), ids) for group in groups.values()]
    judged = {id(s.generation) for s in found}
    found += [_unjudged(g, ids) for g in generations or () if id(g) not in judged]
    return _distinct(sorted(found, key=_place))


def _key(file: str, row: JudgementRow, index: GenerationIndex) -> object:
    if row.task_id is not None:
        return row.task_id
    if index.given:
        # GenerationIndex.of_group refuses what is not unique
        return tuple(g.line for g in index.of(row))
    if row.response and row.response.strip():
        return ("text", row.response)
    problem = "is missing and the judged text is empty; pass the generations too, or add task ids"
    raise DataError.at(file, row.line, "task_id", problem)


def _scenario(
    file: str, rows: Sequence[JudgementRow], generation: GenerationRow | None, ids: Ids
) -> UpstreamScenario:
    seen: dict[tuple[str, str, float], int] = {}
    for row in rows:
        if row.response != rows[0].response:
            problem = f"differs from row {rows[0].line} of the same dilemma; one reply each"
            raise DataError.at(file, row.line, "response", problem)
        first = seen.setdefault((row.criterion_id, row.criterion, row.criterion_weight), row.line)
        if first != row.line:
            # a file that was begun with fewer dilemmas and then resumed looks like this
            problem = f"was judged in row {first} already; remove one of the two"
            raise DataError.at(file, row.line, "criterion_id", problem)
    match = _matched(file, rows, generation.criteria) if generation else _numbered(file, rows)
    return UpstreamScenario(
        id=_sample_id(rows[0].task_id, rows[0], generation, ids),
        epoch=rows[0].epoch,
        rows=tuple(rows),
        row_criteria=tuple(match[0]),
        generation=generation,
        criteria=tuple(match[1]),
    )


def _matched(
    file: str, rows: Sequence[JudgementRow], rubric: Sequence[Criterion]
) -> tuple[list[str], Sequence[Criterion]]:
    free: dict[tuple[str, float], list[str]] = {}
    for c in rubric:
        free.setdefault((c.text, c.weight), []).append(c.id)
    found = []
    for row in rows:
        names = free.get((row.criterion, row.criterion_weight), [])
        if not names and row.criterion_weight:
            problem = "its text or weight is not in this dilemma's rubric in the generation file"
            raise DataError.at(file, row.line, "criterion", problem)
        found.append(names.pop(0) if names else "")
    return found, rubric


def _numbered(file: str, rows: Sequence[JudgementRow]) -> tuple[list[str], Sequence[Criterion]]:
    read = [row.as_criterion() for row in rows]
    counted = [c for c in read if c.weight != 0]
    ids = distinct([c.id for c in counted])
    criteria = [c.model_copy(update={"id": n}) for c, n in zip(counted, ids, strict=True)]
    left = iter(ids)
    found = ["" if c.weight == 0 else next(left) for c in read]
    if not criteria:
        raise DataError.at(file, rows[0].line, "criterion_weight", "is 0 in all rows of a dilemma")
    return found, criteria


def _unjudged(generation: GenerationRow, ids: Ids) -> UpstreamScenario:
    name = _sample_id(generation.task_id, generation, generation, ids)
    return UpstreamScenario(name, generation.epoch, (), (), generation, generation.criteria)


def _sample_id(
    task_id: str | None,
    row: JudgementRow | GenerationRow,
    generation: GenerationRow | None,
    ids: Ids,
) -> str:
    if task_id is not None and not (generation and ids == "dilemma"):
        return task_id.removesuffix(f"#{row.epoch}")
    if generation:
        stem = "public" if generation.theory == NEUTRAL else "theory"
        return stable_id(stem, generation.dilemma, generation.theory)
    text = row.response if isinstance(row, JudgementRow) else ""
    return f"text-{hashlib.sha256((text or '').encode()).hexdigest()[:10]}"


def _place(scenario: UpstreamScenario) -> tuple[int, int]:
    g = scenario.generation
    if g is None:
        return (0, scenario.rows[0].line)
    return (g.line if g.idx is None else g.idx, g.line)


def _distinct(found: Sequence[UpstreamScenario]) -> list[UpstreamScenario]:
    # the second of an id is the same sample in every epoch, and none that has a name already
    times: Counter[tuple[str, int]] = Counter()
    used = {s.id for s in found}
    names: dict[tuple[str, int], str] = {}
    out = []
    for s in found:
        times[s.id, s.epoch] += 1
        n = times[s.id, s.epoch]
        if n > 1 and (s.id, n) not in names:
            names[s.id, n] = distinct([s.id] * n, taken=used)[-1]
            used.add(names[s.id, n])
        out.append(replace(s, id=names[s.id, n]) if n > 1 else s)
    return out
