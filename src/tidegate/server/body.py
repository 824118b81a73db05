"""Reads a request body whole, within its time and size."""

import asyncio

from aiohttp import http_exceptions
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestPayloadError

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.server.body_decoding import BodyDecoder, decode_body

TOO_LARGE = Failure(kind=Kind.BODY_TOO_LARGE, message="Request exceeds the maximum size.")
TOO_SLOW = Failure(kind=Kind.BODY_TIMEOUT, message="The request body did not arrive in time.")
CUT = Failure(kind=Kind.INVALID_REQUEST, message="The request body is not whole.")


async def read_body(content: StreamReader, encoding: str, limit: int, patience: float) -> bytes | Failure:
    """The decoded body. `limit` in bytes holds before and after decoding; `patience` in seconds, 0 = none."""
    if content.is_eof() and not encoding:
        body = content.read_nowait()
        return TOO_LARGE if len(body) > limit else body
    try:
        decoder = decode_body(encoding, limit)
        async with asyncio.timeout(patience or None):
            return await _collect(content, decoder, limit)
    except TidegateError as error:
        return error.failure
    except TimeoutError:
        return TOO_SLOW
    except (http_exceptions.HttpProcessingError, RequestPayloadError):
        return CUT


async def _collect(content: StreamReader, decoder: BodyDecoder, limit: int) -> bytes | Failure:
    received = 0
    while part := await content.readany():
        received += len(part)
        if received > limit:
            return TOO_LARGE
        decoder.feed(part)
    return decoder.finish()
