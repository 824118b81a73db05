"""Finds the channel group that holds what a request builds on (CONTRACT.md, "State on shared accounts")."""

from collections.abc import Collection

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.exchange.ports import Ownership
from tidegate.protocols.base import Asked


async def find_group(
    ownership: Ownership, asked: Asked, account: str, within: Collection[str]
) -> str | Failure:
    """The one group that holds every stored response and item that `asked` names for `account`.

    It must be one of those `within` reach: the groups whose channels may serve the request.
    """
    named = [(identifier, "previous_response_id") for identifier in asked.response_ids]
    named += [(identifier, "input") for identifier in asked.item_ids]
    groups: set[str] = set()
    for identifier, param in named:
        try:
            group = await ownership.find(identifier, account)
        except TidegateError as error:
            return error.failure
        if group is None or group not in within:
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
