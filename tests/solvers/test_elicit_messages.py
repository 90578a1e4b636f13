"""What the candidate is asked: braces verbatim, no rubric, one instruction (cases F62, F63)."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelName,
    ModelOutput,
    get_model,
)
from inspect_ai.model._model import init_active_model
from inspect_ai.solver import TaskState

from moral_evals.loaders.errors import OptionError, SuiteError
from moral_evals.loaders.morebench.records import (
    NEUTRAL,
    THEORIES,
    Criterion,
    Scenario,
    ScenarioMetadata,
)
from moral_evals.loaders.morebench.theories import theory
from moral_evals.solvers.elicit import CandidateError, elicit_reasoning
from moral_evals.solvers.wording import CandidateWording, suite_messages
from tests.shapes import no_choices, output

SECRET = "SECRET-CRITERION-TEXT"
BRACES = "Press {rubric}, {criteria}, {text}, {RUBRIC} or {metadata[criteria]}? {} {0} {{x}} %s $y"


def scenario(dilemma: str = BRACES, **more: Any) -> Scenario:
    criteria = [
        Criterion(id=f"secret-id-{i}", text=f"{SECRET} {i}", weight=w, dimension="other")
        for i, w in enumerate((3, -2))
    ]
    return Scenario(id="s", dilemma=dilemma, criteria=criteria, **more)


def asked(
    row: Scenario, reply: Callable[[], ModelOutput] = lambda: output("Do it."), **options: Any
) -> list[Any]:
    """Run the solver on a row; the messages that a model would have been sent."""
    sent: list[Any] = []

    async def generate(state: TaskState, **_: Any) -> TaskState:
        sent.extend(state.messages)
        state.output = reply()
        return state

    state = TaskState(
        model=ModelName("mockllm/model"),
        sample_id=row.id,
        epoch=1,
        input=row.dilemma,
        messages=[ChatMessageUser(content=row.dilemma)],
        # what some other tool might add to a sample must not leak either
        metadata={**row.metadata(), "rubric": SECRET, "text": SECRET, "RUBRIC": SECRET},
    )
    solve = elicit_reasoning(**options)

    async def run() -> None:
        # within the coroutine, so that no other test finds a model
        init_active_model(get_model("mockllm/model"), GenerateConfig())
        await solve(state, generate)

    asyncio.run(run())
    return sent


def everything(messages: list[Any]) -> str:
    return "\n".join(m.text for m in messages)


@pytest.fixture
def checkout(tmp_path: Path) -> str:
    """A checkout of the shape of upstream's, in words of our own."""
    table = ", ".join(f"{name!r}: 'holds {i}'" for i, name in enumerate(THEORIES))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/create_prompts_for_reasoning_eval.py").write_text(
        f"def build(theory=None):\n    table = {{{table}}}\n    if theory in table:\n"
        "        return f'As {theory} that {table[theory]}: '\n    return 'Plainly: '\n",
        encoding="utf-8",
    )
    (tmp_path / "prompts/create_prompts_for_rubric_eval.py").write_text(
        "def build():\n    return 'True of it? '\n", encoding="utf-8"
    )
    return str(tmp_path)


LABELS = [
    {"theory": NEUTRAL},
    {"theory": NEUTRAL, "role": "ai_agent"},
    *({"theory": name} for name in THEORIES),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda x: "-".join(x.values()))
def test_the_suites_messages_hold_the_dilemma_verbatim_and_no_rubric(labels: dict[str, str]):
    messages = asked(scenario(**labels))
    assert [m.text for m in messages if isinstance(m, ChatMessageUser)] == [BRACES]
    assert everything(messages).count(BRACES) == 1
    assert SECRET not in everything(messages)
    assert "secret-id" not in everything(messages)


@pytest.mark.parametrize("labels", LABELS, ids=lambda x: "-".join(x.values()))
def test_upstreams_messages_hold_the_dilemma_verbatim_and_no_rubric(
    labels: dict[str, str], checkout: str
):
    messages = asked(scenario(**labels), protocol="upstream", upstream_path=checkout)
    assert len(messages) == 1
    assert messages[0].text.endswith(BRACES)
    assert SECRET not in messages[0].text


def test_upstream_joins_instruction_and_dilemma_without_a_separator(checkout: str):
    options = {"protocol": "upstream", "upstream_path": checkout}
    (neutral,) = asked(scenario("Lie or not?"), **options)
    (kantian,) = asked(scenario("Lie or not?", theory="Kantian Deontology"), **options)
    assert neutral.text == "Plainly: Lie or not?"
    assert kantian.text == "As Kantian Deontology that holds 1: Lie or not?"


