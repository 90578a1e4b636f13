"""From the ballots of several judges, or of one judge asked several times, to one verdict each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from moral_evals.scorers.rubric.aggregate import Verdict
from moral_evals.scorers.rubric.record import Given, JudgeSeat, Source


@dataclass
class Ballot:
    """What one judge said, asked once about every criterion.

    Attributes:
        judge: The judge's name, distinct within its panel.
        vote: 1 for the first time of asking.
        settings: The judge's settings that differ from Inspect's defaults.
        model_args: Its model arguments, without keys and tokens.
        base_url: Its address; empty if the provider does not say.
        verdicts: Verdict by criterion id.
        ungraded: Why, by criterion id, where no reply could be read.
        unread: The last reply by criterion id, where none could be read.
        words: The reply by criterion id, where it said more than the verdict.
        failures: Error text by criterion id, where the call itself failed.
        sources: Where the verdict was read, by criterion id.
        asked_alone: Criteria that a whole-rubric reply left out and that were asked again alone.
        retries: Replies that could not be read and were asked for again.
        usage: Calls and tokens by kind.
    """

    judge: str
    vote: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    model_args: dict[str, Any] = field(default_factory=dict)
    base_url: str = ""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    ungraded: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    asked_alone: int = 0
    retries: int = 0
    usage: Counter[str] = field(default_factory=Counter)

    def take(self, criterion: str, given: Given) -> None:
        """Count a verdict that this judge gave in an earlier scoring."""
        self.verdicts[criterion] = given.verdict
        if given.verdict == "ungraded":
            self.ungraded[criterion] = given.reason
        if given.source:
            self.sources[criterion] = given.source
        self.usage["saved_calls"] += 1

    def seat(self, with_usage: bool = True) -> JudgeSeat:
        """What a score records of the judge; the verdicts stand apart."""
        more: dict[str, Any] = {"usage": dict(self.usage)} if with_usage else {}
        more |= {"model_args": self.model_args} if self.model_args else {}
        more |= {"base_url": self.base_url} if self.base_url else {}
        more |= {"vote": self.vote} if self.vote > 1 else {}
        more |= {"asked_alone": self.asked_alone} if self.asked_alone else {}
        if self.failures:
            more |= {"failed": len(self.failures), "failure": next(iter(self.failures.values()))}
            more |= {"missing": list(self.failures)}
        return JudgeSeat(model=self.judge, settings=self.settings, retries=self.retries, **more)


@dataclass(frozen=True)
class Judgement:
    """The verdicts of a panel, and the ballots behind them.

    Attributes:
        ballots: One for each judge and vote, judge by judge.
        verdicts: The panel's verdict by criterion id.
        ungraded: Why there is none, by criterion id: the judge's reason if it sits alone, else
            `tie` or `votes_missing`.
        failures: Error text by criterion id, where the calls of every judge failed.
    """

    ballots: Sequence[Ballot]
    verdicts: dict[str, Verdict]
    ungraded: dict[str, str]
    failures: dict[str, str]

    @property
    def judge(self) -> str:
        """The judges' names, joined."""
        return " + ".join(dict.fromkeys(b.judge for b in self.ballots))

    @property
    def usage(self) -> dict[str, int]:
        """Calls and tokens by kind, summed over the panel."""
        return dict(sum((b.usage for b in self.ballots), Counter()))

    def usage_by_judge(self) -> dict[str, dict[str, int]]:
        """The same for each judge, its votes together."""
        found: dict[str, Counter[str]] = {}
        for ballot in self.ballots:
            found.setdefault(ballot.judge, Counter()).update(ballot.usage)
        return {judge: dict(usage) for judge, usage in found.items()}

    @property
    def single(self) -> bool:
        """One judge, asked once."""
        return len(self.ballots) == 1

    def votes(self) -> dict[str, list[Verdict]]:
        """By criterion id the verdict of each ballot, in their order."""
        return {
            c: [b.verdicts.get(c, "ungraded") for b in self.ballots]
            for c in [*self.verdicts, *self.failures]
        }

    def sources(self) -> dict[str, Source]:
        """By criterion id where its verdict was read, unless all judges were asked about it alone.

        `rubric` only if every judge's reply was about the whole rubric.
        """
        found: dict[str, Source] = {}
        for c in self.verdicts:
            read = [b.sources[c] for b in self.ballots if c in b.sources]
            other: list[Source] = [s for s in read if s != "rubric"]
            if read and (source := (other or read)[0]) != "criterion":
                found[c] = source
        return found


def usage_facts(*judgements: Judgement) -> dict[str, Any]:
    """Calls and tokens for a score's metadata: in all, and by judge unless one was asked once.

    Args:
        judgements: Of one reply by one panel; the first says whether it is one.
    """
    whole = replace(judgements[0], ballots=[b for j in judgements for b in j.ballots])
    facts: dict[str, Any] = {"judge_usage": whole.usage}
    return facts if judgements[0].single else facts | {"panel_usage": whole.usage_by_judge()}


def majority(votes: Sequence[Verdict]) -> Verdict:
    """What more than half of the votes say; `ungraded` votes count as votes for neither.

    A missing vote therefore never makes a verdict easier to reach.
    """
    for verdict in ("yes", "no"):
        if 2 * votes.count(verdict) > len(votes):
            return verdict
    return "ungraded"


def combine(ballots: Sequence[Ballot], criteria: Sequence[str]) -> Judgement:
    """Strict majority of each judge's own votes, then strict majority of the judges.

    Args:
        ballots: One for each judge and vote.
        criteria: Criterion ids.
    """
    failures = {
        c: ballots[0].failures[c] for c in criteria if all(c in b.failures for b in ballots)
    }
    verdicts: dict[str, Verdict] = {}
    ungraded: dict[str, str] = {}
    for c in criteria:
        if c in failures:
            continue
        opinions = list(_opinions(ballots, c).values())
        verdicts[c] = majority(opinions)
        if verdicts[c] == "ungraded":
            ungraded[c] = _reason(ballots, c)
    return Judgement(ballots, verdicts, ungraded, failures)


def _opinions(ballots: Sequence[Ballot], criterion: str) -> Mapping[str, Verdict]:
    votes: dict[str, list[Verdict]] = {}
    for b in ballots:
        votes.setdefault(b.judge, []).append(b.verdicts.get(criterion, "ungraded"))
    return {judge: majority(own) for judge, own in votes.items()}


def _reason(ballots: Sequence[Ballot], criterion: str) -> str:
    if len(ballots) == 1:
        return ballots[0].ungraded.get(criterion, "ungraded")
    said = [b.verdicts.get(criterion, "ungraded") for b in ballots]
    return "tie" if "ungraded" not in said else "votes_missing"
