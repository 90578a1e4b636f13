"""A judge that is the candidate, or of its maker, is never passed over in silence; E 48."""

import pytest

from moral_evals.inspect_tasks import morebench
from moral_evals.reports.__main__ import main
from moral_evals.scorers.kinship import kinship, warn_of_kin
from tests.cases import one_case
from tests.mocks import always, run, thinking


@pytest.mark.parametrize(
    ("candidate", "judge"),
    [
        ("openai/gpt-5", "openrouter/openai/gpt-5"),
        ("openrouter/deepseek/deepseek-r1:free", "openrouter/deepseek/deepseek-r1"),
        ("anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5 #2"),
        ("openai-api/stub/one", "openai-api/stub/one"),
    ],
)
def test_the_same_model(candidate, judge):
    assert kinship(candidate, judge) == "same model"


@pytest.mark.parametrize(
    ("candidate", "judge"),
    [
        ("openai/gpt-4o", "openai/gpt-5-mini"),
        ("openai/o3", "openrouter/openai/gpt-oss-120b"),
        ("groq/openai/gpt-oss-20b", "openai/gpt-5"),
        ("openai/ft:gpt-4o-mini:acme::abc", "azureai/gpt-4.1"),
        ("anthropic/claude-opus-4-1", "openrouter/anthropic/claude-3.5-haiku"),
        ("bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic/claude-opus-4-1"),
        ("google/gemini-2.5-pro", "ollama/gemma3:27b"),
        ("together/meta-llama/Llama-3.3-70B-Instruct-Turbo", "groq/llama-3.1-8b-instant"),
        ("hf/Qwen/Qwen3-32B", "openrouter/qwen/qwq-32b"),
        ("openrouter/deepseek/deepseek-r1-distill-llama-70b", "groq/llama-3.3-70b-versatile"),
        ("openrouter/deepseek/deepseek-r1-distill-llama-70b", "deepseek/deepseek-chat"),
        ("mistral/mistral-large-latest", "openrouter/mistralai/mixtral-8x22b-instruct"),
        ("grok/grok-4", "openrouter/x-ai/grok-3-mini"),
        ("openrouter/moonshotai/kimi-k2", "together/moonshotai/Kimi-K2-Thinking"),
        ("openrouter/z-ai/glm-4.6", "hf/zai-org/GLM-4.5-Air"),
        ("openrouter/microsoft/phi-4", "ollama/phi3"),
        ("hf/tiiuae/Falcon3-7B", "hf/tiiuae/falcon-40b"),
        ("hf/acme/otter-7b", "vllm/acme/weasel-1b"),
        ("openrouter/nvidia/llama-3.3-nemotron-super-49b", "hf/meta-llama/Llama-3.1-8B"),
    ],
)
def test_the_same_family(candidate, judge):
    assert kinship(candidate, judge) == kinship(judge, candidate) == "same family"


@pytest.mark.parametrize(
    ("candidate", "judge"),
    [
        ("openai/gpt-5", "anthropic/claude-opus-4-1"),
        ("groq/llama-3.3-70b-versatile", "groq/openai/gpt-oss-120b"),
        ("openrouter/deepseek/deepseek-r1", "openrouter/qwen/qwen3-32b"),
        ("openrouter/google/gemini-2.5-pro", "openrouter/openai/gpt-5"),
        ("together/deepseek-ai/DeepSeek-V3", "together/Qwen/Qwen3-32B"),
        ("openai-api/stub/candidate", "openai-api/stub/judge"),
        ("openai-api/lab/model-a", "openai-api/lab/model-b"),
        ("mockllm/model", "mockllm/model"),
        ("scripted/uniform", "scripted/uniform"),
        ("mistral/mistral-small", "grok/grok-4"),
        ("hf/acme/otter-7b", "hf/umbra/weasel-1b"),
    ],
)
def test_no_kin_no_alarm(candidate, judge):
    assert kinship(candidate, judge) == kinship(judge, candidate) == ""


def test_the_run_and_every_report_say_it(tmp_path, caplog, capsys, monkeypatch):
    monkeypatch.setattr(
        "moral_evals.scorers.kinship._TEST_PROVIDERS", ()
    )  # two mock models, to stand for two of one name
    warn_of_kin.cache_clear()
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    reply = thinking("I weigh it.", "Go.")
    log = run(morebench(data=one_case(tmp_path, [1, -1])), always(reply), always("yes"))
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("moral_evals")]
    assert len([x for x in ours if "the candidate itself" in x]) == 1
    for command in (["show"], ["compare"]):
        assert main([*command, log.location]) == 0
        assert "is the candidate itself" in " ".join(capsys.readouterr().out.split())
    page = tmp_path / "page.html"
    assert main(["page", log.location, "--no-figures", "--out", str(page)]) == 0
    assert "is the candidate itself" in page.read_text(encoding="utf-8")
