"""Options that speak of other options: "Both A and B", "Do neither", "The first option, but later".

In another order or under other labels such a text means another act or none, and the record of
earlier decisions shows options without labels, so that no rewriting would make it readable there.
"""

import re
from collections.abc import Iterable
from functools import cache

from moral_evals.loaders.corda.chains import Chain
from moral_evals.loaders.errors import DataError

_NOUN = r"(?:options?|choices?|alternatives?|possibilit(?:y|ies)|courses of action)"
_COUNT = r"(?:two|three|four|five|2|3|4|5)"
_END = r"(?=\W*$|\s*[,.;:()!–—]|\s+(?:but|then|at once|at the same time|together|in turn|simultaneously|instead)\b)"
_DO = r"(?:do|try|choose|pick|select|combine|adopt|pursue|reject|refuse|decline|avoid|skip|opt for|go with|mix)"
_ORDER = r"(?:first|second|third|fourth|fifth|last|former|latter|previous|preceding|following|next|other|others|remaining|above|opposite|1st|2nd|3rd)"

# {x} is one letter or number of the step's options, {loose} one in lower case as well
_RULES = (
    # quantifiers
    rf"^\W*(?:both|neither|none|all|either|any)(?:\s+(?:one|{_COUNT}))?(?:\s+of\s+(?:these|those|them|it))?{_END}",
    rf"\b{_DO}\s+(?:both|neither|either|all|none|any)(?:\s+{_COUNT})?(?:\s+of\s+(?:these|those|them))?{_END}",
    r"\bof the above\b(?!-)",
    rf"\b(?:both|neither|none|all|either|any|each|one|two|some|combination|mix|mixture|most)\s+of\s+(?:these|those)"
    rf"(?:\s+{_COUNT})?(?:\s+(?:{_NOUN}|things|acts|actions))?(?=\W*$|\s*[,.;:])",
    rf"\b(?:both|neither|either|these|those|all|all the|all of the|all {_COUNT}|the {_COUNT}|the other|the others|"
    rf"one of the|none of the|any of the|each of the|neither of the|either of the|both of the|both the|"
    rf"another of the)(?:\s+(?:other|two|three|four))?\s+(?:options|option|alternatives|alternative|courses of action)\b"
    r"(?!\s+open)",
    rf"\b(?:mix|mixture|combination|compromise|blend|middle (?:way|course|ground|path))\s+(?:of|between)\s+(?:all|both|"
    rf"(?:the\s+)?(?:two|three|four|others?|above|options)|these|those)(?=\W*$|\s*[,.;:]|\s+{_NOUN})",
    rf"\b(?:neither|either|both|none)\s+of\s+the\s+(?:{_COUNT}|others?)(?=\W*$|\s*[,.;:]|\s+{_NOUN})",
    rf"\b(?:whichever|which) of the {_COUNT}\b(?=\W*$|\s*[,.;:]|\s+(?:is|are|was|seems|{_NOUN}))",
    r"\beverything (?:listed|else listed)\b|\bhalf of {x}(?![\w'’])",
    # order
    rf"\bthe\s+(?:{_ORDER}|very first|middle|final)\s+(?:{_COUNT}\s+)?(?:options?|alternatives?|courses? of action)\b"
    r"(?!\s+(?:on|in|for|of)\s+(?:the|her|his|their|its)\b)",
    rf"\bthe\s+{_ORDER}\s+(?:{_COUNT}\s+)?choices?{_END}",
    rf"\b{_DO}\s+(?:as\s+)?(?:the\s+)?(?:{_COUNT}\s+)?(?:{_ORDER}|opposite of the {_ORDER})(?:\s+(?:one|ones|{_COUNT}))?"
    rf"(?=\W*$|\s*[,;:]|\s+(?:and|or|but|then|instead|only)\b)",
    rf"\b(?:same as|as in|as with|like|opposite of|instead of|variant of|version of)\s+(?:the\s+)(?:{_ORDER})"
    rf"(?=\W*$|\s*[,;:]|\s+(?:one|option|but|and|{_COUNT})\b)",
    r"\b(?:the|this|that)\s+(?:option|alternative)s?\s+(?:above|below|before|listed|named|described)\b",
    r"\b(?:as|same as|see|like|all|both|everything)(?:\s+the)?\s+above(?=\W*$|\s*[,;]|\s+but\b)",
    # letters and numbers
    r"\b(?:options?|alternatives?|choices?|answers?)\s+(?:{x}(?![\w'’])|(?:one|two|three|four|five)\b(?!\s+of)|"
    r"{loose}(?=\W*$|\s*[,.;:/&+]|\s+(?:and|or|nor|but|with)\b))",
    r"\b(?:both|neither|either|do|choose|pick|combine|combination of|mix(?:ture)? of|blend of|compromise (?:of|between)|"
    r"first|not|all of|same as|as in|try|between|half of)\s+{loose}\s*(?:,|/|&|\+|\band\b|\bor\b|\bnor\b|\bwith\b|\bplus\b|"
    r"\bthen\b|\bfollowed by\b)\s*(?:then\s+|not\s+|(?:do|options?)\s+)?{loose}(?![\w'’]|\.\s?[A-Z])",
    r"\b(?:do|choose|pick|same as|as in|opposite of|as under|like in|see|just)\s+{x}(?=\W*$|\s*[,;:]|\s+(?:and|or|but|then|"
    r"with|without|first|only|instead)\b)",
    r"^\W*{x}\s*(?:(?:,|/|&|\+|\band\b|\bor\b|\bplus\b|\bthen\b|\bfollowed by\b)\s*(?:then\s+)?{x}(?![\w'’]|\.\s?[A-Z])|"
    r"\s(?:but|then|with|without|plus|followed|only|unless|combined|minus)\b|,\s+(?:but|then|and then|without|only|with)\b)",
    r"\b(?:nos?\.|numbers?|#)\s*{n}\s*(?:,|/|&|\+|\band\b|\bor\b)\s*(?:#\s*)?{n}(?![\w'’])",
)


def refuse_references(chains: Iterable[Chain], file: str) -> None:
    """Check that no option of any step speaks of another option.

    Raises:
        DataError: Naming file, chain, step and option.
    """
    for chain in chains:
        for step in chain.steps:
            for option in step.options:
                if said := reference(option.text, len(step.options)):
                    place = f"chain {chain.chain_id!r}, step {step.step_id!r}"
                    raise DataError(
                        f"{file}, {place}, option {option.option_id!r}, field text: {said!r} speaks of "
                        "other options, whose order and labels change from rollout to rollout; "
                        "write out what is done."
                    )


def reference(text: str, count: int) -> str:
    """The words of an option's text that speak of other options by letter, number, order or quantifier.

    Args:
        text: The option's text.
        count: Number of the step's options, which says what letters and numbers they could have.
    """
    line = " ".join(text.split())
    for pattern in _patterns(count):
        if match := pattern.search(line):
            return match[0].strip(" ,.;:")
    return ""


@cache
def _patterns(count: int) -> list[re.Pattern[str]]:
    count = min(count, 9)
    upper = "ABCDEFGHI"[:count]
    numbers = "123456789"[:count]
    strict = rf"[(\[\"'“]?(?-i:[{upper}]|[oO]?[{numbers}])[)\]\"'”]?"
    loose = rf"[(\[\"'“]?(?:[{upper}]|o?[{numbers}])[)\]\"'”]?"
    plain = f"[{numbers}]"
    return [
        re.compile(
            r.replace("{x}", strict).replace("{loose}", loose).replace("{n}", plain), re.IGNORECASE
        )
        for r in _RULES
    ]
