"""Errors of model calls that will not go away, and the end of calling that they ask for.

A key that is refused is refused every time: asked on, a run would send thousands of calls that
must fail. A request that is refused (too long, filtered) costs its own reply alone, unless the
first ones of a run all end so.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
from inspect_ai.model import Model

from moral_evals.loaders.errors import first_line

REFUSED_KEY = frozenset({401, 403, 404})
"""HTTP statuses of a key or a model that is refused: no call of the run can do better."""

REFUSED_REQUEST = frozenset({400, 413, 422})
"""HTTP statuses of a fault of one request: the same request will not do better."""

FIRST_CALLS = 20
"""So many refused requests, and nothing else, at the start of a run end its calls."""


class CallsStopped(RuntimeError):
    """No further call to this model: an earlier one said why."""


def told(error: BaseException) -> str:
    """An error as one line with its kind; of retries that were given up, the last one's."""
    attempt = getattr(error, "last_attempt", None)
    cause = attempt.exception() if attempt is not None and attempt.failed else None
    return told(cause) if cause else f"{type(error).__name__}: {first_line(error)}"


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
    """Whether a model may still be asked.

    Attributes:
        why: What ended the calls; empty while they go on.
        closed: Time of that, by `time.monotonic`.
    """

    why: str = ""
    closed: float = 0.0
    _answers: int = 0
    _refused: int = 0
    _asking: set[anyio.CancelScope] = field(default_factory=set)

    def check(self, since: float) -> None:
        """Raise CallsStopped if the calls ended, for all that began before they did.

        Args:
            since: When the run's scorer or solver was made. One made later, with a mended key,
                asks again.
        """
        if self.why and since < self.closed:
            raise CallsStopped(self.why)

    @contextmanager
    def asking(self, since: float) -> Iterator[None]:
        """Around one call, which ends with CallsStopped if another one stops them all.

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
            raise CallsStopped(self.why)

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


def gate(model: str, since: float) -> Gate:
    """The gate of a model in this process; a new one for a run that began after the old closed.

    Args:
        model: Its part in the run, its name and address.
        since: When the run's scorer or solver was made.
    """
    found = _GATES.get(model)
    if found is None or (found.why and since > found.closed):
        found = _GATES[model] = Gate()
    return found


@contextmanager
def calls_of(model: Model, since: float) -> Iterator[None]:
    """Around one call of a candidate: a refused key ends all its calls of this run.

    Raises CallsStopped if an earlier call said that no call can succeed.

    Args:
        model: The candidate.
        since: When the run's solver was made, by `time.monotonic`.
    """
    door = gate(f"candidate {model} {model.api.base_url}", since)
    try:
        with door.asking(since):
            yield
    except Exception as error:
        if not isinstance(error, CallsStopped):
            door.failed(error)
        raise
    door.answered()
