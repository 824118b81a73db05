"""`make fuzz`: spoilt streams and requests through all cross pairs; prints what breaks a promise."""

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from hashlib import sha256
from itertools import permutations
from pathlib import Path

from tests.fuzz import corpus
from tests.fuzz.cases import Answer, Case, Request, Signature, WholeAnswer, read_back, written_down
from tests.fuzz.mutation import Mutator

from tidegate.core.protocol import Protocol

_POOL = 4000
"""Cases kept because they behaved like none before."""
_ABILITIES = (
    *("sampling", "custom_tools", "web_search", "developer_role", "instructions_required", "mid_system"),
    *("structured_output", "reasoning_summary", "prefill"),
)


class Fuzzer:
    """Draws cases from the corpus and from what has behaved in a new way since; the seed decides all."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._streams = corpus.answers("sse")
        self._wholes = corpus.answers("json")
        self._requests = corpus.requests()
        self._crossings = corpus.crossings()
        self._pairs = list(permutations(Protocol, 2))
        self._seen: set[Signature] = set()
        self._pool: list[Case] = []
        self._spoil = Mutator(self._chance)
        texts = [*self._streams.values(), *self._wholes.values(), *self._requests.values()]
        self._spoil.learn(text for group in texts for text in group)

    @property
    def behaviours(self) -> int:
        """How many ways to behave have been seen."""
        return len(self._seen)

    def first(self) -> list[Case]:
        """The corpus itself, unspoilt."""
        found: list[Case] = []
        for client, upstream in self._pairs:
            bodies = self._crossings[client, upstream]
            found += [Answer(client, upstream, bodies[0], body) for body in self._streams[upstream]]
            found += [WholeAnswer(client, upstream, bodies[0], body) for body in self._wholes[upstream]]
        return found + [Request(client, body) for client in Protocol for body in self._requests[client]]

    def draw(self) -> Case:
        """The next case."""
        if self._pool and self._chance.random() < 0.6:
            return self._again(self._chance.choice(self._pool))
        kind = self._chance.random()
        client, upstream = self._chance.choice(self._pairs)
        request = self._chance.choice(self._crossings[client, upstream])
        if kind < 0.6:
            return self._again(
                Answer(client, upstream, request, self._chance.choice(self._streams[upstream]))
            )
        if kind < 0.75:
            whole = self._chance.choice(self._wholes[upstream])
            return self._again(WholeAnswer(client, upstream, request, whole))
        return self._again(Request(client, self._chance.choice(self._requests[client])))

    def _again(self, case: Case) -> Case:
        match case:
            case Answer(client, upstream, request, body):
                body = self._spoil.stream(body, self._streams[self._chance.choice((upstream, *Protocol))])
                return Answer(client, upstream, request, body, self._spoil.cuts(body))
            case WholeAnswer(client, upstream, request, body):
                return WholeAnswer(client, upstream, request, self._spoil.text(body))
            case Request(client, body):
                names = self._chance.sample(_ABILITIES, self._chance.randrange(3))
                return Request(
                    client, self._spoil.text(body), {name: self._chance.random() < 0.5 for name in names}
                )

    def note(self, case: Case, behaved: Signature) -> None:
        """Keep what is new."""
        if behaved in self._seen:
            return
        self._seen.add(behaved)
        if len(self._pool) < _POOL:
            self._pool.append(case)
        else:
            self._pool[self._chance.randrange(_POOL)] = case


def main() -> None:
    """Exits with 1 after the first case that breaks a promise."""
    wanted = _arguments()
    if wanted.again:
        read_back(wanted.again.read_bytes()).run()
        print("it holds now")
        return
    fuzzer = Fuzzer(wanted.seed)
    counts: Counter[str] = Counter()
    end = time.monotonic() + wanted.seconds
    for case in fuzzer.first():
        counts[type(case).__name__] += _try(fuzzer, case)
    while time.monotonic() < end:
        counts[type(case := fuzzer.draw()).__name__] += _try(fuzzer, case)
    told = ", ".join(f"{times} × {kind}" for kind, times in sorted(counts.items()))
    print(f"fuzz: {told}; {fuzzer.behaviours} ways to behave; seed {wanted.seed}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.fuzz", description="Spoilt streams and requests, all cross pairs."
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, metavar="FILE", help="try one case that was found before")
    return parser.parse_args()


def _try(fuzzer: Fuzzer, case: Case) -> int:
    try:
        fuzzer.note(case, case.run())
    except Exception as error:  # whatever it is, it is the find
        _report(_smallest(case, error))
        sys.exit(1)
    return 1


def _smallest(case: Case, error: Exception) -> Case:
    """An answer with as few events as still break the same way."""
    if not isinstance(case, Answer):
        return case
    at = 0
    while at < len(events := case.body.split(b"\n\n")):
        fewer = Answer(
            case.client, case.upstream, case.request, b"\n\n".join(events[:at] + events[at + 1 :]), case.cuts
        )
        if _breaks_as(fewer, error):
            case = fewer
        else:
            at += 1
    return case


def _breaks_as(case: Case, error: Exception) -> bool:
    try:
        case.run()
    except Exception as other:  # compared below
        return type(other) is type(error) and _place(other) == _place(error)
    return False


def _place(error: Exception) -> object:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return last.filename, last.lineno


def _report(case: Case) -> None:
    text = written_down(case)
    path = Path(f"fuzz-{sha256(text).hexdigest()[:12]}.json")
    path.write_bytes(text)
    print(
        f"fuzz: a promise is broken; try it again with: python -m tests.fuzz --again {path}\n{text.decode()}"
    )
    if not isinstance(case, Request):
        print(f"request: {case.request.decode(errors='replace')[:2000]}")
    print(f"body:\n{case.body.decode(errors='replace')[:6000]}")
    try:
        case.run()
    except Exception:  # printed, not hidden
        traceback.print_exc()


if __name__ == "__main__":
    main()
