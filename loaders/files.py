"""The one opener of files that a user names: regular files of bounded size, in UTF-8.

And the one writer: a file appears whole, or what was there before stays.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from moral_evals.loaders.errors import DataError, SuiteError
from moral_evals.loaders.remote import Place, RemotePart, is_remote, local

DATA_LIMIT = 2 * 1024**3
"""Bytes of a data file at most: upstream's largest judgement files have some hundred million."""
TABLE_LIMIT = 2 * 1024**2
"""Bytes at most of a file that is written by hand: prices, models, value maps, theories."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_BOM = b"\xef\xbb\xbf"


def find(text: str | Path, *folders: Path) -> Path | None:
    """The path of something that exists and is named by a user, None if there is none.

    Args:
        text: The path, which may begin with `~` or `~USER`.
        folders: Where a relative path may start; the working directory if left out.
    """
    for folder in folders or (Path(),):
        try:
            path = folder / Path(text).expanduser()
            if path.exists():
                return path
        except (OSError, ValueError, RuntimeError):
            pass  # a name too long, with a NUL, of no user, or in a closed folder
    return None


def read_bytes(path: Path, limit: int = DATA_LIMIT) -> bytes:
    """A whole file. Raises SuiteError if it is missing, no regular file, closed or too large."""
    with _opened(path, limit) as file:
        return file.read()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal. Raises SuiteError as `read_bytes` does."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def read_text(path: Path, limit: int = DATA_LIMIT) -> str:
    """A whole UTF-8 file without its byte order mark; line ends are kept as they are.

    Raises SuiteError as `read_bytes` does, DataError naming the line that is not UTF-8.
    """
    content = read_bytes(path, limit).removeprefix(_BOM)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _not_utf8(path, f"line {line}", error) from error


def read_lines(path: Path, limit: int = DATA_LIMIT) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers from 1, as an editor counts them.

    Raises like `read_text`.
    """
    with _opened(path, limit) as file:
        for number, raw in enumerate(file, 1):
            content = raw.removeprefix(_BOM) if number == 1 else raw
            try:
                yield number, content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(path, f"row {number}", error) from error


class PartFile:
    """A file under another name beside its place, which it takes by `keep`; text is UTF-8.

    Every method raises SuiteError if the file cannot be written, as on a full disk.
    """

    def __init__(self, place: Path) -> None:
        """Begin the file; folders on the way to it are made."""
        self.place = place
        with _refused(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=place.parent, prefix=".")
        self._file, self._path = os.fdopen(handle, "wb"), Path(name)

    def write(self, content: str | bytes) -> None:
        """Add to the file."""
        if isinstance(content, str):
            # a lone surrogate, which JSON allows in a log, has no place in UTF-8
            content = content.encode("utf-8", "replace")
        with _refused(self.place):
            self._file.write(content)

    def keep(self) -> None:
        """Put the file in its place, over one that is there."""
        with _refused(self.place):
            self._file.close()
            os.chmod(self._path, 0o666 & ~_umask())  # mkstemp keeps its file to the owner
            os.replace(self._path, self.place)

    def drop(self) -> None:
        """Leave no trace of the file, unless it was kept."""
        with suppress(OSError):  # what could not be written fails again here
            self._file.close()
        self._path.unlink(missing_ok=True)


def part_file(place: Place) -> PartFile | RemotePart:
    """A file to be kept or dropped, wherever its place is."""
    return RemotePart(place) if is_remote(place) else PartFile(local(place))


def write_whole(place: Place, content: str | bytes) -> None:
    """Write a file in one step, here or at a URL. Raises SuiteError if it cannot be written."""
    part = part_file(place)
    try:
        part.write(content)
        part.keep()
    finally:
        part.drop()


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SuiteError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _opened(path: Path, limit: int) -> BinaryIO:
    try:
        # without O_NONBLOCK a pipe that nobody writes to would hang here
        handle = os.open(path.expanduser(), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError as error:
        raise SuiteError(f"{path}: no such file.") from error
    except (OSError, ValueError, RuntimeError) as error:
        problem = getattr(error, "strerror", None) or error
        raise SuiteError(f"{shown(path)}: cannot be read ({problem}).") from error
    try:
        _refuse_odd(path, os.fstat(handle), limit)
    except SuiteError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def _refuse_odd(path: Path, found: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in _KINDS if test(found.st_mode)), "something else")
        raise SuiteError(f"{path}: is {kind}; needed is a file.")
    if found.st_size > limit:
        raise SuiteError(
            f"{path}: has {found.st_size:,} bytes; files of this kind have {limit:,} at most."
        )


def shown(path: Path | str) -> str:
    """A path for a message: on one line and not too long."""
    text = "".join(c if c.isprintable() else "?" for c in str(path))
    return text if len(text) <= 120 else f"{text[:57]}...{text[-60:]}"


def _not_utf8(path: Path, place: str, error: UnicodeDecodeError) -> DataError:
    value = error.object[error.start]
    return DataError(f"{path.name}, {place}: not UTF-8 text (byte 0x{value:02x}: {error.reason}).")
