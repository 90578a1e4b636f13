"""Whether a judge is the candidate itself, or a model of the same maker: such judges favour it.

A family is told by names alone: by words of the model's name that makers use for theirs (`gpt`,
`claude`, `qwen`), else by the organisation before it (`hf/ORG/NAME`).
Through whom a model is served (`openrouter/`, `groq/`, `hf/`) says nothing. A distilled model
belongs to both of its makers. Models for tests are nobody's kin.
"""

import re
from collections.abc import Sequence
from functools import cache
from logging import getLogger
from typing import Literal

logger = getLogger(__name__)

Kinship = Literal["", "same model", "same family"]

_MAKERS = {
    "openai": "gpt chatgpt o1 o3 o4 codex davinci openai",
    "anthropic": "claude anthropic",
    "google": "gemini gemma palm learnlm google deepmind",
    "meta": "llama meta muse",
    "alibaba": "qwen qwq qvq tongyi alibaba",
    "deepseek": "deepseek",
    "mistral": "mistral mixtral magistral ministral codestral devstral pixtral mistralai",
    "xai": "grok xai",
    "moonshot": "kimi moonshot moonshotai",
    "zhipu": "glm chatglm zhipu zai",
    "cohere": "command aya c4ai cohere coherelabs",
    "microsoft": "phi microsoft",
    "amazon": "nova titan amazon",
    "nvidia": "nemotron nvidia",
    "ibm": "granite ibm",
    "ai21": "jamba ai21",
    "minimax": "minimax abab",
    "tencent": "hunyuan tencent",
    "baidu": "ernie baidu",
    "bytedance": "seed doubao bytedance",
    "allenai": "olmo tulu allenai",
    "nous": "hermes nous nousresearch",
    "huggingface": "smollm huggingfacetb",
    "01ai": "yi",
    "tii": "falcon",
    "upstage": "solar upstage",
    "lg": "exaone",
    "reka": "reka",
    "perplexity": "sonar perplexity",
    "stepfun": "stepfun",
    "xiaomi": "mimo xiaomi",
    "shanghai": "internlm internvl",
}
_MAKER_OF = {word: maker for maker, words in _MAKERS.items() for word in words.split()}
_TEST_PROVIDERS = ("mockllm", "scripted", "none")


def kinship(candidate: str, judge: str) -> Kinship:
    """How a judge is related to the candidate.

    Args:
        candidate: Its name as Inspect has it, PROVIDER/MODEL.
        judge: Likewise; a number for a second seat (`MODEL #2`) is passed over.
    """
    judge = judge.partition(" #")[0]
    if candidate.partition("/")[0] in _TEST_PROVIDERS or judge.partition("/")[0] in _TEST_PROVIDERS:
        return ""
    if _plain(candidate) == _plain(judge):
        return "same model"
    return "same family" if _families(candidate) & _families(judge) else ""


def kin(candidate: str, judges: Sequence[str]) -> list[str]:
    """A sentence for each judge that is related to the candidate."""
    return [
        f"The judge {judge} is {_SAID[found]}: such judges favour it, so read no score as a "
        "comparison before another judge agrees (`moral-reports judgings`)."
        for judge in dict.fromkeys(j.partition(" #")[0] for j in judges)
        if (found := kinship(candidate, judge))
    ]


_SAID = {"same model": "the candidate itself", "same family": "of the candidate's family"}


@cache
def warn_of_kin(candidate: str, judges: tuple[str, ...]) -> None:
    """Say it in a run's output, once for each candidate and panel."""
    for sentence in kin(candidate, judges):
        logger.warning("%s (candidate %s)", sentence, candidate)


def _plain(name: str) -> str:
    """The model's own name: without who serves it, without a tariff such as `:free`."""
    return name.lower().rpartition("/")[2].partition(":")[0]


def _families(name: str) -> set[str]:
    *before, own = name.lower().removeprefix("openai-api/").split("/")
    # a fine-tuned model's name: ft:BASE:ORG::ID
    words = _words(own.removeprefix("ft:").partition(":")[0])
    if found := _makers(words):
        return found
    # the first part is who serves it, which is the maker too where nothing stands between
    organisation = before[1:] or before
    return _makers(_words("-".join(organisation))) or set(before[1:])


def _words(text: str) -> list[str]:
    parts = re.split(r"[^a-z0-9]+", text)
    # `qwen3`, `phi4`, `glm45`: a version may stand at the word itself; `o3` is a word
    return [p if p in _MAKER_OF else p.rstrip("0123456789") or p for p in parts if p]


def _makers(words: Sequence[str]) -> set[str]:
    return {_MAKER_OF[w] for w in words if w in _MAKER_OF}
