"""A malformed input, and what writes its file."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HALF = "half \ud83d here"


@dataclass(frozen=True)
class Case:
    """One input; `words` is empty where the file must be accepted."""

    kind: str
    fault: str
    path: Path
    read: Callable[[Path], Any]
    words: tuple[str, ...] = field(default=())


def rubric_item(k: int) -> dict[str, Any]:
    return {"id": f"c{k}", "title": f"Weighs {k}.", "weight": 2,
            "annotations": {"rubric_dimension": "identifying"}}  # fmt: skip


class Writer:
    """Numbers the folders, so that every case has a file of its own with its kind's name."""

    def __init__(self, folder: Path, kind: str, name: str, read: Callable[[Path], Any]) -> None:
        self.folder, self.kind, self.name, self.read = folder / kind, kind, name, read
        self.count = 0

    def __call__(self, fault: str, content: str | bytes, *words: str) -> Case:
        self.count += 1
        path = self.folder / str(self.count) / self.name
        path.parent.mkdir(parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        stem = (self.name,) if words else ()
        return Case(self.kind, fault, path, self.read, (*stem, *words))
