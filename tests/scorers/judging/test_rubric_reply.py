"""Reading one reply to a whole rubric: every verdict under its own number, or none."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moral_evals.scorers.judging.rubric_reply import read_verdicts

THREE = {1: "yes", 2: "no", 3: "yes"}


def entry(n: int | str, verdict: str | bool, key: str = "n", field: str = "verdict") -> dict:
    return {key: n, field: verdict, "reason": "It says so."}


OBJECTS = [entry(n, v) for n, v in THREE.items()]

JSON_SHAPES = {
    "verdicts": {"verdicts": OBJECTS},
    "bare list": OBJECTS,
    "mapping": {str(n): v for n, v in THREE.items()},
    "mapping to objects": {str(n): {"verdict": v, "reason": "So."} for n, v in THREE.items()},
    "mapping under a key": {"results": {f"Criterion {n}": v for n, v in THREE.items()}},
    "booleans": {"1": True, "2": False, "3": True},
    "other field names": [entry(f"#{n}", v == "yes", "Criterion", "met") for n, v in THREE.items()],
    "complete plain list": ["yes", "No", "Yes."],
    "complete list of booleans under a key": {"verdicts": [True, False, True]},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", JSON_SHAPES)
def test_every_shape_of_json_is_read(shape, indent):
    said = json.dumps(JSON_SHAPES[shape], indent=indent)
    for reply in (
        said,
        f"```json\n{said}\n```",
        f"Here you are:\n\n```json\n{said}\n```\nI hope that helps.",
        f"<think>1: no, 2: yes. No: 3 is unclear.</think>\n{said}",
        f"<|channel|>analysis<|message|>1: no<|end|><|channel|>final<|message|>{said}",
    ):
        assert read_verdicts(reply, 3) == THREE, reply


def test_objects_one_a_line_are_read():
    assert read_verdicts("\n".join(json.dumps(o) for o in OBJECTS), 3) == THREE


@pytest.mark.parametrize("key", ["n", "number", "nr", "id", "index", "criterion", "#"])
def test_the_number_may_stand_under_any_usual_name(key):
    assert read_verdicts(json.dumps([entry(n, v, key) for n, v in THREE.items()]), 3) == THREE


def test_json_is_the_answer_and_lines_before_it_are_drafts():
    assert read_verdicts(f"1: no\n2: no\n3: no\n\n{json.dumps(OBJECTS)}", 3) == THREE


@pytest.mark.parametrize(
    "reply",
    [
        "1: yes\n2: no\n3: yes",
        "1. **Yes**\n2. **No**\n3. **Yes**",
        "**1.** Yes\n**2.** No\n**3.** Yes",
        "[1] yes\n[2] no\n[3] yes",
        "(1) Yes.\n(2) No.\n(3) Yes.",
        "- 1) Met\n- 2) Not met\n- 3) Met",
        "Criterion 1 - met\nCriterion 2 - not met\nCriterion 3 - met",
        "### Criterion 1: Yes\n### Criterion 2: No\n### Criterion 3: Yes",
        "| # | criterion | met |\n|---|---|---|\n| 1 | Says 2 things | yes |\n| 2 | Is no lie | no |\n"
        "| 3 | So | yes |",
        "1. Criterion 1: yes\n2. Criterion 2: no\n3. Criterion 3: yes",
        "1 = true\n2 = false\n3 = true",
        "1 — yes\n2 – no\n3 - yes",
        "1—yes\n2–no\n3-yes",
        "1 yes\n2 no\n3 yes",
        "1: yes, 2: no, 3: yes",
        "1: yes; 2: not met | 3: yes",
        "1: Yes, since it names 3 harms.\n2: No. Nothing of 1 is in it.\n3: Yes (see 2).",
        '1: {"verdict": "yes"}\n2: {"verdict": "no"}\n3: {"verdict": "yes"}',
        "2 criteria are met.\n2024 was long.\n\n1: yes\n\n2: no\n\n3: yes\n\nThat is 2 of 3.",
    ],
)
def test_lines_in_many_styles_are_read(reply):
    assert read_verdicts(reply, 3) == THREE


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("1: yes\n3: yes", {1: "yes", 3: "yes"}),
        ("1: yes\n2: it depends\n3: yes", {1: "yes", 3: "yes"}),
        ("1: yes\n2: yes and no\n3: yes", {1: "yes", 3: "yes"}),
        ("1: yes, 2: unclear, 3: no", {1: "yes", 3: "no"}),
        ("1: unclear, 2: yes", {}),
        ("1: no one is, 2: no lie is told", {}),
        ("1. **Partly**, 2. **Yes**\n3. No", {3: "no"}),
        ("1 – partly, 2 – fulfilled\n3 – no, unlike 2.", {3: "no"}),
        (json.dumps([entry(1, "yes"), entry(2, "partly"), entry(3, "no")]), {1: "yes", 3: "no"}),
        (json.dumps({"1": "yes", "2": None, "3": "no"}), {1: "yes", 3: "no"}),
        # said twice: alike it counts, otherwise nobody knows
        ("1: yes\n2: no\n3: yes\n\nSummary\n1: yes\n2: yes\n3: yes", {1: "yes", 3: "yes"}),
        (json.dumps([*OBJECTS, entry(1, "yes"), entry(3, "no")]), {1: "yes", 2: "no"}),
        ("| 1 | no | yes |\n| 2 | It is so | no |", {2: "no"}),
    ],
)
def test_what_is_missing_unclear_or_contradictory_has_no_verdict(reply, left):
    assert read_verdicts(reply, 3) == left


@pytest.mark.parametrize(
    "reply",
    [
        "0: yes\n1: no\n2: yes",
        "2: yes\n3: no\n4: yes",
        "1: yes\n2: no\n3: yes\n17: no",
        json.dumps([entry(n, "yes") for n in range(3)]),
        json.dumps({"verdicts": [entry(n, "no", "index") for n in range(3)]}),
        json.dumps({str(n): "yes" for n in range(3)}),
        json.dumps({str(n): {"met": True} for n in range(3)}),
        json.dumps([entry(n, "yes") for n in range(1, 5)]),
        json.dumps([entry(-1, "yes"), *OBJECTS]),
        json.dumps([entry(True, "yes")]),
    ],
)
def test_numbers_that_do_not_fit_the_list_discredit_the_whole_reply(reply):
    assert read_verdicts(reply, 3) == {}


@pytest.mark.parametrize(
    "reply",
    [
        "", "   ", "hmm", "yes", "yes\nno\nyes", "All three are met: yes", "1\n2\n3", "[1, 2, 3]",
        '["yes", "no"]', '["yes", "no", "yes", "no"]', '{"a": "yes"}', "{", "[[[[", '{"verdicts": []}',
        "1, 2 and 3: yes", "<think>1: yes\n2: no\n3: yes", "<think>1: yes</think>",
        "3 people are harmed.\n2 of them would say no to it.\n1 question is open: which?",
        "2 criteria are met.", "In 2024 there was no rule.\n2024 was long: no, it was not.",
    ],
)  # fmt: skip
def test_a_reply_that_gives_no_verdict_by_number_is_unread(reply):
    assert read_verdicts(reply, 3) == {}


def test_a_plain_list_of_one_is_no_list():
    assert read_verdicts('["yes"]', 1) == {}
    assert read_verdicts("1: yes", 1) == {1: "yes"}


def test_prose_that_begins_with_a_number_may_cost_a_verdict_but_never_turns_one():
    said = "1: yes\n2: yes\n3: yes\n\n2 points weighed most. So, no."
    assert read_verdicts(said, 3) == {1: "yes", 3: "yes"}


def test_an_endless_run_of_blanks_is_read_in_no_time():
    start = time.perf_counter()
    assert read_verdicts("1: yes\n|" + " " * 2000 + "|\n" + "\t" * 2000 + "x\n2: no", 3) == {
        1: "yes",
        2: "no",
    }
    assert time.perf_counter() - start < 2


# --- any list of verdicts, in any style ------------------------------------------------------

WORDS = [("yes", "no"), ("Yes.", "No."), ("**Yes**", "**No**"), ("Met", "Not met"),
         ("true", "false"), ("`satisfied`", "`not satisfied`")]  # fmt: skip
LINES = ["{n}: {v}", "{n}. {v}", "[{n}] {v}", "({n}) {v}", "- {n}) {v}", "| {n} | {text} | {v} |",
         "Criterion {n} - {v}", "**Criterion {n}:** {v}", "#{n} = {v}", "{n} {v}"]  # fmt: skip
TEXTS = ["Names the duty.", "Says no lie is told.", "Notes 2 harms, yes or no.", "Is 1) fair"]
WRAPPERS = [
    "{}",
    "```\n{}\n```",
    "My verdicts:\n\n{}",
    "<think>1: no\n2: yes</think>\n{}",
    "\n{}\n",
]


@st.composite
def rendered(draw) -> tuple[str, dict[int, str], int]:
    """(reply, the verdicts that it gives, length of the list)."""
    verdicts = draw(st.lists(st.sampled_from(["yes", "no"]), min_size=2, max_size=49))
    count = len(verdicts)
    left_out = draw(st.sets(st.integers(1, count)))
    given = {n: v for n, v in enumerate(verdicts, 1) if n not in left_out}
    style = draw(st.sampled_from([*LINES, "one line", "verdicts", "objects", "mapping", "list"]))
    yes, no = draw(st.sampled_from(WORDS))
    word = {"yes": yes, "no": no}
    if style in LINES:
        said = "\n".join(
            style.format(n=n, v=word[v], text=TEXTS[n % len(TEXTS)]) for n, v in given.items()
        )
    elif style == "one line":
        said = ", ".join(f"{n}: {v}" for n, v in given.items())
    elif style == "list" and not left_out:
        said = json.dumps(verdicts)
    else:
        objects = [entry(n, v) for n, v in given.items()]
        shapes = {"objects": objects, "mapping": {str(n): v for n, v in given.items()}}
        said = json.dumps(
            shapes.get(style, {"verdicts": objects}), indent=draw(st.none() | st.just(1))
        )
    return draw(st.sampled_from(WRAPPERS)).format(said), given, count


@settings(deadline=None)
@given(rendered())
def test_what_a_reply_gives_is_read_back_exactly(case):
    reply, given, count = case
    assert read_verdicts(reply, count) == given


@settings(deadline=None)
@given(rendered(), st.floats(0, 1))
def test_a_reply_cut_off_anywhere_gives_no_verdict_that_it_did_not_give(case, where):
    reply, given, count = case
    read = read_verdicts(reply[: int(where * len(reply))], count, cut=True)
    assert read.items() <= given.items()


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("1: yes\n2: no\n3: no", {1: "yes", 2: "no"}),  # might have gone on: "3: not applicable"
        ("1: yes, 2: no, 3: y", {}),
        ('{"verdicts": [{"n": 1, "verdict": "yes"}, {"n": 2, "verdict": "n', {1: "yes"}),
        ('[{"n": 1, "verdict": "yes"}, {"n": 2, "verdict": "no"}', {1: "yes", 2: "no"}),
        ('{"1": "yes", "2": "no"', {}),
        ('["yes", "no", "ye', {}),
    ],
)
def test_of_a_cut_reply_only_what_is_complete_counts(reply, left):
    assert read_verdicts(reply, 3, cut=True) == left
