"""Thinking marks: one table of the dialects in which models set off their thinking from a reply.

Used for the candidate's, the judge's and CORDA's replies alike. The marks reach us where a server
has no parser for its model, or one for another model. Sources: the reasoning parsers that vLLM
and SGLang document for each model, and OpenAI's description of the harmony format.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NAME = (
    r"(?:think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection|cot|chain_of_thought|"
    r"inner_monologue)(?:_(?:process|trace|content))?"
)
_WORDS = {"think", "thinking", "thought", "thoughts", "reasoning", "analysis"}
_ENDING = {"end", "stop", "close"}

# (dialect, opening, closing); a group `name` tells marks apart that need not close each other
_DIALECTS = [
    # <think>, <thinking budget="low">, <seed:think>; Gemini's compatible endpoint has <thought>
    (
        "tag",
        rf"(?<!`)(?:<|&lt;)(?:[\w.-]{{1,30}}:)?(?P<tag>{_NAME})(?:\s[^<>]{{0,300}})?(?:>|&gt;)",
        rf"(?<!`)(?:<|&lt;)\s?/\s?(?:[\w.-]{{1,30}}:)?(?P<tag_end>{_NAME})\s?(?:>|&gt;)",
    ),
    # Mistral: [THINK] ... [/THINK]
    ("bracket", rf"\[(?P<bracket>{_NAME})\]", rf"\[/(?P<bracket_end>{_NAME})\]"),
    # Kimi: first release, then K3
    ("kimi", r"◁\s?(?P<kimi>think)\s?▷", r"◁\s?/\s?(?P<kimi_end>think)\s?▷"),
    (
        "kimi_k3",
        r"<\|open\|>\s?(?P<kimi_k3>think)\s?<\|sep\|>",
        r"<\|close\|>\s?(?P<kimi_k3_end>think)\s?<\|sep\|>",
    ),
    # Gemma: <|channel>thought ... <channel|>
    ("gemma", r"<\|channel>(?P<gemma>thought)\b", r"<channel\|>"),
    # Cohere: <|START_THINKING|> ... <|END_THINKING|>; others: <|begin_of_thought|>, <|/think|>
    ("pipe", r"<[|｜](?P<pipe>[\w▁/ -]{1,40})[|｜]>", r"(?!)"),
]
_MARK = re.compile(
    r"(?=<[\w/|｜\s]|&lt;|\[/?[a-z]|◁)(?:"
    + "|".join(
        rf"(?P<open_{d}>{opening})|(?P<close_{d}>{closing})" for d, opening, closing in _DIALECTS
    )
    + ")",
    re.IGNORECASE,
)

# harmony: <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...
_CHANNEL = re.compile(
    r"(?:(?:<\|start\|>\s?assistant\s?)?<\|channel\|>|<\|start\|>\s?assistant|\A\s?)\s?(?P<name>[a-z]{1,20})[^<]{0,100}"
    r"(?:<\|constrain\|>\s?\w{0,20}\s?)?<\|message\|>"
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# the same with its tokens stripped, so that roles and channel words stick to the text
_GLUED_START = re.compile(
    r"\s*(?:assistant)?(?:(?P<thought>analysis)(?=[^\W_])|(?P<other>commentary)(?=[A-Z]| ?to=)|"
    r"(?P<final>final)(?=[A-Z\d\[{*\"(<\\]))"
)
_GLUED_NEXT = re.compile(r"assistant\s?(?P<name>analysis|commentary|final)(?![a-z])")
_GLUED_FINAL = "assistantfinal"
_ANALYSIS = re.compile(r"\s*(?:assistant)?analysis\s")

# what servers leave around a reply: ends of text and turn, and the tags of the visible part
_CONTROL = re.compile(
    r"<\|(?:open|close)\|>\w{1,20}<\|sep\|>|<\|start\|>assistant<\|message\|>|"
    r"<[|｜][^<>\s|｜]{1,40}[|｜]>|</?(?:s|eos|bos|response|output|solution|end_of_turn)>|\[/?INST\]",
    re.IGNORECASE,
)


# after these a model that was not stopped invents the next turn
_TURN_END = re.compile(
    r"<\|(?:im_end|im_start|eot_id|end_of_text|endoftext|end|return)\|>|<｜end▁of▁sentence｜>|</s>|"
    r"<end_of_turn>"
)


@dataclass(frozen=True)
class Parts:
    """A text taken apart.

    Attributes:
        thought: Thinking in the model's own marks, blocks joined by a blank line.
        elicited: Reasoning in `<reasoning>` tags, which this suite's prompts ask for.
        response: The rest, without the tokens that servers leave at its ends.
        unclosed: Thinking (part of `thought` or `elicited`) whose end is not marked.
    """

    thought: str
    elicited: str
    response: str
    unclosed: str = ""


def split_thinking(text: str) -> Parts:
    """Tell thinking from response.

    A closing mark alone ends thinking that the chat template opened; an opening mark alone starts
    thinking that nothing follows. In harmony only the final channel is a response: a reply that
    never reaches it has none.
    """
    channels = list(_harmony(text)) or list(_glued(text))
    if not channels:
        return _split_marks(text)
    final = _split_marks("\n".join(body.strip() for name, body in channels if name == "final"))
    thought = _join([*(body for name, body in channels if name != "final"), final.thought])
    return Parts(thought, final.elicited, final.response, final.unclosed)


def _harmony(text: str) -> Iterator[tuple[str, str]]:
    """(channel, body) in order; a text before the first channel belongs to `analysis`."""
    headers = list(_CHANNEL.finditer(text))
    if not headers:
        if "<|channel|>" in text:
            yield "analysis", text.replace("<|channel|>", " ")
        return
    yield "analysis", _CONTROL.sub(" ", text[: headers[0].start()])
    starts = [h.start() for h in headers[1:]] + [len(text)]
    for header, stop in zip(headers, starts, strict=True):
        end = _CHANNEL_END.search(text, header.end(), stop)
        yield header["name"], text[header.end() : end.start() if end else stop]


def _glued(text: str) -> Iterator[tuple[str, str]]:
    start = _GLUED_START.match(text)
    tells = _ANALYSIS.match(text) and _GLUED_NEXT.search(text)
    if not (start or tells or _GLUED_FINAL in text):
        return
    name, at = "analysis", 0
    if start:
        name, at = "final" if start["final"] else "analysis", start.end()
    elif match := _ANALYSIS.match(text):
        at = match.end()
    for following in _GLUED_NEXT.finditer(text):
        yield name, text[at : following.start()]
        name, at = following["name"], following.end()
    yield name, text[at:]


@dataclass(frozen=True)
class _Mark:
    start: int
    end: int
    opens: bool
    key: tuple[str, str]

    @property
    def alone(self) -> bool:
        """Whether an opening counts without its end: "[Analysis]" may be a heading."""
        return self.key[0] != "bracket" or self.key[1] in ("think", "thinking")


def _marks(text: str) -> Iterator[_Mark]:
    for match in _MARK.finditer(text):
        dialect = str(match.lastgroup and _dialect(match))
        opens = match[f"open_{dialect}"] is not None
        if dialect != "pipe":
            named = match[dialect] if opens else match.groupdict().get(f"{dialect}_end")
            yield _Mark(match.start(), match.end(), opens, (dialect, (named or "thought").lower()))
            continue
        words = set(re.split(r"[\W_▁]+", match["pipe"].lower()))
        if words & _WORDS:
            ends = "/" in match["pipe"] or bool(words & _ENDING)
            yield _Mark(match.start(), match.end(), not ends, (dialect, ""))


def _dialect(match: re.Match[str]) -> str:
    return next(d for d, _, _ in _DIALECTS if match[f"open_{d}"] or match[f"close_{d}"])


def _split_marks(text: str) -> Parts:
    marks = list(_marks(text))
    closings: dict[tuple[str, str], list[int]] = {}
    any_closing = [i for i, m in enumerate(marks) if not m.opens]
    for i in any_closing:
        closings.setdefault(marks[i].key, []).append(i)
    blocks: list[tuple[tuple[str, str], str]] = []
    shown: list[str] = []
    unclosed, at, i = "", 0, 0
    while i < len(marks):
        mark = marks[i]
        if not mark.opens:
            # all that came before was thinking, which the chat template had opened
            blocks.append((mark.key, "\n".join([*shown, text[at : mark.start]])))
            shown, at, i = [], mark.end, i + 1
            continue
        close = _after(closings.get(mark.key, []), i)
        close = _after(any_closing, i) if close is None and mark.alone else close
        if close is None and not mark.alone:
            i += 1
            continue
        shown.append(text[at : mark.start])
        if close is None:
            unclosed, at, i = text[mark.end :].strip(), len(text), len(marks)
            blocks.append((mark.key, unclosed))
        else:
            blocks.append((mark.key, text[mark.end : marks[close].start]))
            at, i = marks[close].end, close + 1
    shown.append(text[at:])
    elicited = ("tag", "reasoning")
    return Parts(
        thought=_join(body for key, body in blocks if key != elicited),
        elicited=_join(body for key, body in blocks if key == elicited),
        response=_trimmed("\n".join(s.strip() for s in shown if s.strip())),
        unclosed=unclosed,
    )


def _after(places: list[int], i: int) -> int | None:
    at = bisect_left(places, i)
    return places[at] if at < len(places) else None


def _trimmed(text: str) -> str:
    """The text without control tokens and blanks at its ends."""
    tokens = list(_CONTROL.finditer(text))
    start, end = 0, len(text)
    for token in tokens:
        if text[start : token.start()].strip():
            break
        start = token.end()
    for token in reversed(tokens):
        if token.start() < start or text[token.end() : end].strip():
            break
        end = token.start()
    turn = _TURN_END.search(text, start, end)
    return text[start : turn.start() if turn else end].strip()


def _join(texts: Iterable[str]) -> str:
    return "\n\n".join(t.strip() for t in texts if t.strip())
