"""Takes secrets, addresses and traces out of an upstream's words before anyone reads them."""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from tidegate.core.failure import Failure, Kind
from tidegate.protocols.base import Clean
from tidegate.protocols.failures import default_message

REDACTED = "[redacted]"
MAX_LENGTH = 2000
_READ_AT_MOST = 8_000
_SHORTEST_SECRET = 4
_PREFIX_THAT_TELLS = 8
_TAIL_THAT_TELLS = 4
_MOST_DETAILS = 32

_HTML = re.compile(r"<\s*(?:!doctype|html|head|body|title|center|h1|div|script|style)\b", re.IGNORECASE)
_TRACE = re.compile(
    r"Traceback \(most recent call last\)"
    r"|(?:[\r\n]|\\n)[ \t]*(?:at\s[^\n]|goroutine \d+ \[|stack backtrace:|Caused by:)"
    r"|File \"[^\"\n]{1,300}\", line \d"
    r"|\sat [\w.$<>\[\]]{1,120}(?: [\w.$<>\[\]]{1,60})? \([^()\s]{0,200}[/\\.][^()\s]{0,200}:\d+\)"
)
_UNSEEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_URL = re.compile(r"(?:\b[A-Za-z][A-Za-z0-9+.-]{0,20}://|\bwww\.)[^\s\"'<>`]+")
_TRAILING = re.compile(r"[.,;:!?)\]}]+\Z")

