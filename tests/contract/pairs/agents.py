"""Requests as coding agents send them: Claude Code, and both generations of Codex. Made by hand."""

import json
from typing import Any

from tests.harness.notation import Json

TEXT = "You are a coding agent. Keep answers short, read before you write, and run the tests. "
CLAUDE_TOOLS = (
    *("Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList", "Edit"),
    *(
        "EnterPlanMode",
        "ExitPlanMode",
        "Glob",
        "Grep",
        "KillShell",
        "ListMcpResources",
        "NotebookEdit",
        "Read",
    ),
    *("ReadMcpResource", "Skill", "TaskOutput", "TaskStop", "TodoWrite", "WebFetch", "WebSearch", "Write"),
)
CLAUDE_HEADERS = [
    (
        "anthropic-beta",
        "claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13",
    ),
    ("anthropic-beta", "context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24"),
    ("anthropic-dangerous-direct-browser-access", "true"),
    ("x-app", "cli"),
    ("x-claude-code-session-id", "b9c1"),
    ("x-stainless-lang", "js"),
    ("user-agent", "claude-cli/2.1.4 (external, cli)"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
]
_CACHED: Json = {"cache_control": {"type": "ephemeral"}}
_USER = {"device_id": "d" * 64, "account_uuid": "", "session_id": "b9c1"}


def claude_code(*, newest: bool) -> Json:
    """The first turn; `newest` is what new and unknown model names get."""
    body: Json = {
        "max_tokens": 32000,
        "stream": True,
        "metadata": {"user_id": json.dumps(_USER)},
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1"},
            {"type": "text", "text": TEXT, **_CACHED},
            {"type": "text", "text": TEXT * 40, "cache_control": {"type": "ephemeral", "scope": "global"}},
        ],
        "tools": [_claude_tool(name) for name in CLAUDE_TOOLS],
        "messages": [
            _claude_user("<system-reminder>\nToday is Monday.\n</system-reminder>", "List the files.")
        ],
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    }
    if newest:
        body |= {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}
        body["messages"].append({"role": "system", "content": "The shell is bash."})
    else:
        body["thinking"] = {"type": "enabled", "budget_tokens": 31999}
    return body


def _claude_user(*texts: str) -> Json:
    parts: list[Json] = [{"type": "text", "text": text} for text in texts]
    parts[-1] |= _CACHED
    return {"role": "user", "content": parts}


def _claude_tool(name: str) -> Json:
    properties = {
        "command": {"type": "string", "description": f"What {name} works on."},
        "timeout": {"type": "number", "minimum": 0},
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": ["command"],
        "additionalProperties": False,
    }
    return {"name": name, "description": f"{name}. {TEXT * 4}", "input_schema": schema}


def claude_code_next(first: Json, content: list[Any]) -> Json:
    """The second turn: what the first one said, and the result of its call."""
    call = next(block for block in content if block["type"] == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "README.md", "is_error": False}
    turns = [{"role": "assistant", "content": content}, {"role": "user", "content": [{**result, **_CACHED}]}]
    return {**first, "messages": [*first["messages"], *turns]}


CODEX_FUNCTIONS = (
    *("exec_command", "write_stdin", "view_image", "update_plan", "spawn_agent", "request_user_input"),
    "get_goal",
)
CODEX_HEADERS = [
    ("originator", "codex_exec"),
    ("session-id", "0199"),
    ("thread-id", "0199"),
    ("x-client-request-id", "0199"),
    ("x-codex-turn-metadata", "{}"),
    ("accept", "text/event-stream"),
    ("user-agent", "codex_exec/0.171.0"),
]
LITE = ("x-openai-internal-codex-responses-lite", "true")
GRAMMAR = 'start: begin_patch hunk+ end_patch\nbegin_patch: "*** Begin Patch" LF\n'
APPLY_PATCH: Json = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files. This is a FREEFORM tool, so do not wrap the patch in JSON.",
    "format": {"type": "grammar", "syntax": "lark", "definition": GRAMMAR},
}
EXEC: Json = {
    "type": "custom",
    "name": "exec",
    "description": "Runs JavaScript.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"},
}


def _function(name: str) -> Json:
    parameters = {
        "type": "object",
        "properties": {"cmd": {"type": "string"}},
        "required": ["cmd"],
        "additionalProperties": False,
    }
    return {"type": "function", "name": name, "description": TEXT, "strict": False, "parameters": parameters}


def _namespace(name: str, *tools: Json) -> Json:
    return {"type": "namespace", "name": name, "description": TEXT, "tools": list(tools)}


def _said(role: str, id: str, text: str) -> Json:
    part = {"type": "input_text", "text": text}
    return {"type": "message", "role": role, "id": id, "content": [part]}


def _codex(**more: Any) -> Json:
    return {
        "stream": True,
        "store": False,
        "input": [
            _said("developer", "msg_d1", TEXT * 20),
            _said("user", "msg_u1", "<environment_context>cwd: /src</environment_context>"),
            _said("user", "msg_u2", "List the files."),
        ],
        "include": ["reasoning.encrypted_content"],
        "tool_choice": "auto",
        "prompt_cache_key": "0199",
        "client_metadata": {"x-codex-installation-id": "i"},
        **more,
    }


def codex_unknown() -> Json:
    """For a model name that Codex does not know: functions, a namespace and web search."""
    tools = [
        *(_function(name) for name in CODEX_FUNCTIONS),
        _namespace("mcp__files", _function("read"), _function("write")),
        {"type": "web_search", "external_web_access": True},
    ]
    return _codex(tools=tools, parallel_tool_calls=False, reasoning={"summary": "auto"})


def codex_older() -> Json:
    """For `gpt-5.5` and before: a free-text `apply_patch`, and a search for tools."""
    tools = [*(_function(name) for name in CODEX_FUNCTIONS), APPLY_PATCH, {"type": "tool_search"}]
    return _codex(tools=tools, parallel_tool_calls=True, reasoning={"effort": "medium", "summary": "auto"})


def codex_newest() -> Json:
    """For `gpt-5.6-sol`: no `tools`, but an input item that adds them."""
    added = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [
            _namespace("functions", EXEC, _function("wait")),
            _namespace("collaboration", _function("send")),
        ],
    }
    body = _codex(
        parallel_tool_calls=False,
        reasoning={"effort": "medium", "context": "all_turns"},
        text={"verbosity": "low"},
    )
    return {**body, "input": [added, *body["input"]]}


def codex_next(first: Json, output: list[Any]) -> Json:
    """The second turn: the whole history, and the result of the call in the form of the call."""
    call = next(item for item in output if item["type"].endswith("_call"))
    kind = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}[
        call["type"]
    ]
    result = {"type": kind, "id": "fco_1", "call_id": call["call_id"], "output": "README.md"}
    kept = [{name: value for name, value in item.items() if value is not None} for item in output]
    return {**first, "input": [*first["input"], *kept, result]}
