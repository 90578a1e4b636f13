"""Files that appear all at once, or not at all."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from moral_evals.loaders.errors import SuiteError


class Staged:
    """Files written beside their places and moved there together at the end.

    An error on the way leaves what was there before. Raises SuiteError for a file that exists
    (unless `overwrite`) or that cannot be written.
    """

    def __init__(self, overwrite: bool = False) -> None:
        """Begin without any file."""
        self._overwrite = overwrite
        self._files: dict[Path, Path] = {}
        self._stale: list[Path] = []

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
                for target, part in self._files.items():
                    os.replace(part, target)
                for target in self._stale:
                    target.unlink(missing_ok=True)
        finally:
            for part in self._files.values():
                part.unlink(missing_ok=True)

    def check(self, target: Path) -> None:
        """Raise SuiteError if a file may not be written."""
        if target.exists() and not self._overwrite:
            raise SuiteError(f"{target}: exists already; say --overwrite to replace it.")

    def remove(self, target: Path) -> None:
        """Remove a file at the end, if it is there."""
        self._stale.append(target)

    def lines(
        self, target: Path, objects: Iterable[dict[str, Any]], *, ascii_only: bool = False
    ) -> int:
        """Write one JSON object a line; returns their number."""
        count = 0

        def texts() -> Iterable[str]:
            nonlocal count
            for value in objects:
                count += 1
                yield json.dumps(value, ensure_ascii=ascii_only) + "\n"

        self.text(target, texts())
        return count

    def text(self, target: Path, parts: Iterable[str]) -> None:
        """Write a text, given in parts."""
        self.check(target)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        self._files[target] = part
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(parts)
        except OSError as error:
            problem = error.strerror or error
            raise SuiteError(f"{target}: cannot be written ({problem}).") from error
