"""The query parameters of the overview."""

from collections.abc import Iterable
from typing import get_args

import msgspec

from tidegate.admin.parameters import read_choice, read_known, read_time, wrong
from tidegate.storage.overview import Dimension, Question
from tidegate.storage.pages import storable
from tidegate.storage.rows import MICROSECONDS
from tidegate.storage.spans import LONGEST, span_of

GROUPS: tuple[str, ...] = get_args(Dimension)
DAY = 86_400.0
_KNOWN = ("since", "until", "group_by", *GROUPS)


def read_question(query: Iterable[tuple[str, str]], now: float) -> Question:
    """What the query string asks at `now` (Unix seconds): the last day where it names no time."""
    given = read_known(query, _KNOWN)
    until = (read_time("until", given.get("until")) or now * MICROSECONDS) / MICROSECONDS
    since = read_time("since", given.get("since"))
    begin = until - DAY if since is None else since / MICROSECONDS
    if begin >= until:
        raise wrong("since", "must come before `until`, which is now where it is not given")
    if until - begin > LONGEST:
        raise wrong("since", f"is more than {LONGEST // DAY:.0f} days before `until`")
    group_by = read_choice("group_by", given, GROUPS)
    wanted = {name: given[name] for name in GROUPS if name in given}
    read_choice("protocol", given)
    for name, value in wanted.items():
        if not storable(value):
            raise wrong(name, "is no text that a name can be")
    return msgspec.convert({"span": span_of(begin, until, now), "group_by": group_by, **wanted}, Question)
