"""Errors of judge calls that will not go away, and the end of judging that they call for.

A key that is refused is refused for every criterion: asked on, a run would send thousands of calls
that must fail. A request that is refused (too long, filtered) costs its own verdict alone, unless
the first ones of a run all end so.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from moral_evals.loaders.errors import first_line

REFUSED_KEY = frozenset({401, 403, 404})
"""HTTP statuses of a key or a model that is refused: no call of the run can do better."""

REFUSED_REQUEST = frozenset({400, 413, 422})
"""HTTP statuses of a fault of one request: the same request will not do better."""

FIRST_CALLS = 20
"""So many refused requests, and nothing else, at the start of a run end its judging."""


class JudgingStopped(RuntimeError):
    """No further call to this judge: an earlier one said why."""


def http_status(error: BaseException | None) -> int | None:
    """The HTTP status behind an error, in it or in what it was raised from; None without one."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        for holder in (cause, response):
            for name in ("status_code", "status", "code", "http_status"):
                value = getattr(holder, name, None)
                if type(value) is int and 100 <= value < 600:
                    return value
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        attempt = getattr(found, "last_attempt", None)  # what tenacity gave up on
        if attempt is not None and hasattr(attempt, "exception"):
            waiting.append(attempt.exception())
        waiting += [found.__context__, found.__cause__]
        waiting += list(getattr(found, "exceptions", ()))


@dataclass
class Gate:
    """Whether a judge may still be asked.

    Attributes:
        why: What ended the judging; empty while it goes on.
        closed: Time of that, by `time.monotonic`.
    """

    why: str = ""
    closed: float = 0.0
    _answers: int = 0
    _refused: int = 0
    _asking: set[anyio.CancelScope] = field(default_factory=set)

    def check(self, since: float) -> None:
        """Raise JudgingStopped if the judging ended, for all that began before it did.

        Args:
            since: When the run's scorer was made. One made later, with a mended key, asks again.
        """
        if self.why and since < self.closed:
            raise JudgingStopped(self.why)

    @contextmanager
    def asking(self, since: float) -> Iterator[None]:
        """Around one call, which ends with JudgingStopped if another one stops the judging.

        Calls that wait for a connection would otherwise still be sent.
        """
        self.check(since)
        with anyio.CancelScope() as scope:
            self._asking.add(scope)
            try:
                yield
            finally:
                self._asking.discard(scope)
        if scope.cancelled_caught:
            raise JudgingStopped(self.why)

    def answered(self) -> None:
        """A reply came, whatever it said."""
        self._answers += 1

    def failed(self, error: Exception) -> bool:
        """Take note of a failed call; whether the same call is worth another try."""
        status = http_status(error)
        if status in REFUSED_KEY:
            self._close(f"{first_line(error)} (HTTP {status})")
        elif status in REFUSED_REQUEST:
            self._refused += 1
            if not self._answers and self._refused >= FIRST_CALLS:
                said = f"the first {FIRST_CALLS} calls were all refused, last: {first_line(error)}"
                self._close(f"{said} (HTTP {status})")
        else:
            return True
        return False

    def _close(self, why: str) -> None:
        self.why, self.closed = why, time.monotonic()
        for scope in list(self._asking):
            scope.cancel()


_GATES: dict[str, Gate] = {}


def gate(judge: str, since: float) -> Gate:
    """The gate of a judge in this process; a new one for a run that began after the old closed.

    Args:
        judge: Name and address of the judge.
        since: When the run's scorer was made.
    """
    found = _GATES.get(judge)
    if found is None or (found.why and since > found.closed):
        found = _GATES[judge] = Gate()
    return found