_CREDENTIALS = (
    # A scheme and its token: some mark must tell the token from the next word of a sentence.
    re.compile(r"\b(?:[Bb]earer|BEARER|[Bb]asic)\s+(?=\S*[\d*…]|\S{20})[^\s\"',;)\]}`]+"),
    re.compile(r"(?i)(?<=\bauthorization: )\w{1,20} [^\s\"',;)\]}`]+"),
    # Key shapes of known providers, whole or masked.
    re.compile(r"(?<![A-Za-z0-9])sk[-_](?!learn\b)[\w*•….\-]*[\w*•…]"),
    re.compile(r"(?<![A-Za-z0-9])AIza[\w\-]{8,}"),
    re.compile(r"(?<![A-Za-z0-9])A(?:KI|SI)A[A-Z0-9]{8,}"),
    re.compile(r"(?<![A-Za-z0-9])eyJ[\w\-]{8,}(?:\.[\w\-]*){0,4}"),
    re.compile(
        r"(?<![A-Za-z0-9])(?:gsk|hf|gh[opsu]|glpat|xai|nvapi|pplx|fw|r8|pk|rk|ak|sess|csk|tvly|api|key)"
        r"[-_](?=[\w\-]*\d)[\w\-]{16,}"
    ),
    # Accounts of the operator.
    re.compile(r"(?<![A-Za-z0-9])(?:org|proj|acct)[-_][A-Za-z0-9]{8,}"),
    # Anything masked: what is left visible of it is still a part of a key.
    re.compile(r"(?<![\w\-])[\w\-]*+(?:\*{3,}|•{3,})[\w\-*•]*"),
    re.compile(
        r"(?<=[Ee]nding in )\S*\w|(?<=[Ee]nding with )\S*\w|(?<=[Ee]nds in )\S*\w|(?<=[Ee]nds with )\S*\w"
    ),
)
_TOKEN_AFTER_WORD = re.compile(
    r"(?i:\b(?:(?:api|access|secret|auth|private|client)[ _-]?)?"
    r"(?:key|token|secret|password|passwd|authorization|credential|signature)s?)"
    r"(?i:\W{1,4}(?:provided|given|used|is|was|of|with|value|invalid|incorrect|header)\b){0,3}"
    r"[\s\"'`:=(]{1,4}(?P<token>[A-Za-z0-9_\-+/]{12,}={0,2})"
)
_TOKEN_BEFORE_WORD = re.compile(
    r"(?P<token>(?<![A-Za-z0-9_\-+/.])[A-Za-z0-9_\-+/]{12,}={0,2})[\"'`]?"
    r"(?i:\s+(?:is|was)\s+(?:not\s+)?(?:an?\s+)?(?:in)?(?:valid|correct)\s+(?:api\s*)?(?:key|token))"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT = r"(?::\d{1,5})?"
_ALONE = r"(?![\w-])(?!\.\w)"
_DOMAINS = r"(?i:com|net|org|io|ai|dev|cloud|cn|internal|local|lan|corp)"
_DOMAINS_OF_LONG_NAMES = (
    r"(?i:app|svc|example|test|intranet|localdomain|online|site|tech|xyz|info|biz|host|run|page|space"
    r"|de|eu|uk|us|fr|nl|jp|kr|ru|ch|hk|sg|tw|ca|au|br|se|it|es|pl)"
)
_HEX = r"[0-9A-Fa-f]{1,4}"
_PLACES = (
    # Paths to a member, such as `messages.0.content`, have a number between dots; host names have not.
    re.compile(
        rf"(?<![\w.-])(?!\S{{0,200}}\.\d+\.[a-z])(?:(?:{_LABEL}\.){{1,10}}{_DOMAINS}"
        rf"|(?:{_LABEL}\.){{2,10}}{_DOMAINS_OF_LONG_NAMES}){_PORT}{_ALONE}"
    ),
    re.compile(rf"(?i:(?<![\w.-])localhost){_PORT}(?![\w-])"),
    re.compile(
        rf"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){{3}}(?:25[0-5]|2[0-4]\d|1?\d?\d){_PORT}(?!\w)"
    ),
    re.compile(rf"\[[0-9A-Fa-f]{{0,4}}:[0-9A-Fa-f:.]{{1,45}}(?:%\w{{1,20}})?\]{_PORT}"),
    re.compile(rf"(?<![\w:.])(?:{_HEX}:){{4,7}}{_HEX}(?![\w:])"),
    re.compile(rf"(?<![\w:.])(?:{_HEX}(?::{_HEX}){{0,6}})?::(?:{_HEX}(?::{_HEX}){{0,6}})?(?![\w:])"),
    # Names that only their port or their place in the sentence tells: `dial tcp vllm:8000`, `host='vllm'`.
    re.compile(r"(?<![\w.-])[A-Za-z][A-Za-z0-9]{0,40}(?:-[A-Za-z0-9]{1,40}){1,6}:\d{4,5}(?!\d)"),
    re.compile(r"(?i:(?<=host=)|(?<=host:)|(?<=hostname=)|(?<=server=))[\"']?[\w.-]{1,253}[\"']?"),
    re.compile(
        r"(?:(?<=lookup )|(?<=ENOTFOUND ))[\w.-]{1,253}|(?<=ECONNREFUSED )\S{1,253}"
        r"|(?:(?<=dial tcp )|(?<=onnect to ))[\w.-]{1,253}:\d{1,5}"
    ),
)


def clean(
    message: str,
    secrets: Iterable[str] = (),
    hosts: Iterable[str] = (),
    fallback: str = default_message(Kind.UPSTREAM),
) -> str:
    """`message` without keys, addresses, host names, markup, traces and control characters.

    At most MAX_LENGTH characters, on one line; `fallback` where nothing readable is left. `secrets` and
    `hosts` must be gone whatever they look like: the channel's credential and host, with or without a port.
    """
    return cleaner(secrets, hosts, fallback)(message)


def cleaner(
    secrets: Iterable[str] = (),
    hosts: Iterable[str] = (),
    fallback: str = default_message(Kind.UPSTREAM),
) -> Clean:
    """`clean` for one channel, prepared."""
    known = sorted({secret.strip() for secret in secrets}, key=len, reverse=True)
    known = [secret for secret in known if len(secret) >= _SHORTEST_SECRET]
    rules = [*map(_secret_rule, known), *map(_host_rule, sorted(set(hosts), key=len, reverse=True))]

    def cleaned(message: str) -> str:
        text = _readable(message)
        for rule in rules:
            text = rule.sub(REDACTED, text)
        text = _without_shapes(text)
        if any(secret in text for secret in known) or not text.replace(REDACTED, "").strip(" .,:;'\"`"):
            return fallback
        return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"

    return cleaned


def cleaned_failure(failure: Failure, clean: Clean) -> Failure:
    """The failure with its message, detail and words fit to be shown."""
    message = clean(failure.message) if failure.message else ""
    if message in ("", default_message(Kind.UPSTREAM)):
        message = default_message(failure.kind)
    return replace(
        failure,
        message=message,
        detail=None if failure.detail is None else clean(failure.detail),
        type=_word(failure.type, clean),
        code=_word(failure.code, clean),
        param=_word(failure.param, clean),
        details=_words_for_programs(failure.details, clean),
    )


def _word(word: str | None, clean: Clean) -> str | None:
    """A machine-readable word; one that would have to be changed is left out."""
    return word if word is not None and len(word) <= 200 and clean(word) == word else None


def _words_for_programs(
    details: tuple[tuple[str, object], ...], clean: Clean
) -> tuple[tuple[str, object], ...]:
    """What is a word, a number or a list of words; anything deeper is for people, and left out."""
    kept: list[tuple[str, object]] = []
    for name, value in details[:_MOST_DETAILS]:
        match value:
            case str():
                safe: object = _word(value, clean)
            case int() | float():
                safe = value
            case list() | tuple():
                words = [_word(each, clean) for each in value[:_MOST_DETAILS] if isinstance(each, str)]
                safe = tuple(word for word in words if word is not None)
            case _:  # null, or an object
                safe = None
        if safe is not None and _word(name, clean) is not None:
            kept.append((name, safe))
    return tuple(kept)


def _readable(message: str) -> str:
    """One line of text: no markup, no trace, no characters that cannot be seen."""
    text = message
    if len(text) > _READ_AT_MOST:
        text = re.sub(r"\S{1,1000}\Z", "", text[:_READ_AT_MOST])
    if _HTML.search(text):
        return ""
    found = _TRACE.search(text)
    if found is not None:
        text = text[: found.start()]
    text = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))
    return _CONTROL.sub(" ", text).strip()


