"""The tool runner of the official anthropic SDK, on channels of every protocol."""

from typing import Any

import anthropic
import pytest
from tests.contract.conftest import Demo

HELLO: Any = [{"role": "user", "content": "Say hello."}]


@pytest.mark.parametrize("channel", ["chat", "responses", "messages"])
def test_the_tool_runner_works_with_and_without_threads(demo: Demo, channel: str) -> None:
    """It asks for a thread that the server keeps, and does without one where it reads that there is none."""

    @anthropic.beta_tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"

    with anthropic.Anthropic(base_url=demo.base_url, api_key=demo.key, max_retries=0, timeout=60) as client:
        runner = client.beta.messages.tool_runner(
            model=f"{channel}-sim", max_tokens=500, tools=[weather], messages=HELLO
        )
        last = runner.until_done().content[-1]
    assert last.type == "text"
    assert "sunny in Paris" in last.text
