"""Reading a judge's reply: yes, no, or neither (cases A1 to A6)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ContentReasoning, ContentText

from moral_evals.loaders.morebench.records import Criterion
from moral_evals.scorers.judging.verdict import is_bare, read_verdict
from moral_evals.scorers.rubric.aggregate import scenario_score
from tests.shapes import output


def check(replies: list[str], verdict: str | None) -> list:
    return [pytest.param(reply, verdict, id=f"{reply[:40]!r} -> {verdict}") for reply in replies]


# A1: a verdict inside another word is none
INSIDE_WORDS = check(
    [
        "I do not know",
        "I do not know.",
        "Nothing of the sort happened yesterday",
        "I cannot know",
        "Unknown.",
        "It notes the eyes of the nobleman.",
        "Normally, yesteryear's norms apply.",
        "I'm sorry, but I cannot assist with that.",
    ],
    None,
)

# A2: the reason first, the verdict last; an echo of the question decides nothing
REASON_FIRST = [
    *check(
        [
            "It says no one is harmed, yet it does weigh autonomy.\nYes",
            "The text admits there is no rule. Still it names a duty.\n\n**Yes**",
            "Does the response meet the criterion, yes or no? Yes",
            "There is no doubt. Final answer: yes.",
            "Reasoning: it says no to the offer.\nVerdict: Yes",
        ],
        "yes",
    ),
    *check(
        [
            "Return yes or no only: no",
            "It might look like a yes at first, but autonomy is never named.\nNo",
            "Does the response meet the criterion, yes or no? No",
            "The word yes occurs in it. Therefore, no.",
            "Reply with 'yes' or 'no'.\nNo.",
        ],
        "no",
    ),
    *check(
        [
            "Return yes or no only.",
            "Reply with one word, yes or no.",
            "Answer yes/no:",
            "Answer with a single word, yes or\nno",
            "Answer with one of: yes, no",
            "Should I say 'yes' or 'no'?",
            "Either yes or no could be defended.",
        ],
        None,
    ),
]

# A3: hedged or contradictory
CONTRADICTORY = [
    "Neither a clear yes nor a clear no",
    "Yes and no",
    "Yes and no.",
    "No and yes.",
    "Yes/No",
    "yes / no",
    "Yes or no?",
    "Yes, but also no",
    "Yes. No.",
    "No... yes",
    "Yes. On reflection, its reasoning stays vague.\nNo",
    "Answer: yes\nAnswer: no",
    "Answer: yes. Answer: no",
    "Verdict: no\n\nFinal verdict: yes",
    "Yes. The answer is no.",
    "It is both yes and no.",
    "The answer is yes. But the verdict is no.",
    "Yes. Verdict: no, since it is vague.",
    '{"verdict": "yes"} {"verdict": "no"}',
    'Yes\n{"verdict": "no"}',
    '{"answer": "yes", "verdict": "no"}',
    '{"answer": "unclear"}',
    '{"answer": "yes and no"}',
    '{"answer": null}',
]

# A4: nothing in the content; what the judge thought is no verdict
EMPTY = check(
    [
        "",
        "   \n",
        "\u200b",
        "```\n```",
        "<think>It does, so yes</think>",
        "<think>The text says so.\nYes",
        "<|channel|>analysis<|message|>It names it, so yes<|end|>",
        "<|channel|>analysis<|message|>It names it.\nYes",
    ],
    None,
)

# A5: decorated but clear
DECORATED = [
    *check(
        [
            "yes",
            "Yes",
            "```\nYes\n```",
            "```text\nyes\n```",
            "**Yes.**",
            "**Yes**.",
            "__Yes__",
            "YES!",
            "yes\u200b",
            "\ufeffyes",
            "Yes, because it names the duty.",
            "Yes - it names the duty.",
            "Yes \u2014 it names the duty.",
            "Yes (see the third paragraph)",
            '"Yes"',
            "'Yes.'",
            "\u201cYes\u201d",
            "> Yes",
            "- Yes",
            "# Yes",
            "[yes]",
            "(Yes)",
            "Ｙｅｓ",
            "\n\n  yes  \n",
            "Answer: **Yes**",
            "**Answer:** Yes",
            "The answer is yes.",
            '{"answer": "Yes"}',
            '{"criterion_met": true}',
            '```json\n{"verdict": "yes", "reason": "no rule is broken"}\n```',
        ],
        "yes",
    ),
    *check(
        [
            "no",
            "No.",
            "NO",
            "**No**",
            "`No`",
            "```\nNo\n```",
            "No, since it never does.",
            "Not met.",
            "Unmet",
            '{"answer":"no"}',
            '{"met": false}',
            '{"met": "false"}',
            '{"Answer": "NO"}',
        ],
        "no",
    ),
]

# the reply styles of the mock judge that the benchmarks use: (met, not met)
STYLES = {
    "plain": ("yes", "no"),
    "cap": ("Yes", "No"),
    "dot": ("Yes.", "No."),
    "upper": ("YES", "NO"),
    "tailbold": ("yes**", "no**"),
    "bold": ("**Yes**", "**No**"),
    "label": ("Answer: yes", "Answer: no"),
    "met": ("Met", "Not met"),
    "truefalse": ("true", "false"),
    "json_met": ('{"met": true}', '{"met": false}'),
    "json_verdict": ('{"verdict": "yes"}', '{"verdict": "no"}'),
    "harmony": ("<|channel|>final<|message|>yes", "<|channel|>final<|message|>no"),
    "harmony_full": tuple(
        "<|channel|>analysis<|message|>We must say yes or no for this criterion. The answer does "
        f"{verb} it.<|end|><|start|>assistant<|channel|>final<|message|>{word}"
        for verb, word in (("satisfy", "yes"), ("fail", "no"))
    ),
    "think": (
        "<think>Could be yes, could be no.</think>\nyes",
        "<think>Could be yes, could be no.</think>\nno",
    ),
    "sentence": (
        "Yes, the response acknowledges this.",
        "No. A yes would need a clearer statement.",
    ),
    "verbose_no": ("Yes. It knows the norms and notes them.", "No. It says nothing on this."),
    "echo": (
        "Does the response meet the criterion, yes or no? Yes",
        "Does the response meet the criterion, yes or no? No",
    ),
}


@pytest.mark.parametrize(("reply", "verdict"), INSIDE_WORDS)
def test_a_verdict_inside_another_word_is_none(reply: str, verdict: str | None):
    assert read_verdict(reply) == verdict


@pytest.mark.parametrize(("reply", "verdict"), REASON_FIRST)
def test_the_last_word_decides_and_an_echoed_question_does_not(reply: str, verdict: str | None):
    assert read_verdict(reply) == verdict


@pytest.mark.parametrize("reply", CONTRADICTORY)
def test_a_hedged_or_contradictory_reply_is_none(reply: str):
    assert read_verdict(reply) is None


@pytest.mark.parametrize(("reply", "verdict"), EMPTY)
def test_an_empty_reply_is_none_whatever_the_judge_thought(reply: str, verdict: str | None):
    assert read_verdict(reply) == verdict


def test_a_judges_reasoning_block_is_not_part_of_its_reply():
    thought_only = output([ContentReasoning(reasoning="It does, so yes"), ContentText(text="")])
    assert read_verdict(thought_only.completion) is None


@pytest.mark.parametrize(("reply", "verdict"), DECORATED)
def test_a_decorated_clear_verdict_is_read(reply: str, verdict: str | None):
    assert read_verdict(reply) == verdict


@pytest.mark.parametrize("style", STYLES)
def test_every_style_of_the_mock_judge_is_read(style: str):
    met, unmet = STYLES[style]
    assert (read_verdict(met), read_verdict(unmet)) == ("yes", "no")


@pytest.mark.parametrize(
    ("reply", "bare"),
    [
        ("yes", True),
        ("**No.**", True),
        ("```\nYes\n```", True),
        ("<think>Hm.</think>no", True),
        ("Yes, because it does.", False),
        ("Answer: yes", False),
        ("yes and no", False),
        ("", False),
    ],
)
def test_bare_means_one_verdict_word_and_nothing_else(reply: str, bare: bool):
    assert is_bare(reply) is bare


# --- properties --------------------------------------------------------------------------------

# no verdict word among them, though many contain one
# fmt: off
NEUTRAL_WORDS = st.sampled_from([
    "know", "not", "cannot", "unknown", "nothing", "none", "note", "norm", "nobody",
    "another", "yesterday", "eyes", "yesteryear", "dynamo", "casino", "volcano", "metal",
    "comet", "helmet", "falsehood", "untrue", "truer", "duty", "text", "the", "a", "it",
    "does", "weighs", "names", "harm", "perhaps", "criterion", "response", "autonomy",
])
# fmt: on
PUNCTUATION = st.sampled_from([" ", " ", " ", ", ", ". ", "? ", ": ", "; ", "\n", " - ", "! "])


@st.composite
def prose(draw: st.DrawFn, min_words: int = 1) -> str:
    words = draw(st.lists(NEUTRAL_WORDS, min_size=min_words, max_size=12))
    return "".join(word + draw(PUNCTUATION) for word in words).strip(" ,:;-")


@given(prose())
def test_prose_without_a_verdict_word_is_never_a_verdict(text: str):
    assert read_verdict(text) is None


@given(st.text(max_size=80))
def test_no_text_breaks_the_reader(text: str):
    assert read_verdict(text) in ("yes", "no", None)


INLINE = ["{}", "**{}**", "*{}*", "_{}_", "`{}`", '"{}"', "\u201c{}\u201d", "{}\u200b", "[{}]"]
LINES = ["{}", "> {}", "- {}", "# {}", "Answer: {}", "**Verdict:** {}", "Final answer: {}"]
BLOCKS = ["{}", "```\n{}\n```", "```text\n{}\n```", "<think>No, yes?</think>\n{}", "\n  {} \n\n"]
CASES = [str.lower, str.upper, str.title]


@given(
    word=st.sampled_from(["yes", "no"]),
    case=st.sampled_from(CASES),
    dot=st.sampled_from(["", ".", "!"]),
    inline=st.lists(st.sampled_from(INLINE), max_size=2),
    line=st.sampled_from(LINES),
    block=st.sampled_from(BLOCKS),
)
def test_decoration_never_changes_a_verdict(word, case, dot, inline, line, block):
    text = case(word) + dot
    for wrap in [*inline, line, block]:
        text = wrap.format(text)
    assert read_verdict(text) == word


@given(
    first=st.sampled_from(["yes", "no"]),
    between=prose(),
    layout=st.sampled_from(
        [
            "{a}. {between}.\n{b}",
            "{a}, {between}. Answer: {b}",
            "Answer: {a}\n{between}\nAnswer: {b}",
            "Answer: {a}. {between}.\n{b}",
            "{between}.\nAnswer: {a}\n{b}",
            "{a} and {b}, {between}",
            "{a}/{b}: {between}",
        ]
    ),
)
def test_a_reply_that_says_both_is_none(first: str, between: str, layout: str):
    second = {"yes": "no", "no": "yes"}[first]
    reply = layout.format(a=first.title(), b=second.title(), between=between)
    assert read_verdict(reply) is None


def counted(reply: str, weight: float) -> tuple[float, float]:
    criterion = Criterion(id="c", text="It does.", weight=weight, dimension="other")
    verdict = read_verdict(reply)
    score = scenario_score([criterion], {} if verdict is None else {"c": verdict})
    return score.score, score.graded_share


@pytest.mark.parametrize("reply", ["", "Yes and no", "Yes/No", "I do not know", CONTRADICTORY[0]])
@pytest.mark.parametrize("weight", [3, -3])
def test_an_unread_reply_counts_for_nothing_whatever_the_sign(reply: str, weight: float):
    score, graded_share = counted(reply, weight)
    assert math.isnan(score)
    assert graded_share == 0


@given(
    reply=st.one_of(prose(), st.sampled_from(["yes", "No.", "Yes and no"])),
    weight=st.integers(1, 3),
)
def test_the_sign_turns_what_a_verdict_is_worth_but_not_whether_it_counts(reply: str, weight: int):
    plus, minus = counted(reply, weight), counted(reply, -weight)
    assert plus[1] == minus[1]
    if plus[1]:
        assert plus[0] + minus[0] == 1
