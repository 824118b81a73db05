from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.admin.served import Api, served
from tests.unit.managed.stores import CHANNEL

from tidegate.routing.catalog import Channel
from tidegate.storage.catalog import Kind


@pytest_asyncio.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with served(tmp_path) as running:
        yield running


async def test_a_channel_is_made_shown_changed_and_deleted(api: Api) -> None:
    status, made, headers = await api("POST", "channels", {**CHANNEL, "name": "a/b c"})
    assert (status, headers["location"]) == (201, "/admin/v1/channels/a%2Fb%20c")
    assert headers["cache-control"] == "no-store"
    assert (made["managed_by"], made["has_api_key"], made["header_names"]) == ("database", True, ["x-team"])
    assert headers["etag"] == f'"{made["version"]}"'
    assert (await api("GET", "channels/a%2Fb%20c"))[1] == made
    status, changed, _ = await api("PATCH", "channels/a%2Fb%20c", {"weight": 5, "connect_timeout": "2s"})
    assert (status, changed["weight"], changed["connect_timeout"]) == (200, 5, 2.0)
    assert (await api("DELETE", "channels/a%2Fb%20c"))[0] == 204
    assert (await api("GET", "channels/a%2Fb%20c"))[0] == 404


async def test_no_answer_has_a_secret_but_the_one_that_makes_a_key(api: Api) -> None:
    await api("POST", "channels", CHANNEL)
    await api("POST", "channels", CHANNEL)
    await api("POST", "channels", {**CHANNEL, "name": "other", "api_key": "two words of-secret"})
    await api("PATCH", "channels/stored", {"headers": {"x-a": "b-secret\n"}})
    _, made, _ = await api("POST", "keys", {"name": "app"})
    secret = made.pop("secret")
    api.answers = api.answers.replace(secret, "", 1)
    for path in ("channels", "channels/stored", "keys", "keys/app", "openapi.json"):
        await api("GET", path)
    for hidden in (secret, "sk-", "of-secret", "b-secret", "search-team-secret"):
        assert hidden not in api.answers.replace("sk-tg-" + secret[6:8], "")


async def test_prices_are_exact_texts(api: Api) -> None:
    price = {"input": "3.00", "output": "0.000001", "cache_read": 0}
    body = {"name": "m", "price": price, "price_tiers": [{"above_input_tokens": 5, "input": 1.50}]}
    status, made, _ = await api("POST", "models", {**body, "service_tiers": {"priority": "2.0"}})
    assert status == 201
    assert made["price"] == {"input": "3.00", "output": "0.000001", "cache_read": "0"}
    assert made["price_tiers"] == [{"above_input_tokens": 5, "input": "1.5"}]
    assert made["service_tiers"] == {"priority": "2.0"}
    assert made["warnings"] == ["name: no channel serves this model"]
    _, changed, _ = await api(
        "PATCH", "models/m", {"price": None, "price_tiers": None, "service_tiers": None}
    )
    assert (changed["price"], changed["price_tiers"]) == (None, [])


async def test_lists_have_pages_in_the_order_of_names(api: Api) -> None:
    for name in ("d", "b", "a", "c"):
        assert (await api("POST", "keys", {"name": name}))[0] == 201
    _, first, _ = await api("GET", "keys?limit=3")
    assert [one["name"] for one in first["data"]] == ["a", "b", "c"]
    assert (first["has_more"], first["next"]) == (True, "c")
    _, rest, _ = await api("GET", "keys?limit=3&after=c")
    assert [one["name"] for one in rest["data"]] == ["d", "laptop"]
    assert (rest["has_more"], rest["next"]) == (False, None)


@pytest.mark.parametrize("kind", ["channels", "models", "accounts", "keys"])
async def test_what_is_wrong_is_named(api: Api, kind: str) -> None:
    status, problem, headers = await api("POST", kind, {"name": "a", "wieght": 1})
    assert (status, headers["content-type"]) == (422, "application/problem+json")
    assert problem["errors"][-1]["field"] == "wieght"
    assert "wieght" in problem["detail"]
    assert (await api("POST", kind, {}))[1]["errors"][0]["field"] == "name"


async def test_a_credential_is_never_read_from_this_machine(api: Api) -> None:
    for value in ("env:HOME", "file:/etc/hostname"):
        for field in ("api_key", "base_url", "group"):
            status, problem, _ = await api("POST", "channels", {**CHANNEL, field: value})
            assert (status, problem["errors"][0]["field"]) == (422, field)


async def test_a_stale_tag_changes_nothing(api: Api) -> None:
    _, _, headers = await api("POST", "models", {"name": "haiku"})
    stale = {"if-match": headers["etag"]}
    _, _, later = await api("PATCH", "models/haiku", {"idle_timeout": 9}, stale)
    for tag in (stale["if-match"], 'W/"1"', "x", '"99"'):
        assert (await api("PATCH", "models/haiku", {"idle_timeout": 8}, {"if-match": tag}))[0] == 412
        assert (await api("DELETE", "models/haiku", None, {"if-match": tag}))[0] == 412
    assert (await api("GET", "models/haiku"))[1]["idle_timeout"] == 9.0
    assert (await api("PATCH", "models/haiku", {}, {"if-match": "*"}))[0] == 200
    assert (await api("DELETE", "models/haiku", None, {"if-match": later["etag"]}))[0] == 412


async def test_one_of_several_tags_is_enough(api: Api) -> None:
    _, _, headers = await api("POST", "models", {"name": "haiku"})
    for form in ("{0}", '"x", {0}', '{0} , W/"7"', '"a,b",, {0},'):
        wanted = {"if-match": form.format(headers["etag"])}
        status, _, headers = await api("PATCH", "models/haiku", {"idle_timeout": 9}, wanted)
        assert status == 200, wanted