def _without_shapes(text: str) -> str:
    text = _URL.sub(_redact_url, text)
    for pattern in _CREDENTIALS:
        text = pattern.sub(REDACTED, text)
    for pattern in (_TOKEN_AFTER_WORD, _TOKEN_BEFORE_WORD):
        text = pattern.sub(_redact_token, text)
    for pattern in _PLACES:
        text = pattern.sub(REDACTED, text)
    return text.strip()


def _redact_url(found: re.Match[str]) -> str:
    trailing = _TRAILING.search(found.group())
    return REDACTED + (trailing.group() if trailing else "")


def _redact_token(found: re.Match[str]) -> str:
    token = found.group("token")
    return found.group().replace(token, REDACTED) if _looks_secret(token) else found.group()


def _looks_secret(token: str) -> bool:
    """Long and without meaning: hexadecimal, or letters of both cases with digits, or simply very long."""
    body = token.rstrip("=").replace("-", "")
    if not any(letter.isdigit() for letter in body) or not any(letter.isalpha() for letter in body):
        return False
    if all(letter in "0123456789abcdefABCDEF" for letter in body):
        return True
    mixed = body.lower() != body and body.upper() != body
    return len(body) >= 32 or (len(body) >= 16 and mixed)


def _secret_rule(secret: str) -> re.Pattern[str]:
    """The secret itself; of a long one also a visible beginning, and an end behind a mask."""
    forms = [re.escape(secret)]
    beginning = secret[:_PREFIX_THAT_TELLS]
    if len(secret) >= 2 * _PREFIX_THAT_TELLS:
        forms.append(r"(?:\*+|\.{2,}|…|•+|x{3,})\s?" + re.escape(secret[-_TAIL_THAT_TELLS:]))
        if not beginning.isalpha():  # else it may be a word
            forms.append(re.escape(beginning) + r"[\w\-*•….]*")
    return re.compile("|".join(forms))


def _host_rule(host: str) -> re.Pattern[str]:
    """A host name with its subdomains, in any case, with any port; a single word only if it stands alone."""
    name = re.sub(r"(?<=[^:]):\d+\Z", "", host.strip()).strip("[].").lower()
    if not name:
        return re.compile(r"(?!)")
    if "." in name or ":" in name:
        return re.compile(rf"(?i)[\w.-]*{re.escape(name)}(?:\]?:\d+)?")
    return re.compile(rf"(?i)(?<![\w-]){re.escape(name)}(?::\d+)?(?![\w-])")
