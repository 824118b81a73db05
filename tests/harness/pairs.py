"""The nine pairs, and a gateway's channels with abilities of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.harness import settings
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side

EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Members = dict[str, Any]
KINDS: dict[str, dict[str, Members]] = {
    "msgs": {
        "adaptive": {"capabilities": {"thinking": "adaptive"}},
        "budget": {"capabilities": {"thinking": "budget"}},
        "search": {"capabilities": {"web_search": True}},
        "midsystem": {"capabilities": {"mid_system": True}},
        "noprefill": {"capabilities": {"prefill": False}},
    },
    "resp": {
        "search": {"capabilities": {"web_search": True}},
        "instructions": {"capabilities": {"instructions_required": True}},
    },
    "chat": {
        "efforts": {"capabilities": {"efforts": EFFORTS}},
        "replay": {"capabilities": {"replay_reasoning": "tool_turns"}},
        "oldfield": {"capabilities": {"max_tokens_field": "max_tokens"}},
        "custom": {"capabilities": {"custom_tools": True, "developer_role": True}},
        "noschema": {"capabilities": {"structured_output": False}},
    },
}
"""Channels by protocol and kind of model name; their upstream is that of channel A."""


@dataclass(frozen=True)
class Pair:
    """A caller's protocol on a channel's."""

    client: Side
    channel: Side

    @property
    def name(self) -> str:
        return f"{self.client.tag}->{self.channel.tag}"


NINE = [Pair(client, channel) for client in SIDES for channel in SIDES]
CROSS = [pair for pair in NINE if pair.client is not pair.channel]


def over(channel: Side) -> list[Pair]:
    """The cross pairs whose channel speaks this protocol."""
    return [pair for pair in CROSS if pair.channel is channel]


def by(client: Side) -> list[Pair]:
    """The cross pairs whose caller speaks this protocol."""
    return [pair for pair in CROSS if pair.client is client]


def crossing(port: int, folder: str, base: Callable[[str], str]) -> settings.Config:
    """The standard channels, those of `KINDS` and of `{tag}-reject`, and a key that wants no losses."""
    config = settings.standard(port, folder, base)
    strict = {"name": "strict", "account": "acme", "key": "env:E2E_STRICT_KEY", "conversion": "strict"}
    config["keys"].append(strict)
    config["routing"]["failures_before_cooldown"] = 1000  # the recorded channels fail often
    for side in SIDES:
        tag = side.tag
        kinds = {**KINDS[tag], "reject": {"unsupported_tools": "reject"}}
        for kind, members in kinds.items():
            models = [f"{tag}-{kind}-*"]
            config["channels"].append(
                settings.channel(f"{tag}-{kind}", tag, base(f"{tag}-A"), models, **members)
            )
        config["models"] += [{"name": f"{tag}-{kind}-*"} for kind in kinds]
    config["channels"] += _mixed(base)
    config["channels"] += [_recorded(side, base) for side in SIDES]
    config["channels"].append(_recorded(CHAT, base, "-replay", replay_reasoning="tool_turns"))
    small = settings.channel("msgs-small", "msgs", base("msgs-A"), ["msgs-small-*"])
    config["channels"].append(small)
    config["models"] += [
        {"name": name, "max_output_tokens": 4096} for name in ("recorded-messages", "msgs-small-*")
    ]
    return config


def _mixed(base: Callable[[str], str]) -> list[settings.Config]:
    """Models of two protocols: `mixed-FIRST-SECOND-…` by channel A of the one, then B of the other."""
    return [
        settings.channel(f"mixed-{name}", tag, base(letter), models, priority=priority)
        for pair in CROSS
        for tags in [(pair.client.tag, pair.channel.tag)]
        for name, tag, letter, priority in (
            (f"{tags[0]}-{tags[1]}-A", tags[0], f"{tags[0]}-A", 20),
            (f"{tags[0]}-{tags[1]}-B", tags[1], f"{tags[1]}-B", 10),
        )
        for models in [[f"mixed-{tags[0]}-{tags[1]}-*"]]
    ]


def _recorded(side: Side, base: Callable[[str], str], suffix: str = "", **able: object) -> settings.Config:
    """The channel of the recordings, with the abilities that their README tells."""
    told: dict[str, Members] = {
        "chat": {"efforts": EFFORTS},
        "resp": {},
        "msgs": {"thinking": "adaptive", "sampling": True},
    }
    upstream = f"recorded-{side.name}"
    models: Any = {upstream + suffix: f"up-{side.name}-model"}
    abilities = told[side.tag] | able
    return settings.channel(upstream + suffix, side.tag, base(upstream), models, capabilities=abilities)


def finish(side: Side, reason: str) -> str:
    """How an answer ends in the words of a protocol: `stop`, `calls`, `limit`, `filter` or `refusal`."""
    words: dict[str, dict[str, Any]] = {
        CHAT.name: {
            "stop": "stop",
            "calls": "tool_calls",
            "limit": "length",
            "filter": "content_filter",
            "refusal": "stop",
        },
        RESPONSES.name: {
            "stop": "completed",
            "calls": "completed",
            "limit": "incomplete:max_output_tokens",
            "filter": "incomplete:content_filter",
            "refusal": "completed",
        },
        MESSAGES.name: {
            "stop": "end_turn",
            "calls": "tool_use",
            "limit": "max_tokens",
            "filter": "refusal",
            "refusal": "refusal",
        },
    }
    word: str = words[side.name][reason]
    return word
