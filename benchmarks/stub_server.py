"""A small OpenAI-compatible server on loopback with known answers, latency and faults.

Used by tests and benchmarks. A candidate's reply depends on the last user message alone, a
verdict on criterion and judged text alone, so the right scores can be worked out without it:

    with StubServer(latency=0.05, faults=[Fault("429", 0.1, "judge")]) as stub:
        ...  # stub.base_url, stub.stats

or as a process of its own, which a benchmark wants: python benchmarks/stub_server.py --latency 1
"""

import argparse
import asyncio
import hashlib
import itertools
import json
import re
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

YES_RATE = 0.6
_JUDGED = re.compile(r"=== text (\w+) begins ===\n(.*?)\n=== text \1 ends ===", re.DOTALL)
_NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_LABELS = re.compile(r"^\[(\w+)\] ", re.MULTILINE)

STYLES = {
    "plain": ("yes", "no"),
    "bold": ("**Yes.**", "**No.**"),
    "reason_last": ("No one is named, yet the point is made.\nYes", "It says much, not this.\nNo"),
    "reason_first": ("Yes, because the point is made.", "No. A yes would need more."),
    "json": ('{"met": true}', '{"met": false}'),
    "garbage": ("I do not know", "Nothing of the sort happened yesterday"),
}


@dataclass(frozen=True)
class Fault:
    """What goes wrong for a share of the items.

    Attributes:
        kind: An HTTP status such as `429`, `drop`, `null`, `empty`, `reasoning_only`, `length`, or
            a reply style.
        rate: Share of items hit, the same ones in every run.
        scope: `candidate`, `judge` or `all`.
        attempts: How many tries for an item fail; 0 for every try, of a criterion whatever the
            text.
        model: Name of the only model that has the fault; empty for all.
    """

    kind: str
    rate: float
    scope: str = "all"
    attempts: int = 1
    model: str = ""


@dataclass
class Stats:
    """What the server has seen since its start.

    Attributes:
        calls: By scope.
        answered: Those among them that a reply was sent to.
        models: Calls by model.
        faults: By scope and kind.
        pairs: Criterion and judged text, how often each was asked.
        prompts: The candidate's last messages, how often each was sent.
        in_flight: Calls without a reply as yet.
        peak: The most of these at once.
    """

    calls: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    prompts: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    peak: int = 0


def unit(*parts: str) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def verdict(criterion: str, judged: str) -> bool:
    """Whether the stub's judge says yes."""
    return unit("verdict", criterion.strip(), judged) < YES_RATE


def candidate_reply(dilemma: str) -> tuple[str, str]:
    """(reasoning, response) to a dilemma, of 300 to 3,000 and 200 characters."""
    sentences = [
        f"Consideration {i} weighs {unit(dilemma, str(i)):.6f} against the others at hand."
        for i in range(5 + int(45 * unit("length", dilemma)))
    ]
    return " ".join(sentences), f"Conclusion {unit('end', dilemma):.6f}. " + "It follows. " * 14


