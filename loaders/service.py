"""How a model is served: its arguments and its address, without what must stay secret."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

_ARGUMENTS = TypeAdapter(dict[str, Any])
_SECRET = re.compile(
    r"api_?key|(^|[_-])(auth|authorization|cookie|credentials?|key|passw(or)?d|secret|token)$",
    re.IGNORECASE,
)


def arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as plain JSON; keys, tokens and what is no data are left out."""
    plain = _ARGUMENTS.dump_python(dict(given), mode="json", fallback=lambda _: None)
    return {k: v for k, v in _open(plain).items() if v not in (None, {}, [])}


def _open(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _open(v) for k, v in value.items() if not _SECRET.search(str(k))}
    return [_open(v) for v in value] if isinstance(value, list) else value


def address(url: str | None) -> str:
    """A base URL without user, password and query; empty for none."""
    if not url:
        return ""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/") if host else url


def served(model: str, given: Mapping[str, Any], url: str | None) -> list[str]:
    """`name=value` of all that says who served a model; a provider's own domain says nothing.

    Args:
        model: Its name, PROVIDER/MODEL.
        given: Its arguments.
        url: Its base URL.
    """
    found = [f"{name}={value}" for name, value in sorted(arguments(given).items())]
    domain = (urlsplit(url or "").hostname or "").split(".")[-2:-1]
    if (place := address(url)) and domain != [model.partition("/")[0]]:
        found.append(f"base_url={place}")
    return found
