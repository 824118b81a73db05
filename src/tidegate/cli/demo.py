"""`tidegate demo`: the gateway and a simulated provider in one process, with a ready key."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.complaint import Complaint, no_listening

if TYPE_CHECKING:
    from tidegate.wiring.demo import Access


def demo(
    host: Annotated[str, typer.Option(help="Listen on this address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Listen on this port; 0: any free one.")] = 8080,
) -> None:
    """Run the gateway with a simulated provider: no file, no network and no credential needed."""
    from tidegate.observe.logs import BadLogSetting  # late, both: `--help` need not load the servers
    from tidegate.wiring import demo as run_demo

    try:
        code = run_demo(host, port, announce)
    except BadLogSetting as error:
        raise Complaint(str(error)) from error
    except OSError as error:
        if error.filename is not None:
            raise  # a file, not the socket
        raise no_listening(error, f"{host}:{port}") from error
    raise typer.Exit(code)


def announce(access: "Access") -> None:
    """Print what a visitor needs to try the demo."""
    python = shown_path(Path(sys.executable), Path.cwd())
    program = "tidegate" if shutil.which("tidegate") else f"{python} -m tidegate"
    print(greeting(access, python=python, program=program), flush=True)


def shown_path(path: Path, folder: Path) -> str:
    """`path` as a user in `folder` would type it."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def greeting(access: "Access", *, python: str, program: str) -> str:
    """The base URL, the key, the console, and commands and programs that work when pasted.

    `python` and `program` are what starts this Python and this command line.
    """
    base_url, key = access.base_url, access.key
    return "\n".join(
        [
            *_section("Chat Completions with curl", curl_chat(base_url, key)),
            *_section("Responses with curl", curl_responses(base_url, key)),
            *_section("Messages with curl", curl_messages(base_url, key)),
            *_section("Tidegate's own client", own_client(base_url, key, program)),
            *_section(
                f"Python: paste into {python} (needs: pip install openai)", python_openai(base_url, key)
            ),
            *_section(
                f"Python: paste into {python} (needs: pip install anthropic)", python_anthropic(base_url, key)
            ),
            "# Tidegate demo: the gateway and a simulated provider. Ctrl-C ends it.",
            f"  base URL  {base_url}  (OpenAI SDKs: {base_url}/v1)",
            f"  key       {key}",
            "  model     sim, with pace and faults on request, e.g.",
            '            "sim;ttft=2s;rate=20", "sim;cut_after=5", "sim;error=overloaded"',
            "            any channel serves it; that of one protocol: chat-sim, responses-sim, messages-sim",
            f"  console   {base_url}/console/  (every request, as it happens)",
            f"  token     {access.token}  (signs in there)",
        ]
    )


def _section(title: str, body: str) -> list[str]:
    return [f"# {title}", body, ""]


def curl_chat(base_url: str, key: str) -> str:
    """A streamed Chat Completions request."""
    body = '{"model": "sim", "stream": true, "messages": [{"role": "user", "content": "Say hello"}]}'
    return _curl(f"{base_url}/v1/chat/completions", [f"authorization: Bearer {key}"], body)


def curl_responses(base_url: str, key: str) -> str:
    """A streamed Responses request, with a pace of its own."""
    body = '{"model": "sim;ttft=2s;rate=20", "stream": true, "input": "Say hello"}'
    return _curl(f"{base_url}/v1/responses", [f"authorization: Bearer {key}"], body)


def curl_messages(base_url: str, key: str) -> str:
    """A streamed Messages request."""
    body = (
        '{"model": "sim", "stream": true, "max_tokens": 500, '
        '"messages": [{"role": "user", "content": "Say hello"}]}'
    )
    return _curl(f"{base_url}/v1/messages", [f"x-api-key: {key}", "anthropic-version: 2023-06-01"], body)


def _curl(url: str, headers: list[str], body: str) -> str:
    flags = " ".join(f"-H '{header}'" for header in [*headers, "content-type: application/json"])
    return f"curl -N {url} {flags} \\\n  -d '{body}'"


def own_client(base_url: str, key: str, program: str) -> str:
    """The commands that show a stream and a broken stream."""
    return (
        f"export TIDEGATE_BASE_URL={base_url} TIDEGATE_KEY={key}\n"
        f'{program} stream --protocol messages --model sim "Say hello"\n'
        f'{program} stream --protocol chat --model "sim;cut_after=5" "Say hello"'
    )


def python_openai(base_url: str, key: str) -> str:
    """A program that streams over Chat Completions, then over Responses."""
    return f'''from openai import OpenAI

client = OpenAI(base_url="{base_url}/v1", api_key="{key}")
for chunk in client.chat.completions.create(
    model="sim", messages=[{{"role": "user", "content": "Say hello"}}], stream=True
):
    print(chunk.choices[0].delta.content or "" if chunk.choices else "", end="", flush=True)

for event in client.responses.create(model="sim", input="Say hello", stream=True):
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
'''


def python_anthropic(base_url: str, key: str) -> str:
    """A program that streams over Messages."""
    return f'''from anthropic import Anthropic

client = Anthropic(base_url="{base_url}", api_key="{key}")
with client.messages.stream(
    model="sim", max_tokens=500, messages=[{{"role": "user", "content": "Say hello"}}]
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
'''
