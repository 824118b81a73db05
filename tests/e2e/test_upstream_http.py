"""What upstreams do to HTTP itself: 1xx, trailers, HTTP/1.0, dead connections, TLS, nobody there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness import settings
from tests.harness.authority import Authority
from tests.harness.dialects import CHAT, SIDES, TIMEOUT, UPSTREAM, Side, check_refusal
from tests.harness.gateway import Gateway, free_port
from tests.harness.proxy import ConnectProxy
from tests.harness.script import CLOSE, CUT, EOF, Answer, Framing, Pause, body, raw, stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


def _chunked(*parts: bytes, extension: bytes = b"") -> bytes:
    return b"".join(b"%x%b\r\n%b\r\n" % (len(part), extension, part) for part in parts)


@every_side
async def test_odd_but_legal_http(stage: Stage, side: Side) -> None:
    async def reads(make: str) -> None:
        model = stage.model(side)
        script = side.script(model)
        answer = _legal(make, script.bytes())
        played = await stage.play(side, answer, model=model)
        assert played.reply.body == script.bytes()
        assert (await played.row())["outcome"] == "completed"

    makes = ("100", "103", "trailers", "extensions", "1.0", "length", "folded case", "lf", "tiny writes")
    await together({make: reads(make) for make in makes})


def _legal(make: str, content: bytes) -> Answer:
    chunked = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    match make:
        case "100":
            return raw(b"HTTP/1.1 100 Continue\r\n\r\n", chunked + _chunked(content) + b"0\r\n\r\n")
        case "103":
            early = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 3
            return raw(early + chunked + _chunked(content) + b"0\r\n\r\n")
        case "trailers":
            return raw(chunked + _chunked(content) + b"0\r\nx-checksum: 1\r\nx-more: 2\r\n\r\n")
        case "extensions":
            return raw(chunked + _chunked(content, extension=b";a=b") + b"0\r\n\r\n")
        case "1.0":
            return raw(b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + content, CLOSE)
        case "length":
            return Answer((content,), framing=Framing.LENGTH)
        case "folded case":
            head = b"HTTP/1.1 200\r\nCONTENT-TYPE:text/event-stream\r\nTransfer-Encoding:  Chunked \r\n\r\n"
            return raw(head + _chunked(content) + b"0\r\n\r\n")
        case "lf":
            return raw(HEAD + b"connection: close\r\n\r\n" + content, CLOSE)
        case _:
            whole = chunked + _chunked(content) + b"0\r\n\r\n"
            return Answer([whole[at : at + 7] for at in range(0, len(whole), 7)], framing=Framing.RAW)


@every_side
async def test_a_body_that_is_cut_against_its_framing_is_a_failure(stage: Stage, side: Side) -> None:
    """Also when the text up to there looks whole, but lacks the end mark."""

    async def fails(data: bytes) -> None:
        good = side.script()
        played = await stage.play(side, raw(data, CLOSE), b=[stream(good.all)])
        assert played.text == "Hello"
        assert len(played.at_b) == 1

    content = b"".join(side.script().opening)
    await together(
        {
            "no last chunk": fails(HEAD + b"transfer-encoding: chunked\r\n\r\n" + _chunked(content)),
            "cut chunk": fails(HEAD + b"transfer-encoding: chunked\r\n\r\nffff\r\n" + content),
            "bad size": fails(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n" + content),
            "short length": fails(HEAD + b"content-length: 99999\r\n\r\n" + content),
            "cut head": fails(b"HTTP/1.1 200 OK\r\ncontent-ty"),
            "no status": fails(b"HTTP/1.1 OK\r\n\r\n"),
            "only 100": fails(b"HTTP/1.1 100 Continue\r\n\r\n"),
        }
    )


@every_side
async def test_a_second_answer_nobody_asked_for_is_never_shown(stage: Stage, side: Side) -> None:
    """The surplus must not become the answer to the next request on that connection."""
    model = stage.model(side)
    script = side.script(model)
    whole = HEAD + b"transfer-encoding: chunked\r\n\r\n" + _chunked(script.bytes()) + b"0\r\n\r\n"
    evil = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nevil"
    for _ in range(3):
        played = await stage.play(side, raw(whole + evil), model=model)
        assert played.reply.body == script.bytes()
    again = stage.model(side)
    script = side.script(again)
    played = await stage.play(side, stream(script.all), model=again)
    assert played.reply.body == script.bytes()


@every_side
async def test_a_pooled_connection_that_died_is_replaced_unseen(stage: Stage, side: Side) -> None:
    """The upstream closes after each answer: the next request must not notice."""
    for end in (EOF, CLOSE, CUT, CLOSE):
        model = stage.model(side)
        script = side.script(model)
        late = stream(script.all, Pause(0.01), end)
        played = await stage.play(side, late, model=model)
        assert played.reply.body == script.bytes()
        row = await played.row()
        assert [attempt["outcome"] for attempt in row["attempts"]] == ["served"]


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A gateway whose channels are trusted and untrusted TLS, and addresses where nobody answers."""
    folder = tmp_path_factory.mktemp("far")
    authority = Authority(folder)
    good = ScriptedUpstream(authority.server("127.0.0.1"))
    wrong = ScriptedUpstream(authority.server("other.example"))
    plain = ScriptedUpstream()
    for server in (good, wrong, plain):
        server.start()
    trusted = {"ca_file": str(authority.ca_file)}
    closed = f"http://127.0.0.1:{free_port()}"
    port = free_port()
    config = settings.server(port, str(folder))
    config["channels"] = [
        settings.channel("trusted", "chat", good.base("chat-A"), ["trusted"], **trusted),
        settings.channel("untrusted", "chat", good.base("chat-A"), ["untrusted"]),
        settings.channel("misnamed", "chat", wrong.base("chat-A"), ["misnamed"], **trusted),
        settings.channel("not-tls", "chat", f"https://127.0.0.1:{port}", ["not-tls"]),
        settings.channel("refused", "chat", closed, ["refused", "second"], priority=9),
        settings.channel("nowhere", "chat", "http://nothing.invalid", ["nowhere"]),
        settings.channel("second", "chat", plain.base("second"), ["second"], priority=1),
        settings.channel("mute", "chat", plain.base("mute").replace("http:", "https:"), ["mute"]),
    ]
    config["channels"][-1]["connect_timeout"] = "500ms"
    config["models"] = [{"name": name} for channel in config["channels"] for name in channel["models"]]
    config["models"] = [{"name": name} for name in sorted({model["name"] for model in config["models"]})]
    gateway = Gateway(config, folder)
    stage = Stage(gateway, good)
    plain.always("second", "second", body(json.dumps(CHAT.whole()).encode()))
    try:
        gateway.wait_ready()
        yield stage
    finally:
        gateway.stop()
        for server in (good, wrong, plain):
            server.stop()


