"""The stub server with OpenAI's file and batch routes; its rules answer the requests inside."""

import itertools
import json
import time
from typing import Any

from aiohttp import web

from benchmarks.stub_server import StubServer


class BatchingStubServer(StubServer):
    """Says at the first look that a batch is in progress, from then on that it has ended.

    `stats.calls` has requests that came in a batch under `batched_candidate`, `batched_judge`.

    Attributes:
        end: How batches end: `completed`, or without results as `failed` or `expired`.
        sizes: Requests of each batch, in the order of arrival.
    """

    def __init__(self, end: str = "completed", **options: Any) -> None:
        """Take the options of `StubServer`, and how batches end."""
        super().__init__(**options)
        self.end = end
        self.sizes: list[int] = []
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._numbers = itertools.count()

    def _add_routes(self, router: web.UrlDispatcher) -> None:
        super()._add_routes(router)
        router.add_post("/v1/files", self._upload)
        router.add_get("/v1/files/{id}/content", self._download)
        router.add_post("/v1/batches", self._create)
        router.add_get("/v1/batches/{id}", self._look)

    async def _upload(self, request: web.Request) -> web.Response:
        upload = (await request.post())["file"]
        assert isinstance(upload, web.FileField)
        content = upload.file.read()
        facts = {
            "id": self._keep(content),
            "object": "file",
            "purpose": "batch",
            "bytes": len(content),
            "filename": upload.filename,
            "created_at": int(time.time()),
            "status": "processed",
        }
        return web.json_response(facts)

    async def _download(self, request: web.Request) -> web.Response:
        return web.Response(body=self._files[request.match_info["id"]])

    async def _create(self, request: web.Request) -> web.Response:
        order = await request.json()
        lines = [json.loads(line) for line in self._files[order["input_file_id"]].splitlines()]
        self.sizes.append(len(lines))
        batch = {
            "id": f"batch-{next(self._numbers)}",
            "object": "batch",
            "status": "in_progress",
            "created_at": int(time.time()),
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            **{k: order[k] for k in ("endpoint", "completion_window", "input_file_id")},
        }
        self._batches[batch["id"]] = batch
        if self.end == "completed":
            results = "\n".join(json.dumps(self._result(line)) for line in lines)
            batch["output_file_id"] = self._keep(results.encode())
        return web.json_response(batch)

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        scope, _, reply = self._answer(line["body"])
        self.stats.calls[f"batched_{scope}"] += 1
        response = {"status_code": 200, "body": self._completion(reply)}
        return {"custom_id": line["custom_id"], "error": None, "response": response}

    async def _look(self, request: web.Request) -> web.Response:
        batch = self._batches[request.match_info["id"]]
        shown = dict(batch)
        if batch["status"] == "in_progress":
            shown.pop("output_file_id", None)
            batch["status"] = self.end
        return web.json_response(shown)

    def _keep(self, content: bytes) -> str:
        name = f"file-{next(self._numbers)}"
        self._files[name] = content
        return name
