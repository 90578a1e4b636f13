"""Readable judge replies, so that nothing already judged is paid for twice.

Inspect's own cache keeps every reply, readable or not, and serves a bad one again; here a reply
is stored only once it has been read.
"""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache as once
from logging import getLogger
from pathlib import Path

from inspect_ai.model import ChatMessage, Model, cache_path

from moral_evals.scorers.judging.options import TRANSPORT
from moral_evals.scorers.judging.verdict_store import StoredReply, VerdictStore, read_entry

logger = getLogger(__name__)

# Local and free; and the name of a mock does not say what it answers, so a cache would mix mocks.
_UNCACHED_APIS = ("mockllm", "embedded", "scripted")


def store_folder() -> Path:
    """Where the replies of all judges lie: beside Inspect's cache, whose list they would flood."""
    return cache_path().parent / "moral_evals" / "verdicts"


@once
def _store(folder: Path) -> VerdictStore:
    return VerdictStore(folder)


@dataclass(frozen=True)
class VerdictCache:
    """Replies of one judge under its settings; `vote` keeps repeated votes apart.

    Attributes:
        folder: Of the store.
        judge: Model name, by which replies can be cleared.
        identity: All of the judge that can change a reply.
        older: Where versions before 0.2 kept this judge's replies, one file each.
    """

    folder: Path
    judge: str
    identity: str
    older: Path

    @classmethod
    def of(cls, model: Model, seat: str, vote: int) -> "VerdictCache | None":
        """The cache of a judge, or None for a model that is not worth or not safe to cache.

        Args:
            model: The judge.
            seat: Its name in the panel: a model that sits twice is asked twice.
            vote: 1 for the first time of asking.
        """
        if str(model).split("/")[0] in _UNCACHED_APIS:
            return None
        settings = model.config.model_dump(exclude_none=True, exclude=set(TRANSPORT))
        identity = [seat, model.api.base_url, settings, model.model_args, vote]
        try:
            folder, older = store_folder(), cache_path(str(model)) / "verdicts"
        except (OSError, ValueError) as error:  # no place to write, or a name with `..` in it
            logger.warning("replies of judge %s are not cached: %s", seat, error)
            return None
        return cls(folder, str(model), json.dumps(identity, default=str), older)

    def keys(self, conversations: Sequence[Sequence[ChatMessage]]) -> list[str]:
        """Hash of the judge, its settings, and all that it is shown, for each conversation."""
        encoded: dict[int, bytes] = {}
        return [self._key(messages, encoded) for messages in conversations]

    def _key(self, messages: Sequence[ChatMessage], encoded: dict[int, bytes]) -> str:
        digest = hashlib.sha256(self.identity.encode())
        for message in messages:
            # the parts one by one: joined, two of them could pass for one
            parts = [message.content] if isinstance(message.content, str) else message.content
            digest.update(f'["{message.role}"'.encode())
            for part in parts:
                # the judged text is one object in all conversations of a sample
                if id(part) not in encoded:
                    text = part if isinstance(part, str) else part.model_dump_json()
                    encoded[id(part)] = b", " + json.dumps(text).encode()
                digest.update(encoded[id(part)])
            digest.update(b"]")
        return digest.hexdigest()

    def get(self, keys: Sequence[str]) -> dict[str, StoredReply]:
        """The replies under these keys, of those that are there; one look-up for all."""
        found = _store(self.folder).get(keys)
        return found | {k: r for k in keys if k not in found and (r := self._older(k))}

    def put(self, key: str, reply: str, usage: dict[str, int]) -> None:
        """Store a reply; a full or read-only disk costs the saving, never the verdict."""
        try:
            _store(self.folder).put(key, self.judge, reply, usage)
        except (OSError, sqlite3.Error, UnicodeEncodeError) as error:
            _warn_once(self.folder, error)

    def _older(self, key: str) -> StoredReply | None:
        if not self.older.is_dir():
            return None
        try:
            path = self.older / key[:2] / f"{key}.json"
            return read_entry(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


_WARNED: set[Path] = set()


def _warn_once(folder: Path, error: Exception) -> None:
    # a full disk would otherwise say so at every one of thousands of replies
    if folder not in _WARNED:
        _WARNED.add(folder)
        logger.warning("judge replies are not cached in %s: %s", folder, error)
