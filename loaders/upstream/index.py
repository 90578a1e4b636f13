"""Which generation row a judgement row belongs to: the published data give dilemmas no id."""

from collections.abc import Sequence

from moral_evals.loaders.errors import DataError
from moral_evals.loaders.upstream.rows import GenerationRow, JudgementRow


class GenerationIndex:
    """Generation rows by the ids of their criteria, and by task where both files name it.

    Attributes:
        given: Whether there is a generation file at all.
    """

    def __init__(self, generations: Sequence[GenerationRow] | None) -> None:
        """Index the rows; None if no generation file was given."""
        self.given = generations is not None
        self._by_criterion: dict[tuple[str, int], list[GenerationRow]] = {}
        for g in generations or ():
            for c in g.criteria:
                self._by_criterion.setdefault((c.id, g.epoch), []).append(g)

    def of(self, row: JudgementRow) -> list[GenerationRow]:
        """The generation rows that a judgement may belong to."""
        found = self._by_criterion.get((row.criterion_id, row.epoch), [])
        same = [g for g in found if g.task_id is not None and g.task_id == row.task_id]
        return same or found

    def of_group(self, file: str, group: Sequence[JudgementRow]) -> GenerationRow | None:
        """The generation row of all judgements of a dilemma; None without a generation file.

        Raises DataError if there is none, or more than one.
        """
        if not self.given:
            return None
        found = self.of(group[0])
        for row in group:
            own = self.of(row)
            found = [g for g in found if any(g is other for other in own)]
            if not found:
                problem = "belongs to no row of the generation file, or not to that of its dilemma"
                raise DataError.at(file, row.line, "criterion_id", problem)
        if len(found) > 1:
            lines = ", ".join(str(g.line) for g in found)
            problem = f"fits rows {lines} of the generation file; give both files a task id"
            raise DataError.at(file, group[0].line, "criterion_id", problem)
        return found[0]
