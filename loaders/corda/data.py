"""CORDA data as the task sees them: the bundled chains, a file, or a public set by adapter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from moral_evals.loaders.corda.adapters import read_mmds, read_moralchoice, read_value_map
from moral_evals.loaders.corda.chains import TIERS, Chain, read_chains
from moral_evals.loaders.errors import OptionError
from moral_evals.loaders.files import file_sha256
from moral_evals.loaders.options import text
from moral_evals.loaders.paths import bundled, local_file


@dataclass(frozen=True)
class LoadedChains:
    """Chains of a run and where they come from, the latter for the log."""

    chains: list[Chain]
    provenance: dict[str, Any]


def load_chains(data: Any, value_map: Any, tier_order: Sequence[str] = TIERS) -> LoadedChains:
    """Read chains from the bundled file, a JSONL, or a public set in its published layout.

    Args:
        data: `sample`, or a path ending in .jsonl (`corda-1`), .json (MMDs) or .csv (MoralChoice).
        value_map: Path of a JSON file from value labels to tiers, or `none`.
        tier_order: Tier names of the run; files may use these and the default ones.

    Raises:
        SuiteError: Wrong option or a bad record, in one line.
    """
    data, value_map = text("data", data, "chains.jsonl"), text("value_map", value_map, "map.json")
    names = tuple(dict.fromkeys((*tier_order, *TIERS)))
    path = (
        bundled("corda") / "chains.jsonl"
        if data == "sample"
        else local_file("data", data, ("sample",))
    )
    map_path = None if value_map == "none" else local_file("value_map", value_map)
    mapping = read_value_map(map_path, names) if map_path else None
    readers: dict[str, Callable[[], list[Chain]]] = {
        ".jsonl": lambda: read_chains(path, names),
        ".json": lambda: read_mmds(path, mapping),
        ".csv": lambda: read_moralchoice(path),
    }
    if path.suffix.lower() not in readers:
        raise OptionError(f"-T data={data}: the name must end in {', '.join(readers)}.")
    chains = readers[path.suffix.lower()]()
    return LoadedChains(
        chains,
        {
            "data": "sample" if data == "sample" else "file",
            "file": path.name,
            "sha256": file_sha256(path),
            "chains_in_file": len(chains),
            "value_map": file_sha256(map_path)[:16] if map_path else "",
        },
    )
