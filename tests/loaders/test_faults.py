"""Which errors end the calls to a model, and what is told of them."""

import time

import anyio
import pytest
from tenacity import RetryError, retry, stop_after_attempt

from moral_evals.loaders.faults import FIRST_CALLS, CallsStopped, Gate, gate, http_status, told


class Refused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"Error code: {status}")
        self.status_code = status


def given_up(error: Exception) -> RetryError:
    @retry(stop=stop_after_attempt(2))
    def call() -> None:
        raise error

    with pytest.raises(RetryError) as caught:
        call()
    return caught.value


def wrapped(error: Exception) -> Exception:
    try:
        raise RuntimeError("in between") from error
    except RuntimeError as found:
        return found


@pytest.mark.parametrize("around", [lambda e: e, given_up, wrapped, lambda e: given_up(wrapped(e))])
def test_the_status_is_found_wherever_it_is(around):
    assert http_status(around(Refused(401))) == 401
    assert http_status(around(ValueError("none"))) is None


def test_a_chain_that_bites_its_tail_ends():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert http_status(first) is None


def test_of_retries_the_last_error_is_told():
    assert told(given_up(Refused(500))) == "Refused: Error code: 500"
    assert told(ValueError("two\nlines")) == "ValueError: two"


@pytest.mark.parametrize(
    ("status", "again", "closed"),
    [(401, False, True), (403, False, True), (404, False, True),
     (400, False, False), (413, False, False), (422, False, False),
     (429, True, False), (500, True, False)],
)  # fmt: skip
def test_what_one_failure_means(status, again, closed):
    door = Gate()
    assert door.failed(Refused(status)) == again
    assert bool(door.why) == closed


def test_refused_requests_close_only_if_nothing_else_came():
    door, other = Gate(), Gate()
    other.answered()
    for _ in range(FIRST_CALLS):
        assert not door.why
        door.failed(Refused(400))
        other.failed(Refused(400))
    assert f"the first {FIRST_CALLS} calls were all refused" in door.why
    assert not other.why


async def test_calls_that_wait_are_ended_and_a_later_run_asks_again():
    began, ended = time.monotonic(), []
    door = gate("a model of this test", began)

    async def waiting() -> None:
        try:
            with door.asking(began):
                await anyio.sleep(60)
        except CallsStopped as stopped:
            ended.append(str(stopped))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(waiting)
            await anyio.sleep(0.01)
            door.failed(Refused(401))
    assert ended == ["Error code: 401 (HTTP 401)"] * 3
    with pytest.raises(CallsStopped):
        gate("a model of this test", began).check(began)
    later = time.monotonic()
    gate("a model of this test", later).check(later)