class StubServer:
    """The server in a thread of this process; a context manager."""

    def __init__(
        self,
        latency: float = 0.0,
        faults: list[Fault] | None = None,
        style: str = "plain",
        port: int = 0,
        fresh: bool = False,
        hold: dict[str, int] | None = None,
    ) -> None:
        """Set how the server answers.

        Args:
            latency: Seconds.
            faults: What goes wrong.
            style: Of verdicts.
            port: 0 takes a free one.
            fresh: Whether the candidate never answers twice alike.
            hold: By scope how many calls are answered; all later ones wait for ever.
        """
        self.latency, self.faults, self.style, self.port = latency, faults or [], style, port
        self.fresh, self.hold = fresh, hold or {}
        self.stats = Stats()
        self._tries: Counter[tuple[Fault, str]] = Counter()
        self._thoughts = itertools.count(1)
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> "StubServer":
        """Start serving."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        """Base URL for OpenAI clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def environment(self, name: str = "stub") -> dict[str, str]:
        """Variables that make `openai-api/<name>/MODEL` speak to this server."""
        return {f"{name.upper()}_BASE_URL": self.base_url, f"{name.upper()}_API_KEY": "none"}

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26)
        self._add_routes(app.router)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    def _add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/chat/completions", self._handle)
        router.add_get("/stats", self._report)

    async def _report(self, _: web.Request) -> web.Response:
        s = self.stats
        body = {"calls": s.calls, "faults": s.faults, "pairs": len(s.pairs), "peak": s.peak}
        return web.json_response(body)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.stats.in_flight += 1
        self.stats.peak = max(self.stats.peak, self.stats.in_flight)
        try:
            body = await request.json()
            scope, item, reply = self._answer(body)
            self.stats.calls[scope] += 1
            self.stats.models[str(body["model"])] += 1
            fault = self._fault(scope, item, str(body["model"]))
            if self.stats.calls[scope] > self.hold.get(scope, sys.maxsize):
                await asyncio.sleep(3600)
            await asyncio.sleep(self.latency)
            self.stats.answered[scope] += 1
            return self._respond(request, reply, fault)
        finally:
            self.stats.in_flight -= 1

    def _answer(self, body: dict[str, Any]) -> tuple[str, tuple[str, str], dict[str, Any]]:
        """Scope, what lasting and passing faults go by, and the reply."""
        prompt = _text(body["messages"][-1])
        judged = _JUDGED.search(prompt)
        if judged is None:
            self.stats.prompts[prompt] += 1
            reasoning, response = candidate_reply(prompt)
            if self.fresh:
                reasoning = f"Thought {next(self._thoughts)}. {reasoning}"
            labels = _LABELS.findall(prompt) if "\nANSWER: <one of" in prompt else []
            if labels:
                response = f"ANSWER: {labels[int(unit('choice', prompt) * len(labels))]}"
            reply = {"content": response, "reasoning_content": reasoning}
            return "candidate", (prompt, prompt), reply
        text = judged.group(2)
        asked = prompt.rpartition("\nCriteria:\n")[2] if "\nCriteria:\n" in prompt else ""
        if asked:
            said = "\n".join(f"{n}: {self._say(c, text)}" for n, c in _NUMBERED.findall(asked))
            return "judge", (asked, asked + text), {"content": said}
        criterion = prompt.rpartition("Criterion:")[2].strip()
        reply = {"content": self._say(criterion, text), "reasoning": "So it is."}
        return "judge", (criterion, criterion + text), reply

    def _say(self, criterion: str, text: str) -> str:
        self.stats.pairs[criterion, text] += 1
        return STYLES[self.style][0 if verdict(criterion, text) else 1]

    def _fault(self, scope: str, items: tuple[str, str], model: str) -> Fault | None:
        for fault in self.faults:
            item = items[1 if fault.attempts else 0]
            if (
                fault.scope in (scope, "all")
                and fault.model in ("", model)
                and unit(fault.kind, item) < fault.rate
            ):
                self._tries[fault, item] += 1
                if not fault.attempts or self._tries[fault, item] <= fault.attempts:
                    self.stats.faults[f"{scope}:{fault.kind}"] += 1
                    return fault
        return None

    def _respond(
        self, request: web.Request, reply: dict[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        kind, finish = fault.kind if fault else "", "stop"
        if kind.isdigit():
            headers = {"Retry-After": "0.05"} if kind == "429" else {}
            error = {"error": {"message": f"injected {kind}", "type": "injected"}}
            return web.json_response(error, status=int(kind), headers=headers)
        if kind == "drop" and request.transport:
            request.transport.abort()
        if kind == "null":
            reply = {"content": None}
        elif kind == "empty":
            reply = {"content": ""}
        elif kind == "reasoning_only":
            reply = {"content": None, "reasoning_content": "I weigh it, so yes."}
        elif kind == "length":
            reply, finish = {"content": "", "reasoning_content": "It goes on and on"}, "length"
        elif kind in STYLES:
            reply = {"content": STYLES[kind][0]}
        body = json.dumps(self._completion(reply, finish)).encode()
        return web.Response(body=body, content_type="application/json")

    def _completion(self, reply: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
        message = {"role": "assistant", "refusal": None, **reply}
        return {
            "id": f"stub-{sum(self.stats.calls.values())}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def main() -> None:
    """Serve until the given time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--seconds", type=float, default=600, help="stop after this long")
    options = parser.parse_args()
    with StubServer(latency=options.latency, port=options.port) as stub:
        print(stub.base_url, flush=True)
        time.sleep(options.seconds)


if __name__ == "__main__":
    main()
