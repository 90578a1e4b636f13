"""MoReBench data as Inspect sees them: choose a source, filter, turn rows into Samples."""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample

from moral_evals.loaders.errors import DataError, OptionError, listing
from moral_evals.loaders.files import read_bytes
from moral_evals.loaders.morebench import hub, published
from moral_evals.loaders.morebench.csv_rows import UnknownColumns, read_csv
from moral_evals.loaders.morebench.jsonl import read_jsonl
from moral_evals.loaders.morebench.records import (
    NEUTRAL,
    NO_OWN_NAMES,
    THEORIES,
    OwnNames,
    Scenario,
    source_group,
    theory_name,
)
from moral_evals.loaders.options import flag, text, texts
from moral_evals.loaders.paths import bundled, local_file

logger = logging.getLogger(__name__)

ALL = "all"


@dataclass(frozen=True)
class Variant:
    """One of the two benchmarks: its files and which rows belong to it."""

    name: str
    hub_file: str
    sample_file: str
    theories: tuple[str, ...]


MOREBENCH = Variant("morebench", "morebench_public.csv", "dilemmas.jsonl", (NEUTRAL,))
MOREBENCH_THEORY = Variant(
    "morebench_theory", "morebench_theory.csv", "theory_dilemmas.jsonl", THEORIES
)


@dataclass(frozen=True)
class Filters:
    """Row filters of a task; each is one text, a list of texts, or `all`.

    `all` is spelt out because a `None` reaches a task where a user meant something else
    (`-T theory=$UNSET`), and must not widen the run.
    """

    role: Any = ALL
    source: Any = ALL
    type: Any = ALL
    context: Any = ALL
    theory: Any = ALL


@dataclass(frozen=True)
class Loaded:
    """Scenarios of a task, where they come from (for the log), and the user's own dimensions."""

    scenarios: list[Scenario]
    provenance: dict[str, Any]
    dimensions: tuple[str, ...] = ()

    def dataset(self) -> MemoryDataset:
        """The Samples in natural order, so that the runner's shuffle and limit do their work."""
        return MemoryDataset(
            [
                Sample(id=s.id, input=s.dilemma, metadata=s.metadata(self.dimensions))
                for s in self.scenarios
            ],
            name=str(self.provenance["file"]),
            location=str(self.provenance["file"]),
        )


def load(
    variant: Variant,
    data: Any = "hub",
    revision: Any = hub.REVISION,
    filters: Filters | None = None,
    allow_columns: Any = False,
    own: OwnNames = NO_OWN_NAMES,
) -> Loaded:
    """Read a benchmark's scenarios from the hub, a file or the bundled sample.

    Args:
        variant: MOREBENCH or MOREBENCH_THEORY.
        data: `hub`, `sample`, or the path of a .csv (upstream's format) or .jsonl file.
        revision: Commit, tag or branch of the hub repository; only with `hub`.
        filters: Which rows to keep.
        allow_columns: Pass over columns of a .csv that are not known, in place of a refusal.
        own: Names of the user's own that the rows may hold.

    Raises:
        SuiteError: Wrong option, unreachable data, or a bad row, in one line.
    """
    data = text("data", data, "path/to/file.csv")
    revision = text("revision", revision, "0123abc")
    if revision != hub.REVISION and data != "hub":
        raise OptionError("-T revision= names a commit of the hub; use it with -T data=hub.")
    allowed: UnknownColumns = "allow" if flag("allow_columns", allow_columns) else "refuse"
    path, commit = _locate(variant, data, revision)
    everything = _read(path, "warn" if data == "hub" else allowed, own)
    wanted = (*variant.theories, *own.theories)
    scenarios = [s for s in everything if s.theory in wanted]
    if not scenarios:
        raise DataError(
            f"{path.name}: none of its {len(everything)} rows belongs to {variant.name} "
            f"(theory {listing(wanted)})."
        )
    content = read_bytes(path)
    differences = published.differences(path.name, content, everything) if data == "hub" else []
    if differences:
        logger.warning(published.warning(path.name, commit, differences))
    provenance = {
        "data": "hub" if data == "hub" else "sample" if data == "sample" else "file",
        "file": path.name,
        "repository": hub.REPOSITORY if data == "hub" else "",
        "commit": commit,
        "sha256": hashlib.sha256(content).hexdigest(),
        "differs_from_published": differences,
        "scenarios_in_file": len(scenarios),
    }
    kept = _filtered(scenarios, filters or Filters())
    provenance["scenarios"] = len(kept)
    provenance["criteria"] = sum(len(s.criteria) for s in kept)
    return Loaded(kept, provenance, own.dimensions)


def _locate(variant: Variant, data: str, revision: str) -> tuple[Path, str]:
    if data == "hub":
        found = hub.fetch(variant.hub_file, revision)
        return found.path, found.commit
    if data == "sample":
        return bundled("morebench_sample") / variant.sample_file, ""
    return local_file("data", data, ("hub", "sample")), ""


def _read(path: Path, unknown: UnknownColumns, own: OwnNames) -> list[Scenario]:
    readers: dict[str, Callable[[], list[Scenario]]] = {
        ".csv": lambda: read_csv(path, unknown, own),
        ".jsonl": lambda: read_jsonl(path, own),
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise OptionError(f"-T data={path}: the name must end in {' or '.join(readers)}.")
    scenarios = reader()
    if not scenarios:
        raise DataError(f"{path.name}: has no rows.")
    return scenarios


def _filtered(scenarios: list[Scenario], filters: Filters) -> list[Scenario]:
    # each filter names the labels of a row that it may match
    labels: dict[str, Callable[[Scenario], set[str]]] = {
        "role": lambda s: {s.role},
        "source": lambda s: {s.source, source_group(s.source)},
        "type": lambda s: {s.type},
        "context": lambda s: {s.context},
        "theory": lambda s: {s.theory},
    }
    kept = scenarios
    for name, label in labels.items():
        wanted = getattr(filters, name)
        if wanted == ALL:
            continue
        present = sorted({v for s in scenarios for v in label(s)} - {""})
        values = {_known(name, value, present) for value in texts(name, wanted, "text")}
        kept = [s for s in kept if label(s) & values]
    if not kept:
        chosen = {k: v for k, v in vars(filters).items() if v != ALL}
        raise OptionError(f"no dilemma passes the filters {chosen} together.")
    return kept


def _known(name: str, value: str, present: list[str]) -> str:
    wanted = (theory_name(value) or value) if name == "theory" else " ".join(value.split())
    for label in present:
        if label.casefold() == wanted.casefold():
            return label
    raise OptionError(f"-T {name}={value!r}: allowed are {listing([ALL, *present])}.")
