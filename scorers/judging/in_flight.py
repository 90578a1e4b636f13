"""Questions that another task of this process is asking at the moment, so that none is paid twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.lowlevel import current_token

_ASKED: dict[tuple[object, str], anyio.Event] = {}


@asynccontextmanager
async def alone(key: str) -> AsyncIterator[bool]:
    """Wait until nobody else asks this question; whether somebody did.

    Args:
        key: Of the question; an empty one is nobody else's.
    """
    if not key:
        yield False
        return
    place, waited = (current_token(), key), False
    while (asked := _ASKED.get(place)) is not None:
        waited = True
        await asked.wait()
    _ASKED[place] = anyio.Event()
    try:
        yield waited
    finally:
        _ASKED.pop(place).set()
