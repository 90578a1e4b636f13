"""The published data set on the Hugging Face hub: one named file at one resolved commit."""

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from moral_evals.loaders.errors import SuiteError

REPOSITORY = "morebench/morebench"
REVISION = "8290fafe65d595aaa28315b50ec4b64da6d3bd5e"
"""The commit that is read unless the user names another; `published.py` says what it holds."""


@dataclass(frozen=True)
class HubFile:
    """A file of the hub on this machine and the commit that it belongs to."""

    path: Path
    commit: str


def fetch(filename: str, revision: str = REVISION, repository: str = REPOSITORY) -> HubFile:
    """Bring one file of a hub data set here, from the hub or from its local cache.

    Args:
        filename: File name inside the repository; two files differ in shape, so it is required.
        revision: Commit, tag or branch.
        repository: `owner/name` of the data set.

    Raises:
        SuiteError: One line that says what to set: network, token, or revision.
    """
    where = f"{repository}/{filename} at revision {revision!r}"
    # the hub library's notes on each retry would bury our one line
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        path = hf_hub_download(
            repo_id=repository, filename=filename, repo_type="dataset", revision=revision
        )
    except RevisionNotFoundError as error:
        raise SuiteError(
            f"{where}: the hub has no such revision; set -T revision= to a commit of the data set, "
            "to `main` for the newest, or leave it out for the pinned one."
        ) from error
    except (GatedRepoError, RepositoryNotFoundError) as error:
        raise SuiteError(
            f"{where}: not found or not open to you; set HF_TOKEN to a token that may read it, "
            "or use a local copy with -T data=PATH."
        ) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, OSError) as error:
        # Every other failure to reach the hub arrives as one of these.
        if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
            raise SuiteError(f"{where}: the repository has no such file.") from error
        if _refused(error):
            raise SuiteError(f"{where}: access refused; set HF_TOKEN to a valid token.") from error
        raise SuiteError(
            f"{where}: the hub cannot be reached and the file is not in the local cache; "
            "check the network (or unset HF_HUB_OFFLINE), or use -T data=PATH or -T data=sample."
        ) from error
    except HFValidationError as error:
        raise SuiteError(f"{where}: not a valid name or revision ({error}).") from error
    return HubFile(Path(path), _commit(Path(path), filename))


def _refused(error: BaseException | None) -> bool:
    # an answer of "no" lies somewhere below the library's "not in the cache"
    while error is not None:
        if isinstance(error, HfHubHTTPError) and error.response.status_code in (401, 403):
            return True
        error = error.__cause__ or error.__context__
    return False


def _commit(path: Path, filename: str) -> str:
    # cache layout: .../snapshots/<commit>/<filename>
    with contextlib.suppress(IndexError):
        return path.parents[len(Path(filename).parts) - 1].name
    return "unknown"
