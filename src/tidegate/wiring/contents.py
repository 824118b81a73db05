"""How contents are kept, from the config in force."""

from tidegate.config import Config
from tidegate.config.settings import Capture
from tidegate.observe.content_redaction import ContentRedactor
from tidegate.observe.logs import known_secrets
from tidegate.storage.content_writer import Keeping


def keeping_of(config: Config) -> Keeping:
    """The rules of `[capture]`."""
    capture = config.capture
    return Keeping(max_bytes=capture.max_bytes, redact=_Redaction(capture), retention=capture.retention)


class _Redaction:
    """Makes the patterns ready with the first content: most gateways keep none."""

    def __init__(self, capture: Capture) -> None:
        self._patterns = capture.redact
        self._ready: ContentRedactor | None = None

    def __call__(self, text: str) -> str | None:
        """See `ContentRedactor`. Only on the thread of the contents."""
        if self._ready is None:
            self._ready = ContentRedactor(known_secrets(), self._patterns)
        return self._ready(text)
