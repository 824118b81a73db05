"""Channels for the routing tests."""

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.routing.catalog import Candidate, Channel, Duty


def channel(
    name: str,
    *models: str,
    protocol: Protocol = Protocol.CHAT,
    priority: int = 0,
    weight: int = 1,
    group: str = "",
    mapped: dict[str, str] | None = None,
    duty: Duty = Duty.ACTIVE,
) -> Channel:
    return Channel(
        name=name,
        protocol=protocol,
        base_url="https://api.example.com/v1",
        api_key=Secret("sk-upstream"),
        models={model: model for model in models} | (mapped or {}),
        priority=priority,
        weight=weight,
        group=group,
        duty=duty,
    )


def candidate(
    name: str,
    model: str = "m",
    *,
    protocol: Protocol = Protocol.CHAT,
    priority: int = 0,
    weight: int = 1,
    group: str = "",
    duty: Duty = Duty.ACTIVE,
) -> Candidate:
    made = channel(name, model, protocol=protocol, priority=priority, weight=weight, group=group, duty=duty)
    return Candidate(made, model)