async def test_tls_is_verified(far: Stage) -> None:
    far.upstream.always("chat-A", "trusted", body(json.dumps(CHAT.whole()).encode()))
    reply = await far.gateway.call(CHAT, CHAT.request("trusted", stream=False))
    assert reply.status == 200, reply.body
    for model in ("untrusted", "misnamed", "not-tls"):
        reply = await far.gateway.call(CHAT, CHAT.request(model, stream=False))
        check_refusal(CHAT, reply, UPSTREAM)
    assert far.upstream.requests("chat-A", "untrusted") == []


async def test_b102_no_connection_is_a_502_without_a_host_name(far: Stage) -> None:
    for model in ("refused", "nowhere"):
        for streamed in (True, False):
            reply = await far.gateway.call(CHAT, CHAT.request(model, stream=streamed))
            error = check_refusal(CHAT, reply, UPSTREAM)
            assert "127.0.0.1" not in error["message"]
            assert "invalid" not in error["message"]


async def test_b102_with_a_second_channel_the_caller_sees_only_that(far: Stage) -> None:
    reply = await far.gateway.call(CHAT, CHAT.request("second", stream=False))
    assert reply.status == 200
    row = await far.gateway.row("second")
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["failed", "served"]
    assert row["attempts"][0]["status"] is None


async def test_the_row_tells_each_attempt_s_way_in_time(far: Stage) -> None:
    """A connection that is made is timed, one from the pool takes no time, one that fails has none."""
    for _ in range(2):
        assert (await far.gateway.call(CHAT, CHAT.request("second", stream=False))).status == 200
    fresh = (await far.gateway.rows("model=trusted"))[-1]["attempts"][-1]
    refused, pooled = (await far.gateway.rows("model=second"))[0]["attempts"]
    assert 0 < fresh["connected_ms"] < fresh["first_byte_ms"] < fresh["duration_ms"]
    assert (refused["failure_kind"], refused["connected_ms"], refused["first_byte_ms"]) == (
        "upstream",
        None,
        None,
    )
    assert refused["reason"] == "priority 9, weight 1, of the caller's protocol"
    assert (pooled["failure_kind"], pooled["connected_ms"], pooled["first_event_ms"]) == (None, None, None)
    assert 0 < pooled["first_byte_ms"] < pooled["duration_ms"]


async def test_a_connection_that_is_not_made_in_time_is_a_504(far: Stage) -> None:
    """The peer takes the TCP connection and never says a word of TLS."""
    reply = await far.gateway.call(CHAT, CHAT.request("mute", stream=False), within=20)
    check_refusal(CHAT, reply, TIMEOUT)
    assert reply.head_at < 3


async def test_https_goes_through_the_proxy_of_the_environment(tmp_path: Path) -> None:
    """By CONNECT, with the proxy's credential; what NO_PROXY names goes straight; plain HTTP too."""
    proxy = ConnectProxy()
    proxy.start()
    authority = Authority(tmp_path)
    far_away, near = (
        ScriptedUpstream(authority.server("localhost")),
        ScriptedUpstream(authority.server("127.0.0.1")),
    )
    plain = ScriptedUpstream()
    for server in (far_away, near, plain):
        server.start()
        server.always("x", "m", body(json.dumps(CHAT.whole()).encode()))
    trusted = {"ca_file": str(authority.ca_file)}
    config = settings.server(free_port(), str(tmp_path))
    by_name = far_away.base("x").replace("127.0.0.1", "localhost")
    for name, base in (("far", by_name), ("near", near.base("x")), ("plain", plain.base("x"))):
        config["channels"].append(settings.channel(name, "chat", base, [], **trusted))
        config["channels"][-1]["models"] = {name: "m"}
        config["models"].append({"name": name})
    more = {"HTTPS_PROXY": f"http://user:pass@127.0.0.1:{proxy.port}", "NO_PROXY": "127.0.0.1"}
    gateway = Gateway(config, tmp_path, more=more)
    try:
        gateway.wait_ready()
        for name in ("far", "near", "plain"):
            reply = await gateway.call(CHAT, CHAT.request(name, stream=False))
            assert reply.status == 200, reply.body
        assert proxy.asked == [f"localhost:{far_away.port}"]
        assert proxy.credentials == ["Basic dXNlcjpwYXNz"]
    finally:
        gateway.stop()
        for server in (far_away, near, plain):
            server.stop()
        proxy.stop()
    assert "user:pass" not in gateway.log
