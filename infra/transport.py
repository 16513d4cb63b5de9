"""How answers come: over one TLS context for all clients of a process, and whole or not at all.

botocore's own reads the whole bundle of certificate authorities for every new connection, 31 ms of CPU each: with two
dozen threads three quarters of a second of every cold start, which an emulator without TLS never shows. Its event
`before-send` lets somebody else send a request; here that is urllib3 as botocore uses it, with a context that has read
the bundle once. Everything else (signing, retries, parsing) stays botocore's.

An answer whose connection ends in its middle is an error. botocore takes what came, and reads JSON that breaks off as
`{}`: a page of nothing, and the last one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from botocore.awsrequest import AWSHTTPSConnectionPool, AWSResponse
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import create_urllib3_context
from urllib3 import PoolManager, Timeout
from urllib3 import exceptions as urllib3_errors

CONNECT_SECONDS, READ_SECONDS = 3, 15
"""Shorter than a tick: the next run is the retry."""

CONNECTIONS = 64
"""Kept to a host at most: one for each thread that a run may have."""

MOST_HOSTS = 256
"""Services times regions: beyond this the connections to the host that was least recently used are closed."""


class Transport:
    """Sends botocore's requests over TLS. `bundle` is the file of the certificate authorities that count."""

    def __init__(self, bundle: str) -> None:
        self._bundle = bundle
        self._proxied = bool(getproxies().keys() - {"no"})
        self._lock = Lock()

    def send(self, request: Any, **_: Any) -> AWSResponse | None:
        """The answer, or one of botocore's errors; None: botocore sends it itself.

        That is where there is no TLS, where a proxy stands between, and beside moto: it answers to the same event in
        this very process, and every listener of an event is heard.
        """
        if not request.url.startswith("https:") or self._proxied or "moto" in sys.modules:
            return None
        with _as_botocore_says_it(request):
            with self._lock:
                pools = self._pools
            pool = pools.connection_from_url(request.url)
            answer: Any = pool.urlopen(
                request.method,
                _target(request.url),
                body=request.body,
                headers=request.headers,
                retries=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
                chunked=request.headers.get("Transfer-Encoding") in ("chunked", b"chunked"),
                enforce_content_length=True,
            )
            response = AWSResponse(request.url, answer.status, answer.headers, answer)
            if not request.stream_output:
                response.content  # noqa: B018 - reads it, and gives the connection back
            return response

    @cached_property
    def _pools(self) -> PoolManager:
        context = create_urllib3_context()
        context.load_verify_locations(self._bundle)
        timeout = Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        pools = PoolManager(
            MOST_HOSTS, maxsize=CONNECTIONS, timeout=timeout, cert_reqs="CERT_REQUIRED", ssl_context=context
        )
        pools.pool_classes_by_scheme = {"https": AWSHTTPSConnectionPool}  # it waits for `100 Continue` before a body
        return pools


def whole(operation_model: Any, response_dict: Any, **_: Any) -> None:
    """Raises IncompleteReadError for an answer that is shorter than it says of itself; of streams their readers know.

    For botocore's event `before-parse`: it holds whoever sent the request, through a proxy or without TLS too.
    """
    body, length = response_dict["body"], response_dict["headers"].get("content-length")
    has_body = isinstance(body, bytes) and operation_model.http["method"] != "HEAD"
    if has_body and length is not None and len(body) != int(length):
        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=int(length))


def _target(url: str) -> str:
    """What stands in the request line: path and query, as they were signed."""
    parts = urlsplit(url)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


@contextmanager
def _as_botocore_says_it(request: Any) -> Iterator[None]:
    """The errors by which botocore decides whether to try again (`botocore.httpsession` says the same)."""
    url = request.url
    try:
        yield
    except urllib3_errors.NewConnectionError as error:
        raise EndpointConnectionError(endpoint_url=url, error=error) from error
    except urllib3_errors.ConnectTimeoutError as error:
        raise ConnectTimeoutError(endpoint_url=url, error=error) from error
    except urllib3_errors.ReadTimeoutError as error:
        raise ReadTimeoutError(endpoint_url=url, error=error) from error
    except urllib3_errors.ProtocolError as error:
        raise ConnectionClosedError(endpoint_url=url, error=error, request=request) from error
    except (urllib3_errors.SSLError, OSError) as error:
        raise SSLError(endpoint_url=url, error=error) from error
    except Exception as error:
        raise HTTPClientError(error=error) from error
