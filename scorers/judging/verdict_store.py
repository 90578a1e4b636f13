"""Readable judge replies on disk: SQLite files that each have one writer and many readers.

One file for all processes would need write-ahead logging to be fast, which does not work on a
folder that machines share. Here a process writes to a file of its own, named after its machine
and kept for the next process there, and looks replies up in all of them. A reply is handed to the
operating system as it comes, without waiting for the disk: a killed process loses none.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no fcntl, and there a slot is the process id
    fcntl = None  # type: ignore[assignment]

logger = getLogger(__name__)

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, judge TEXT NOT NULL, "
    "entry TEXT NOT NULL, stored REAL NOT NULL) WITHOUT ROWID"
)
_SUFFIX = ".sqlite"
# SQLite allows 32,766 variables a statement since 3.32, and 999 before
_MOST_KEYS = 900


@dataclass(frozen=True)
class StoredReply:
    """A reply, and the tokens that it cost when it was asked for."""

    reply: str
    usage: dict[str, int]


@dataclass(frozen=True)
class Holding:
    """What the store holds of one judge.

    Attributes:
        judge: Model name.
        replies: How many.
        characters: Length of the replies and of what is stored with them.
        oldest: Seconds since the epoch.
        newest: Seconds since the epoch.
    """

    judge: str
    replies: int
    characters: int
    oldest: float
    newest: float


class VerdictStore:
    """The replies in a folder.

    Anything that cannot be read is no reply, and the next one stored under its key replaces it.
    """

    def __init__(self, folder: Path) -> None:
        """Read and write in this folder, which need not exist yet."""
        self.folder = folder
        self._own: sqlite3.Connection | None = None
        self._own_path: Path | None = None
        self._lock: int | None = None
        self._process = 0
        self._opening = threading.Lock()
        self._others: dict[Path, sqlite3.Connection] = {}

    def get(self, keys: Sequence[str]) -> dict[str, StoredReply]:
        """The replies under these keys, of those that are there."""
        self._after_fork()
        found: dict[str, StoredReply] = {}
        with contextlib.suppress(OSError, sqlite3.Error):
            self._writer()
        if self._own is not None:
            found |= _look_up(self._own, keys)
        for path in self._files():
            missing = [key for key in keys if key not in found]
            if not missing:
                break
            if path != self._own_path and (reader := self._reader(path)):
                found |= _look_up(reader, missing)
        return found

    def put(self, key: str, judge: str, reply: str, usage: dict[str, int]) -> None:
        """Store a reply. Raises OSError or sqlite3.Error if the disk does not take it."""
        self._after_fork()
        # JSON, since SQLite takes no half of a surrogate pair
        row = (key, judge, json.dumps({"reply": reply, "usage": usage}), time.time())
        statement = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)"
        try:
            self._writer().execute(statement, row)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # full or read-only, not damaged
                raise
            self._set_aside()
            self._writer().execute(statement, row)

    def holdings(self) -> list[Holding]:
        """What is stored, judge by judge."""
        sums: dict[str, list[tuple[int, int, float, float]]] = {}
        for path in self._files():
            query = (
                "SELECT judge, count(*), sum(length(entry)), min(stored), max(stored) "
                "FROM replies GROUP BY judge"
            )
            with contextlib.suppress(sqlite3.Error), contextlib.closing(_open(path)) as store:
                for judge, *figures in store.execute(query):
                    sums.setdefault(judge, []).append(tuple(figures))
        return [
            Holding(
                judge, sum(f[0] for f in parts), sum(f[1] for f in parts),
                min(f[2] for f in parts), max(f[3] for f in parts),
            )
            for judge, parts in sorted(sums.items())
        ]  # fmt: skip

    def clear(self, judge: str | None = None, before: float | None = None) -> int:
        """Remove replies; of one judge and older than a time if given. Returns how many.

        Raises OSError or sqlite3.Error if a file cannot be changed.
        """
        chosen: list[tuple[str, object]] = []
        if judge is not None:
            chosen.append(("judge = ?", judge))
        if before is not None:
            chosen.append(("stored < ?", before))
        clause = " AND ".join(["1", *(condition for condition, _ in chosen)])
        values = [value for _, value in chosen]
        removed = 0
        for path in self._files():
            try:
                with contextlib.closing(_open(path, write=True)) as store:
                    removed += store.execute(f"DELETE FROM replies WHERE {clause}", values).rowcount
                    store.execute("VACUUM")
            except sqlite3.OperationalError:  # read-only or busy, not damaged
                raise
            except sqlite3.DatabaseError:
                _rename_damaged(path)
        if not values:
            for path in self.folder.glob("*.damaged"):
                path.unlink(missing_ok=True)
        return removed

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self._files())

    def close(self) -> None:
        """Let go of the files."""
        for store in (*self._others.values(), *([self._own] if self._own else [])):
            store.close()
        if self._lock is not None:
            os.close(self._lock)
        self._own, self._own_path, self._lock, self._others = None, None, None, {}

    def _files(self) -> Iterator[Path]:
        with contextlib.suppress(OSError):
            yield from sorted(self.folder.glob(f"*{_SUFFIX}"))

    def _after_fork(self) -> None:
        # a connection must not be carried over into a child process
        if self._process != os.getpid():
            self._own, self._own_path, self._lock, self._others = None, None, None, {}
            self._process = os.getpid()

    def _writer(self) -> sqlite3.Connection:
        with self._opening:
            return self._opened()

    def _opened(self) -> sqlite3.Connection:
        if self._own is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path, lock = _free_file(self.folder)
            try:
                self._own = _open(path, write=True)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    os.close(lock)
                    raise
                _rename_damaged(path)
                self._own = _open(path, write=True)
            self._own_path, self._lock = path, lock
            _share(path)
        return self._own

    def _reader(self, path: Path) -> sqlite3.Connection | None:
        if path not in self._others:
            try:
                self._others[path] = _open_to_read(path)
            except (OSError, sqlite3.Error):
                return None
        return self._others[path]

    def _set_aside(self) -> None:
        if self._own is not None and self._own_path is not None:
            self._own.close()
            self._own = None
            _rename_damaged(self._own_path)
            self._own = _open(self._own_path, write=True)


def _open(path: Path, write: bool = False) -> sqlite3.Connection:
    mode = "rwc" if write else "ro"
    store = sqlite3.connect(
        f"file:{_quoted(path)}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=5,
        check_same_thread=False,
    )
    if write:
        # the journal protects from a killed process; only a power cut could cost the last replies
        store.execute("PRAGMA journal_mode=TRUNCATE")
        store.execute("PRAGMA synchronous=OFF")
        store.execute(_SCHEMA)
    return store


def _open_to_read(path: Path) -> sqlite3.Connection:
    store = _open(path)
    try:
        store.execute("SELECT 1 FROM replies LIMIT 1")
    except sqlite3.OperationalError as error:
        store.close()
        if error.sqlite_errorname != "SQLITE_READONLY_ROLLBACK":
            raise
        return _rolled_back(path)
    return store


def _rolled_back(path: Path) -> sqlite3.Connection:
    """What a file held before the entry at which its process was killed, in memory.

    The file itself is left to its own machine: from here, a killed process may only seem so.
    """
    snapshot = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with tempfile.TemporaryDirectory() as folder:
        for name in (path.name, f"{path.name}-journal"):
            shutil.copy(path.with_name(name), folder)
        with contextlib.closing(_open(Path(folder) / path.name, write=True)) as copy:
            copy.backup(snapshot)
    return snapshot


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _free_file(folder: Path) -> tuple[Path, int]:
    """The first file of this machine that no other process writes to, and the lock on it."""
    machine = re.sub(r"[^\w.-]", "_", socket.gethostname()) or "machine"
    if fcntl is None:  # pragma: no cover
        path = folder / f"{machine}-{os.getpid()}{_SUFFIX}"
        return path, os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o666)
    slot = 0
    while True:
        path = folder / f"{machine}-{slot}{_SUFFIX}"
        slot += 1
        try:
            lock = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o666)
        except PermissionError:
            if not path.with_suffix(".lock").exists():
                raise
            continue  # another user's
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return path, lock
        except OSError as error:
            os.close(lock)
            if not isinstance(error, BlockingIOError):
                raise


def _share(path: Path) -> None:
    # a folder that a group shares says so itself, whatever the process's umask
    with contextlib.suppress(OSError):
        if path.parent.stat().st_mode & 0o040:
            path.chmod(path.stat().st_mode | 0o040)


def _rename_damaged(path: Path) -> None:
    logger.warning("judge replies in %s cannot be read; set aside as *.damaged", path)
    os.replace(path, path.with_suffix(".damaged"))
    path.with_name(path.name + "-journal").unlink(missing_ok=True)


def _look_up(store: sqlite3.Connection, keys: Iterable[str]) -> dict[str, StoredReply]:
    wanted = list(keys)
    found: dict[str, StoredReply] = {}
    with contextlib.suppress(sqlite3.Error):
        for start in range(0, len(wanted), _MOST_KEYS):
            part = wanted[start : start + _MOST_KEYS]
            marks = ", ".join("?" * len(part))
            query = f"SELECT key, entry FROM replies WHERE key IN ({marks})"
            for key, entry in store.execute(query, part):
                if stored := read_entry(entry):
                    found[key] = stored
    return found


def read_entry(entry: object) -> StoredReply | None:
    """A reply as it was stored, here or in a file of the older form; None for anything else."""
    try:
        found = json.loads(entry) if isinstance(entry, str) else None
    except (ValueError, RecursionError):
        return None
    match found:
        case {"reply": str(reply), "usage": dict(usage)}:
            counts = all(type(n) is int for n in usage.values())
            return StoredReply(reply, usage) if counts else None
    return None
