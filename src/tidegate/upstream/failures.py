"""What the caller and the operator are told when an upstream cannot be reached or breaks off."""

from tidegate.core.failure import Failure, Kind


def unreachable(detail: str) -> Failure:
    """No connection: DNS, refusal, no route."""
    return _upstream("could not connect to the upstream", detail)


def insecure(detail: str) -> Failure:
    """TLS did not come about, or the certificate was not accepted."""
    return _upstream("could not establish a secure connection to the upstream", detail)


def proxy_refused(detail: str) -> Failure:
    """The proxy on the way refused or garbled the tunnel."""
    return _upstream("the proxy refused to connect to the upstream", detail)


def connect_timed_out(seconds: float) -> Failure:
    """The connect phase (DNS, TCP, proxy, TLS) took too long."""
    return Failure(
        kind=Kind.TIMEOUT,
        message="the upstream did not accept a connection in time",
        detail=f"connect_timeout of {seconds:g} s is over",
    )


def closed_unanswered(detail: str) -> Failure:
    """Closed before the head of an answer was whole."""
    return _upstream("the upstream closed the connection before it answered", detail)


def cut(detail: str) -> Failure:
    """Closed inside the body."""
    return _upstream("the upstream closed the connection in mid-answer", detail)


def malformed(detail: str) -> Failure:
    """Not HTTP as it should be, or beyond a limit."""
    return _upstream("the upstream sent a malformed answer", detail)


def undecodable(detail: str) -> Failure:
    """The content encoding is unknown or broken."""
    return _upstream("the upstream sent an answer that cannot be decoded", detail)


def misconfigured(detail: str) -> Failure:
    """The channel's own settings cannot make a request."""
    return _upstream("the channel is misconfigured", detail)


def unsendable(detail: str) -> Failure:
    """The request holds what must not go into an HTTP head."""
    return Failure(kind=Kind.INTERNAL, message="the request could not be sent upstream", detail=detail)


def shutting_down() -> Failure:
    """The gateway stops."""
    return Failure(kind=Kind.DRAINING, message="the gateway is shutting down")


def _upstream(message: str, detail: str) -> Failure:
    return Failure(kind=Kind.UPSTREAM, message=message, detail=detail)
