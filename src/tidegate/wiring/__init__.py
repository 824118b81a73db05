"""The composition root: the only place that knows every part."""

from tidegate.wiring.demo import demo
from tidegate.wiring.serving import ListenError, serve

__all__ = ["ListenError", "demo", "serve"]
