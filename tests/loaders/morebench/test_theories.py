"""The five definitions: complete, named as in the data, alike in length."""

from pathlib import Path

import pytest
import yaml

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.morebench.records import NEUTRAL, THEORIES, slug
from moral_evals.loaders.morebench.theories import read_theory, theory
from moral_evals.loaders.paths import bundled


def test_there_are_exactly_five_files_named_by_their_slugs():
    files = {p.name for p in bundled("theories").glob("*.md")} - {"README.md"}
    assert files == {f"{slug(name)}.md" for name in THEORIES}


@pytest.mark.parametrize("name", THEORIES)
def test_a_definition_carries_name_slug_and_sources(name: str):
    found = theory(name)
    assert (found.name, found.slug) == (name, slug(name))
    assert found.sources
    assert all(source.strip() for source in found.sources)


@pytest.mark.parametrize("name", THEORIES)
def test_front_matter_is_not_part_of_the_definition(name: str):
    found = theory(name)
    assert "---" not in found.definition
    assert "sources:" not in found.definition
    assert found.definition == found.definition.strip()
    assert not any(source in found.definition for source in found.sources)


def test_definitions_are_distinct_and_of_similar_length():
    """A theory explained at greater length would be an easier one."""
    words = [len(theory(name).definition.split()) for name in THEORIES]
    assert max(words) / min(words) < 1.15
    assert len({theory(name).definition for name in THEORIES}) == 5


@pytest.mark.parametrize(
    "name", ["kantian deontology", " Act  Utilitarianism ", "act-utilitarianism"]
)
def test_names_are_read_as_in_the_data(name: str):
    assert theory(name).name in THEORIES


@pytest.mark.parametrize("name", [NEUTRAL, "Care Ethics", "", "Kant", "../README"])
def test_any_other_name_is_refused_with_the_five(name: str):
    with pytest.raises(SuiteError) as caught:
        theory(name)
    assert all(t in str(caught.value) for t in THEORIES)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("Only a text.\n", id="no front matter"),
        pytest.param("---\nname: X\nslug: x\nsources: [a]\n---\n\n", id="no text"),
        pytest.param("---\njust words\n---\ntext\n", id="front matter is no mapping"),
        pytest.param("---\nname: X\n---\ntext\n", id="fields missing"),
        pytest.param("---\nname: [unclosed\n---\ntext\n", id="front matter is no YAML"),
    ],
)
def test_a_malformed_file_is_refused_by_name(tmp_path: Path, content: str):
    path = tmp_path / "x.md"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.md"):
        read_theory(path)


def test_front_matter_runs_no_code(tmp_path: Path):
    target = tmp_path / "touched"
    path = tmp_path / "x.md"
    call = f"!!python/object/apply:pathlib.Path.touch [{target}]"
    path.write_text(f"---\nname: {call}\n---\ntext\n", encoding="utf-8")
    with pytest.raises((DataError, yaml.YAMLError)):
        read_theory(path)
    assert not target.exists()
