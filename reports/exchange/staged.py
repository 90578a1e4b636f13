"""Several files that appear together, or not at all."""

import json
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from moral_evals.loaders.errors import SuiteError
from moral_evals.loaders.files import PartFile, part_file
from moral_evals.loaders.remote import Place, RemotePart, exists, remove


class Staged:
    """Files written beside their places and moved there together at the end.

    An error on the way leaves what was there before. Raises SuiteError for a file that exists
    (unless `overwrite`) or that cannot be written.
    """

    def __init__(self, overwrite: bool = False) -> None:
        """Begin without any file."""
        self._overwrite = overwrite
        self._parts: list[PartFile | RemotePart] = []
        self._stale: list[Place] = []

    def __enter__(self) -> "Staged":
        """Start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Move the files to their places, or remove them after an error."""
        try:
            if error is None:
                for part in self._parts:
                    part.keep()
                for target in self._stale:
                    remove(target)
        finally:
            for part in self._parts:
                part.drop()

    def check(self, target: Place) -> None:
        """Raise SuiteError if a file may not be written."""
        if exists(target) and not self._overwrite:
            raise SuiteError(f"{target}: exists already; say --overwrite to replace it.")

    def remove(self, target: Place) -> None:
        """Remove a file at the end, if it is there."""
        self._stale.append(target)

    def lines(
        self, target: Place, objects: Iterable[dict[str, Any]], *, ascii_only: bool = False
    ) -> int:
        """Write one JSON object a line; returns their number."""
        part, count = self._part(target), 0
        for value in objects:
            part.write(json.dumps(value, ensure_ascii=ascii_only) + "\n")
            count += 1
        return count

    def whole(self, target: Place, content: str | bytes) -> None:
        """Write what is there in one piece."""
        self._part(target).write(content)

    def _part(self, target: Place) -> PartFile | RemotePart:
        self.check(target)
        part = part_file(target)
        self._parts.append(part)
        return part
