from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp.test_utils import RawTestServer, TestClient
from yarl import URL

from tidegate.console.mount import FOLDER, Console, belongs, read_files
from tidegate.console.packed import Packed

INDEX = b"<!doctype html>" + b" " * 600


@pytest_asyncio.fixture
async def client() -> AsyncIterator[TestClient[Any, Any]]:
    files = {"index.html": Packed("index.html", INDEX), "style/base.css": Packed("base.css", b"a{}")}
    async with RawTestServer(Console(files).answer) as server:
        asking: TestClient[Any, Any] = TestClient(server)
        yield asking
        await asking.close()


async def get(
    client: TestClient[Any, Any], path: str, method: str = "GET", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    url = URL(path, encoded=True)
    request = client.request(method, url, headers=sent, allow_redirects=False, auto_decompress=False)
    async with request as answer:
        return answer.status, await answer.read(), {k.lower(): v for k, v in answer.headers.items()}


async def test_a_file_is_itself_and_anything_else_the_page(client: TestClient[Any, Any]) -> None:
    assert (await get(client, "/console/style/base.css"))[1] == b"a{}"
    for path in ("/console/", "/console/requests/req_1", "/console/style/", "/console/style"):
        status, body, headers = await get(client, path, accept_encoding="identity")
        assert (status, body, headers["content-type"]) == (200, INDEX, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    "path",
    [
        "/console/../mount.py",
        "/console/..%2f..%2fmount.py",
        "/console/%2e%2e/mount.py",
        "/console//etc/passwd",
        "/console/style/%00",
        "/console/..\\mount.py",
        "/console/.hidden",
    ],
)
async def test_no_path_leads_out_of_the_folder(client: TestClient[Any, Any], path: str) -> None:
    status, body, _ = await get(client, path, accept_encoding="identity")
    assert (status, body) == (200, INDEX)


async def test_every_answer_guards_the_page(client: TestClient[Any, Any]) -> None:
    etag = (await get(client, "/console/"))[2]["etag"]
    answers = [
        await get(client, "/console/"),
        await get(client, "/console"),
        await get(client, "/console/", if_none_match=etag),
        await get(client, "/console/", method="POST"),
    ]
    assert [status for status, _, _ in answers] == [200, 308, 304, 405]
    for _, _, headers in answers:
        policy = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert headers["server"] == "tidegate"


async def test_a_browser_that_has_it_gets_nothing(client: TestClient[Any, Any]) -> None:
    _, packed, headers = await get(client, "/console/", accept_encoding="br")
    assert (headers["content-encoding"], headers["vary"]) == ("br", "accept-encoding")
    assert len(packed) < len(INDEX)
    for tags in (headers["etag"], f'"other", W/{headers["etag"]}', "*"):
        status, body, _ = await get(client, "/console/", accept_encoding="br", if_none_match=tags)
        assert (status, body) == (304, b"")
    assert (await get(client, "/console/", accept_encoding="gzip", if_none_match=headers["etag"]))[0] == 200


async def test_head_tells_the_same_without_the_body(client: TestClient[Any, Any]) -> None:
    status, body, headers = await get(client, "/console/", method="HEAD", accept_encoding="identity")
    assert (status, body, headers["content-length"]) == (200, b"", str(len(INDEX)))


async def test_other_methods_are_told_which_there_are(client: TestClient[Any, Any]) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, _, headers = await get(client, "/console/app.js", method=method)
        assert (status, headers["allow"]) == (405, "GET, HEAD")


async def test_the_folder_itself_is_a_step_away(client: TestClient[Any, Any]) -> None:
    status, _, headers = await get(client, "/console?lang=zh")
    assert (status, headers["location"]) == (308, "/console/?lang=zh")
    status, _, headers = await get(client, "/console?a=%26&b=%0D%0Aset-cookie:c")
    assert (status, headers["location"]) == (308, "/console/?a=%26&b=%0D%0Aset-cookie:c")
    assert "set-cookie" not in headers


def test_what_belongs_to_the_console() -> None:
    assert belongs("/console")
    assert belongs("/console/a")
    assert not belongs("/consoles")
    assert not belongs("/v1/console")


def test_the_files_of_the_package_are_all_there() -> None:
    files = read_files()
    on_disk = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert "index.html" in files
    assert set(files) == {path for path in on_disk if not path.rpartition("/")[2].startswith(".")}
    assert not [name for name, file in files.items() if file.media_type == "application/octet-stream"]


def test_a_console_needs_its_page() -> None:
    with pytest.raises(KeyError):
        Console({})