@pytest.mark.parametrize("tag", ["", ",", "x", '"', "*, *", '"1" "2"', "7"])
async def test_what_is_no_tag_is_told_as_such(api: Api, tag: str) -> None:
    await api("POST", "models", {"name": "haiku"})
    for method in ("PATCH", "DELETE"):
        status, problem, _ = await api(method, "models/haiku", {}, {"if-match": tag})
        assert (status, problem["parameter"]) == (412, "if-match")
    assert (await api("PATCH", "models/none", {}, {"if-match": tag}))[0] == 404
    assert (await api("PATCH", "models/sonnet", {}, {"if-match": tag}))[0] == 409


async def test_a_credential_in_a_url_is_hidden_and_stays_what_it_was(api: Api) -> None:
    url = "https://api.example.org/v1?api-version=1&key=of-secret-1"
    _, made, _ = await api("POST", "channels", {**CHANNEL, "base_url": url})
    assert made["base_url"] == "https://api.example.org/v1?api-version=1&key=(set)"
    later = made["base_url"].replace("version=1", "version=2")
    _, changed, _ = await api("PATCH", "channels/stored", {"base_url": later})
    assert changed["base_url"] == later
    assert "of-secret" not in api.answers
    value = api.node.live.state.entries[Kind.CHANNELS]["stored"].value
    assert isinstance(value, Channel)
    assert value.base_url == "https://api.example.org/v1?api-version=2&key=of-secret-1"
    await api("PATCH", "channels/stored", {"base_url": "https://api.example.org/v1?key=of-secret-2"})
    assert "of-secret-2" in str(api.node.live.stored)


async def test_what_the_file_declares_is_a_409(api: Api) -> None:
    for path in ("channels/filed", "models/sonnet", "accounts/acme", "keys/laptop"):
        status, shown, headers = await api("GET", path)
        assert (status, shown["managed_by"], shown["version"]) == (200, "file", None)
        assert "etag" not in headers
        for method in ("PATCH", "DELETE"):
            status, problem, _ = await api(method, path, {})
            assert (status, problem["detail"]) == (409, "the config file declares it; change it there")


async def test_a_taken_name_is_a_409(api: Api) -> None:
    await api("POST", "keys", {"name": "app"})
    for name in ("app", "laptop"):
        status, problem, _ = await api("POST", "keys", {"name": name})
        assert (status, problem["parameter"]) == (409, "name")


async def test_a_key_that_can_call_nothing_is_told(api: Api) -> None:
    await api("POST", "channels", CHANNEL)
    assert (await api("POST", "keys", {"name": "app", "models": ["haiku"]}))[1]["warnings"] == []
    await api("DELETE", "channels/stored")
    assert "no channel serves" in (await api("GET", "keys/app"))[1]["warnings"][0]
    _, listed, _ = await api("GET", "keys")
    assert "no channel serves" in listed["data"][0]["warnings"][0]


async def test_an_account_goes_only_with_its_keys(api: Api) -> None:
    await api("POST", "accounts", {"name": "globex"})
    await api("POST", "keys", {"name": "app", "account": "globex"})
    status, problem, _ = await api("DELETE", "accounts/globex")
    assert status == 409
    assert "app" in problem["detail"]
    assert (await api("DELETE", "accounts/globex?force=yes"))[0] == 400
    assert (await api("DELETE", "accounts/globex?force=true"))[0] == 204
    assert (await api("GET", "keys/app"))[0] == 404


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("keys?limit=0", "limit"),
        ("keys?before=a", "before"),
        ("keys/app?x=1", "x"),
        ("keys?after=a&after=b", "after"),
    ],
)
async def test_a_wrong_parameter_is_named(api: Api, path: str, parameter: str) -> None:
    status, problem, _ = await api("GET", path)
    assert (status, problem["parameter"]) == (400, parameter)


async def test_only_what_keys_may_be_forced(api: Api) -> None:
    await api("POST", "keys", {"name": "app"})
    assert (await api("DELETE", "keys/app?force=true"))[0] == 400


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"name": "a", "name": "b"}'])
async def test_garbage_is_a_400(api: Api, body: bytes) -> None:
    assert (await api("POST", "keys", body))[0] == 400
    assert (await api("PATCH", "keys/laptop", body))[0] == 400


async def test_a_body_that_is_too_large_or_packed_is_refused(api: Api) -> None:
    assert (await api("POST", "keys", b"{" + b" " * (2 << 20) + b"}"))[0] == 413
    assert (await api("POST", "keys", b"{}", {"content-encoding": "gzip"}))[0] in (400, 415)


async def test_a_database_that_is_away_is_a_503_and_reading_goes_on(api: Api) -> None:
    await api("POST", "keys", {"name": "app"})
    api.node.store.away = True
    for method, path, body in (
        ("POST", "keys", {"name": "b"}),
        ("PATCH", "keys/app", {}),
        ("DELETE", "keys/app", None),
    ):
        assert (await api(method, path, body))[0] == 503
    assert (await api("GET", "keys/app"))[0] == 200


async def test_a_method_that_is_not_there_is_a_405(api: Api) -> None:
    status, _, headers = await api("PUT", "keys/app", {})
    assert status == 405
    assert headers["allow"] == "DELETE,GET,HEAD,PATCH"


async def test_names_in_a_path_are_taken_as_they_are(api: Api) -> None:
    for name in ("%00", "%2e%2e", "%F0%9F%98%80", "%ff", "a%2f..%2fb", "%ED%A0%80"):
        assert (await api("GET", f"keys/{name}"))[0] == 404
        assert (await api("DELETE", f"keys/{name}"))[0] == 404
