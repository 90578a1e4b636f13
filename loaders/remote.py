"""Places on other file systems, given by URL: S3 and whatever else fsspec, and so Inspect, reaches.

Credentials and endpoint are read as by any client of that store.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsspec.core import url_to_fs

from moral_evals.loaders.errors import SuiteError, first_line

Place = str | Path
"""A path of this machine or a URL. A URL must stay text: Path makes `s3:/` of `s3://`."""


def is_remote(place: Place) -> bool:
    """Whether a place is a URL of another file system."""
    return isinstance(place, str) and "://" in place and not place.startswith("file://")


def local(place: Place) -> Path:
    """A place of this machine as a path, `file://` taken off."""
    return Path(place.removeprefix("file://") if isinstance(place, str) else place)


def within(folder: Place, name: str) -> Place:
    """The place of a file in a folder."""
    return f"{str(folder).rstrip('/')}/{name}" if is_remote(folder) else local(folder) / name


def name_of(place: Place) -> str:
    """The last part of a place."""
    if is_remote(place):
        return str(place).rstrip("/").rpartition("/")[2]
    return local(place).resolve().name


def exists(place: Place) -> bool:
    """Whether there is a file. Raises SuiteError if a remote place cannot be asked."""
    if not is_remote(place):
        return local(place).exists()
    with _refused(place, "reached"):
        system, path = _found(place)
        return bool(system.exists(path))


def remove(place: Place) -> None:
    """Remove a file, if it is there. Raises SuiteError if a remote one cannot be removed."""
    if not is_remote(place):
        local(place).unlink(missing_ok=True)
    elif exists(place):
        with _refused(place, "removed"):
            system, path = _found(place)
            system.rm_file(path)


class RemotePart:
    """A file that is gathered on this machine and sent to its place by `keep`, whole.

    Raises SuiteError if the place cannot be reached or written.
    """

    def __init__(self, place: Place) -> None:
        """Begin the file; a store that nobody knows is refused here, before any work."""
        self.place = place
        with _refused(place, "written"):
            self._system, self._path = _found(place)
            # on Windows an open file cannot be opened again
            self._file = tempfile.NamedTemporaryFile(delete=False)  # noqa: SIM115

    def write(self, content: str | bytes) -> None:
        """Add to the file."""
        if isinstance(content, str):
            content = content.encode("utf-8", "replace")
        with _refused(self.place, "written"):
            self._file.write(content)

    def keep(self) -> None:
        """Send the file, over one that is there."""
        with _refused(self.place, "written"):
            self._file.close()
            self._system.put_file(self._file.name, self._path)

    def drop(self) -> None:
        """Leave no trace on this machine."""
        self._file.close()
        Path(self._file.name).unlink(missing_ok=True)


def _found(place: Place) -> tuple[Any, str]:
    # a listing kept from before would hide what others wrote since
    system, path = url_to_fs(str(place), use_listings_cache=False)
    return system, path


@contextmanager
def _refused(place: Place, what: str) -> Iterator[None]:
    try:
        yield
    # a store's client has errors of its own, an unknown store is a ValueError or ImportError
    except Exception as error:
        raise SuiteError(f"{place}: cannot be {what} ({first_line(error)}).") from error
