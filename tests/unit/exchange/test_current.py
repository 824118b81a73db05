import asyncio

from tests.unit.exchange.scene import Scene

from tidegate.exchange.current import serve_now, served_now


async def seen() -> str | None:
    incoming = served_now()
    return None if incoming is None else incoming.id


async def test_a_task_and_its_threads_serve_a_request_until_it_is_over() -> None:
    assert await seen() is None
    serve_now(Scene().incoming())
    assert await seen() == "req_1"
    incoming = await asyncio.to_thread(served_now)
    assert incoming is not None
    serve_now(None)
    assert await seen() is None


async def test_what_is_begun_in_the_midst_of_a_request_serves_none() -> None:
    serve_now(Scene().incoming())
    assert await asyncio.create_task(seen()) is None
    called: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: called.set_result(served_now()))
    assert await called is None
    assert await seen() == "req_1"
