"""Readable judge replies on disk, so that nothing already judged is paid for twice.

Inspect's own cache keeps every reply, readable or not, and serves a bad one again; here a reply
is stored only once it has been read. One file a reply, put in place in one step, so that runs
side by side and a killed run leave no half-written one. The files lie in the folder of Inspect's
cache for the model: `inspect cache clear` removes them too.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path

from inspect_ai.model import ChatMessage, Model, cache_path

from moral_evals.scorers.judging.options import TRANSPORT

logger = getLogger(__name__)

# Local and free; and the name of a mock does not say what it answers, so a cache would mix mocks.
_UNCACHED_APIS = ("mockllm", "embedded", "scripted")


@dataclass(frozen=True)
class StoredReply:
    """A reply, and the tokens that it cost when it was asked for."""

    reply: str
    usage: dict[str, int]


@dataclass(frozen=True)
class VerdictCache:
    """Replies of one judge under its settings; `vote` keeps repeated votes apart."""

    folder: Path
    identity: str

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
            folder = cache_path(str(model)) / "verdicts"
        except (OSError, ValueError) as error:  # no place to write, or a name with `..` in it
            logger.warning("replies of judge %s are not cached: %s", seat, error)
            return None
        return cls(folder, json.dumps(identity, default=str))

    def key(self, messages: Sequence[ChatMessage]) -> str:
        """Hash of the judge, its settings, and all that it is shown."""
        digest = hashlib.sha256(self.identity.encode())
        for message in messages:
            # the parts one by one: joined, two of them could pass for one
            parts = message.content
            texts = [parts] if isinstance(parts, str) else [p.model_dump_json() for p in parts]
            digest.update(json.dumps([message.role, *texts]).encode())
        return digest.hexdigest()

    def get(self, key: str) -> StoredReply | None:
        """The reply under a key; None if there is none or its file is damaged."""
        try:
            found = json.loads(self._path(key).read_text(encoding="utf-8"))
            return StoredReply(str(found["reply"]), dict(found["usage"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: str, usage: dict[str, int]) -> None:
        """Store a reply; a full or read-only disk costs the saving, never the verdict."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump({"reply": reply, "usage": usage}, file)
                os.replace(name, path)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            _warn_once(self.folder, error)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


_WARNED: set[Path] = set()


def _warn_once(folder: Path, error: OSError) -> None:
    # a full disk would otherwise say so at every one of thousands of replies
    if folder not in _WARNED:
        _WARNED.add(folder)
        logger.warning("judge replies are not cached in %s: %s", folder, error)
