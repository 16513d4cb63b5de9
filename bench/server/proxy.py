"""A proxy that makes an emulator answer as AWS does in the same region: after 20 ms, and not more often than AWS.

It counts every call as `service.Operation`. A reply leaves no sooner than the latency after its request came in, so an
emulator that is faster than that costs nothing; and replies to reads are kept and given again until something is
written to that service, so that the emulator is not what is measured. Loopback only.

Control: GET /__stats; POST /__reset (counters and buckets), /__flush (kept replies), /__rates?on=0|1.
"""

from __future__ import annotations

import argparse
import asyncio
import ssl
import time
from collections import Counter
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from bench.server.calls import is_read, name_of
from bench.server.rates import RATES, Bucket

_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "date", "server"}
_OURS = {"connection", "expect", "content-length", "transfer-encoding"}


@dataclass(frozen=True)
class Reply:
    """An answer of the emulator, byte for byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Proxy:
    """Counts, delays, throttles, and keeps replies to reads."""

    def __init__(self, upstream: str, latency: float) -> None:
        self._upstream, self._latency = upstream, latency
        self._kept: dict[tuple[object, ...], Reply] = {}
        self._rated = False
        self._reset()

    def _reset(self) -> None:
        self._calls: Counter[str] = Counter()
        self._throttled: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._connections: set[object] = set()
        self._late = self._inflight = self._most_inflight = 0
        self._since = now = time.monotonic()
        self._paced_from = 0.0
        self._buckets = {name: bucket for rate in RATES for bucket in [Bucket(rate, now)] for name in rate.operations}

    async def serve(self, port: int, tls_port: int, certificate: str, key: str) -> None:
        connector = aiohttp.TCPConnector(limit=32)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as self._session:
            runner = web.ServerRunner(web.Server(self._handle, access_log=None, keepalive_timeout=300))
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            await web.TCPSite(runner, "127.0.0.1", tls_port, backlog=1024, ssl_context=context).start()
            await asyncio.Event().wait()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/__"):
            return self._control(request)
        begun = time.monotonic()
        if request.headers.get("Expect", "").lower() == "100-continue":  # botocore waits a second for the answer
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        body = await request.read()
        name = name_of(request.method, request.path, request.query, request.headers, body)
        self._calls[name] += 1
        self._connections.add(request.transport and request.transport.get_extra_info("peername"))
        self._inflight += 1
        self._most_inflight = max(self._most_inflight, self._inflight)
        try:
            return await self._answer(name, request, body, begun)
        finally:
            self._inflight -= 1

    async def _answer(self, name: str, request: web.BaseRequest, body: bytes, begun: float) -> web.Response:
        bucket = self._buckets.get(name) if self._rated else None
        if bucket is not None:
            self._paced_from = self._paced_from or begun - self._since
            if not bucket.take(begun):
                self._throttled[name] += 1
                await asyncio.sleep(self._latency)
                return _throttled(request)
        reply = await self._reply(name, request, body)
        self._statuses[reply.status] += 1
        rest = self._latency - (time.monotonic() - begun)
        self._late += rest < 0
        await asyncio.sleep(max(0.0, rest))
        return web.Response(status=reply.status, headers=reply.headers, body=reply.body)

    async def _reply(self, name: str, request: web.BaseRequest, body: bytes) -> Reply:
        if not is_read(name):
            self._forget(name)
            reply = await self._forward(request, body)
            self._forget(name)  # again: a read may have been answered meanwhile
            return reply
        key = (name, request.method, request.raw_path, body, request.headers.get("Accept"))
        if key not in self._kept:
            reply = await self._forward(request, body)
            if reply.status != 200:
                return reply
            self._kept[key] = reply
        return self._kept[key]

    def _forget(self, name: str) -> None:
        """Drop what a write may have made untrue; objects in S3 are not in the tag index."""
        service = name.partition(".")[0]
        stale = (f"{service}.",) if name.endswith("Object") else (f"{service}.", "tagging.")
        self._kept = {key: reply for key, reply in self._kept.items() if not str(key[0]).startswith(stale)}

    async def _forward(self, request: web.BaseRequest, body: bytes) -> Reply:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
        async with self._session.request(
            request.method,
            self._upstream + request.raw_path,
            data=body or None,
            headers=headers,
            allow_redirects=False,
            skip_auto_headers=("User-Agent", "Content-Type"),
        ) as answer:
            kept = tuple((name, value) for name, value in answer.headers.items() if name.lower() not in _HOP)
            return Reply(answer.status, kept, await answer.read())

    def _control(self, request: web.BaseRequest) -> web.Response:
        match request.path:
            case "/__reset":
                self._reset()
            case "/__flush":
                self._kept = {}
            case "/__rates":
                self._rated = request.query["on"] == "1"
        return web.json_response(
            {
                "calls": dict(sorted(self._calls.items())),
                "throttled": dict(sorted(self._throttled.items())),
                "statuses": {str(status): count for status, count in sorted(self._statuses.items())},
                "connections": len(self._connections),
                "most_inflight": self._most_inflight,
                "late": self._late,
                "paced_from": round(self._paced_from, 4),
            }
        )


def _throttled(request: web.BaseRequest) -> web.Response:
    """AWS's throttling error in the protocol of the request."""
    if request.path.startswith("/service/"):
        words = {"__type": "ThrottlingException", "message": "Rate exceeded"}
        body = b"\xa2" + b"".join(map(_cbor, (text for pair in words.items() for text in pair)))
        headers = {"smithy-protocol": "rpc-v2-cbor", "Content-Type": "application/cbor"}
        return web.Response(status=400, headers=headers, body=body)
    body = b'{"__type":"ThrottlingException","message":"Rate exceeded"}'
    return web.Response(status=400, body=body, content_type="application/x-amz-json-1.1")


def _cbor(text: str) -> bytes:
    return bytes([0x60 + len(text)]) + text.encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--latency-ms", type=float, default=20)
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--key", required=True)
    given = parser.parse_args()
    proxy = Proxy(given.upstream, given.latency_ms / 1000)
    serving = proxy.serve(given.port, given.tls_port, given.certificate, given.key)
    try:
        import uvloop
    except ImportError:  # slower, still right
        asyncio.run(serving)
    else:
        uvloop.run(serving)


if __name__ == "__main__":
    main()
