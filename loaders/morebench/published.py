"""What is known in public of the hub's files at the pinned commit, and how a file differs from it.

A differing file is read all the same: these facts were recorded, not measured by this code, and
another revision is the user's own choice.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from moral_evals.loaders.morebench.records import Scenario


@dataclass(frozen=True)
class PublishedFile:
    """Facts of one file; an absent one is not known.

    Attributes:
        rows: Dilemmas.
        criteria: Criteria of all rubrics together.
        bytes: Size.
        sha256: Of the whole file, in hexadecimal.
        roles: Rows by role.
    """

    rows: int
    criteria: int
    bytes: int | None = None
    sha256: str | None = None
    roles: dict[str, int] = field(default_factory=dict)


PUBLISHED = {
    "morebench_public.csv": PublishedFile(
        rows=500,
        criteria=11_568,
        bytes=3_382_022,
        sha256="e56d627823066876c6710a91144d0d9faebc1503dcf9b665f58c87b0eddd2229",
        roles={"ai_advisor": 293, "ai_agent": 207},
    ),
    "morebench_theory.csv": PublishedFile(rows=150, criteria=3_835),
}
"""Files of `hub.REPOSITORY` at `hub.REVISION`, by name."""


def differences(file: str, content: bytes, scenarios: Sequence[Scenario]) -> list[str]:
    """Each fact in which a file differs, as `rows 3 (published: 500)`; empty if it is the same.

    Args:
        file: Name in the hub's repository; a name without recorded facts differs in none.
        content: The file's bytes.
        scenarios: All of its rows.
    """
    known = PUBLISHED.get(file)
    if known is None:
        return []
    roles = Counter(s.role for s in scenarios)
    facts: list[tuple[str, int | str, int | str | None]] = [
        ("bytes", len(content), known.bytes),
        ("sha256", hashlib.sha256(content).hexdigest(), known.sha256),
        ("rows", len(scenarios), known.rows),
        ("criteria", sum(len(s.criteria) for s in scenarios), known.criteria),
        *((f"rows with role {role}", roles[role], count) for role, count in known.roles.items()),
    ]
    return [
        f"{name} {found} (published: {expected})"
        for name, found, expected in facts
        if expected is not None and found != expected
    ]


def warning(file: str, commit: str, found: Sequence[str]) -> str:
    """One line for the user about a file that differs."""
    return (
        f"{file} at commit {commit} is not the published file: {'; '.join(found)}. "
        "It is run all the same; scores may not be comparable with those of others."
    )
