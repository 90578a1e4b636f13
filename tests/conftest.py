"""Fixtures shared by all tests: no network, no shared cache, the real rows where they are."""

import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub library is first imported

import pytest
from inspect_ai.model import ModelUsage
from inspect_ai.model._providers.mockllm import MockLLM

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session", autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory):
    """Inspect's cache in a folder of its own, and no hub: tests must not reach out or mix."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSPECT_CACHE_DIR", str(tmp_path_factory.mktemp("inspect-cache")))
        for name in list(os.environ):
            if name.endswith("_API_KEY"):
                patch.delenv(name)
        patch.setattr(MockLLM, "_ensure_default_usage", _fixed_usage)
        yield


async def _fixed_usage(self, output, input, tools) -> None:
    # a mock output without usage makes Inspect download a tokenizer's vocabulary
    output.usage = output.usage or ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)


@pytest.fixture
def real_rows() -> Path:
    """Folder with 13 real MoReBench rows; they are not part of this repository."""
    folder = SHARED / "morebench_rows"
    if not folder.is_dir():
        pytest.skip(f"real MoReBench rows are not here ({folder})")
    return folder
