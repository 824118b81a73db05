"""The tools of requests that docs/conversion.md tells about; as `rows`."""

from typing import Any

from tests.conversion_page.rows import Body, Row, Three

_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /a+/"}


def _function(name: str = "f", **members: Any) -> tuple[Body, Body, Body]:
    return (
        {"type": "function", "function": {"name": name, "parameters": _SCHEMA, **members}},
        {"type": "function", "name": name, "parameters": _SCHEMA, **members},
        {"name": name, "input_schema": _SCHEMA, **members},
    )


_PLAIN = _function()
_BESIDE: dict[str, Body] = {
    name: {"tools": [tool]} for name, tool in zip(("chat", "responses", "messages"), _PLAIN, strict=True)
}


def _tools(chat: Body | None = None, responses: Body | None = None, messages: Body | None = None) -> Three:
    """Each tool beside a plain function."""
    return (
        None if chat is None else {"tools": [_PLAIN[0], chat]},
        None if responses is None else {"tools": [_PLAIN[1], responses]},
        None if messages is None else {"tools": [_PLAIN[2], messages]},
    )


def _alone(responses: Body, messages: Body) -> Three:
    return None, {"tools": [responses]}, {"tools": [messages]}


def _with(chat: Body | None = None, responses: Body | None = None, messages: Body | None = None) -> Three:
    """Members beside a plain function."""
    return (
        None if chat is None else {"tools": [_PLAIN[0]], **chat},
        None if responses is None else {"tools": [_PLAIN[1]], **responses},
        None if messages is None else {"tools": [_PLAIN[2]], **messages},
    )


_SEARCH = {"type": "web_search"}
_SEARCH_M = {"type": "web_search_20250305", "name": "web_search"}
_OPTIONS = {"web_search_options": {"search_context_size": "low"}}
_CUSTOM = {"type": "custom", "name": "patch"}
TOOLS = [
    Row("function", *_tools(*_function("g"))),
    Row("function without a schema", *_tools({"type": "function", "function": {"name": "g"}}, {"type": "function", "name": "g", "parameters": None})),
    Row("`strict`", *_tools(*_function("g", strict=True)), beside=_BESIDE),
    Row("a name longer than 64 characters", *_tools(None, *_function("g" * 90)[1:]), beside=_BESIDE),
    Row("custom tool", *_tools({"type": "custom", "custom": {"name": "patch"}}, _CUSTOM), beside=_BESIDE),
    Row("the same, channel with `custom_tools`", *_tools({"type": "custom", "custom": {"name": "patch"}}, _CUSTOM), beside=_BESIDE, able={"custom_tools": True}),
    Row("custom tool with a grammar", *_tools({"type": "custom", "custom": {"name": "patch", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a+/"}}}}, {**_CUSTOM, "format": _GRAMMAR}), beside=_BESIDE),
    Row("namespace", *_tools(None, {"type": "namespace", "name": "git", "description": "d", "tools": [_function("log")[1]]}), beside=_BESIDE),
    Row("`cache_control` of a tool", *_tools(messages=_function("g", cache_control={"type": "ephemeral"})[2]), beside={"messages": {"tools": [_PLAIN[2], _function("g")[2]]}}),
    Row("`input_examples`, `allowed_callers` and the like", *_tools(messages=_function("g", input_examples=[{"city": "x"}])[2]), beside=_BESIDE),
    Row("`defer_loading`", *_tools(None, _function("g", defer_loading=True)[1], _function("g", defer_loading=True)[2]), beside={"responses": {"tools": [_PLAIN[1], _function("g")[1]]}, "messages": {"tools": [_PLAIN[2], _function("g")[2]]}}),
    Row("web search beside other tools", *_tools(None, _SEARCH, _SEARCH_M), beside=_BESIDE),
    Row("web search as the only tool", *_alone(_SEARCH, _SEARCH_M)),
    Row("web search, channel with `web_search`", *_tools(None, _SEARCH, _SEARCH_M), beside=_BESIDE, able={"web_search": True}),
    Row("`web_search_options`", _OPTIONS),
    Row("the same, channel with `web_search`", _OPTIONS, able={"web_search": True}),
    Row("other hosted tools, beside others", *_tools(None, {"type": "file_search", "vector_store_ids": ["v"]}, {"type": "bash_20250124", "name": "bash"}), beside=_BESIDE),
    Row("the same, `unsupported_tools = \"reject\"`", *_tools(None, {"type": "file_search", "vector_store_ids": ["v"]}, {"type": "bash_20250124", "name": "bash"}), beside=_BESIDE, able={"unsupported_tools": "reject"}),
    Row("other hosted tools, forced by `tool_choice`", *_with(None, {"tools": [_PLAIN[1], {"type": "file_search", "vector_store_ids": ["v"]}], "tool_choice": {"type": "file_search"}}, {"tools": [_PLAIN[2], {"type": "bash_20250124", "name": "bash"}], "tool_choice": {"type": "tool", "name": "bash"}}), beside=_BESIDE),
    Row("a tool of an unknown type", *_tools({"type": "telepathy"}, {"type": "telepathy"}, {"type": "telepathy", "name": "t"}), beside=_BESIDE),
    Row("deprecated `functions`", {"functions": [{"name": "f", "parameters": _SCHEMA}]}),
    Row("tool_choice `none`", *_with({"tool_choice": "none"}, {"tool_choice": "none"}, {"tool_choice": {"type": "none"}}), beside=_BESIDE),
    Row("tool_choice `required` or `any`", *_with({"tool_choice": "required"}, {"tool_choice": "required"}, {"tool_choice": {"type": "any"}}), beside=_BESIDE),
    Row("tool_choice of one tool", *_with({"tool_choice": {"type": "function", "function": {"name": "f"}}}, {"tool_choice": {"type": "function", "name": "f"}}, {"tool_choice": {"type": "tool", "name": "f"}}), beside=_BESIDE),
    Row("tool_choice `allowed_tools`", *_with({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]}}}, {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}}), beside=_BESIDE),
    Row("no parallel calls", *_with({"parallel_tool_calls": False}, {"parallel_tool_calls": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}), beside=_BESIDE),
    Row("a forced tool with thinking, channel with `thinking = \"budget\"`", *_with({"tool_choice": "required", "reasoning_effort": "low"}, {"tool_choice": "required", "reasoning": {"effort": "low"}}), beside={"chat": {**_BESIDE["chat"], "tool_choice": "required"}, "responses": {**_BESIDE["responses"], "tool_choice": "required"}}, able={"thinking": "budget"}),
]  # fmt: skip