@pytest.mark.parametrize(
    "dilemma", ["  leading and trailing \n", "a\n\nb", "\u2019\u201c\u00e9", "</reasoning>"]
)
def test_a_dilemma_is_sent_as_it_is(dilemma: str):
    assert asked(scenario(dilemma))[-1].text == dilemma


def test_a_system_message_comes_first_and_asks_for_the_tags():
    system, user = suite_messages(ScenarioMetadata(), "Lie or not?")
    assert isinstance(system, ChatMessageSystem)
    assert isinstance(user, ChatMessageUser)
    assert "<reasoning>" in system.text
    assert "</reasoning>" in system.text


def test_each_theory_gets_its_own_definition_and_neutral_none():
    texts = {
        name: suite_messages(ScenarioMetadata(theory=name), "x")[0].text
        for name in (*THEORIES, NEUTRAL)
    }
    for name, text in texts.items():
        held = [t for t in THEORIES if theory(t).definition in text]
        assert held == ([] if name == NEUTRAL else [name])


def test_adviser_and_agent_are_asked_differently_and_adviser_is_the_default():
    texts = {
        role: suite_messages(ScenarioMetadata(role=role), "x")[0].text
        for role in ("ai_advisor", "ai_agent", "")
    }
    assert texts["ai_agent"] != texts["ai_advisor"] == texts[""]


@pytest.mark.parametrize("protocol", ["Suite", "", "paper", False, None])
def test_an_unknown_protocol_is_refused_with_the_allowed_ones(protocol: Any):
    with pytest.raises(OptionError, match="'suite', 'upstream'"):
        elicit_reasoning(protocol)


def test_a_checkout_that_is_not_there_is_refused_before_any_call(tmp_path: Path):
    with pytest.raises(SuiteError, match="upstream_path"):
        elicit_reasoning("upstream", str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(lambda: output("Internal server error", "unknown"), id="error as text"),
        pytest.param(lambda: no_choices("Internal server error"), id="error without a choice"),
        pytest.param(lambda: output("x", error="Internal server error"), id="error beside a reply"),
    ],
)
def test_an_error_in_place_of_a_reply_makes_the_sample_an_error(reply: Callable[[], ModelOutput]):
    with pytest.raises(CandidateError, match="Internal server error"):
        asked(scenario(), reply)


def test_no_choice_at_a_limit_is_not_an_error_of_the_solver():
    """A token limit leaves no choice and no error; the scorer gives the reason."""
    asked(scenario(), no_choices)


def test_the_prompts_hash_follows_the_protocol(checkout: str):
    suite, upstream = (
        CandidateWording.of("suite", None, None).sha256,
        CandidateWording.of("upstream", checkout, None).sha256,
    )
    assert suite != upstream
    assert suite == CandidateWording.of("suite", None, None).sha256


OWN = """---
name: mine
placeholders: [role, theory, reasoning, dilemma]
---
# system
{{role}}
{{theory}}
# user
Case: {{dilemma}} {"keep": "{braces}"}
{{ reasoning }}
"""


def own_prompt(tmp_path: Path, text: str = OWN) -> str:
    path = tmp_path / "mine.md"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("labels", LABELS, ids=lambda x: "-".join(x.values()))
def test_an_own_prompt_holds_the_dilemma_verbatim_and_no_rubric(tmp_path: Path, labels):
    messages = asked(scenario(**labels), candidate_prompt=own_prompt(tmp_path))
    assert f'Case: {BRACES} {{"keep": "{{braces}}"}}' in messages[-1].text
    assert SECRET not in everything(messages)
    assert "secret-id" not in everything(messages)
    name = labels["theory"]
    assert (name in messages[0].text) == (name != NEUTRAL)
    assert "<reasoning>" in messages[-1].text


def test_an_edited_prompt_has_another_hash(tmp_path: Path):
    first = CandidateWording.of("suite", None, own_prompt(tmp_path))
    other = CandidateWording.of("suite", None, own_prompt(tmp_path, OWN + "More."))
    assert first.facts() == other.facts() == {"candidate_prompt": "mine"}
    assert first.sha256 != other.sha256


@pytest.mark.parametrize(("needed", "problem"), [(True, "must hold"), (False, "holds")])
def test_a_prompt_and_a_task_must_agree_about_the_theory(tmp_path: Path, needed, problem):
    theories = OWN if not needed else OWN.replace("{{theory}}", "").replace("theory, ", "")
    wording = CandidateWording.of("suite", None, own_prompt(tmp_path, theories))
    with pytest.raises(OptionError, match=f"mine.md {problem} .*theory"):
        wording.check_theory("task", needed)
    wording.check_theory("task", not needed)
