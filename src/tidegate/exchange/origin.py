"""Finds the channel group that holds what a request builds on (CONTRACT.md, "State on shared accounts")."""

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.exchange.ports import Ownership
from tidegate.protocols.base import Asked


async def find_group(ownership: Ownership, asked: Asked, account: str) -> str | Failure:
    """The one group that holds every stored response and item that `asked` names for `account`."""
    named = [(identifier, "previous_response_id") for identifier in asked.response_ids]
    named += [(identifier, "input") for identifier in asked.item_ids]
    groups: set[str] = set()
    for identifier, param in named:
        try:
            group = await ownership.find(identifier, account)
        except TidegateError as error:
            return error.failure
        if group is None:
            return _not_found(identifier, param)
        groups.add(group)
    if len(groups) == 1:
        return groups.pop()
    return _not_found(named[-1][0], named[-1][1])


def _not_found(identifier: str, param: str) -> Failure:
    what = "Previous response" if param == "previous_response_id" else "Item"
    return Failure(
        kind=Kind.RESPONSE_NOT_FOUND, message=f"{what} with id '{identifier[:128]}' not found.", param=param
    )
