"""Serves the console's files, which are read once."""

from collections.abc import Mapping
from pathlib import Path

from aiohttp import web
from aiohttp.web_request import BaseRequest

from tidegate.console.packed import Coding, Packed

PATH = "/console"
FOLDER = Path(__file__).parent / "static"
_INDEX = "index.html"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "server": "tidegate",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def belongs(path: str) -> bool:
    """Whether a path is the console's."""
    return path == PATH or path.startswith(f"{PATH}/")


def read_files(folder: Path = FOLDER) -> dict[str, Packed]:
    """All files below a folder, by their path within it."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): Packed(path.name, path.read_bytes()) for path in found}


class Console:
    """Answers with files from memory: no path of a request ever reaches the disk."""

    def __init__(self, files: Mapping[str, Packed]) -> None:
        """There must be an index.html."""
        self._files = dict(files)
        self._index = self._files[_INDEX]

    async def answer(self, request: BaseRequest) -> web.Response:
        """One answer; what is no file is a page, and the script of index.html finds out which."""
        if request.method not in ("GET", "HEAD"):
            return _plain(405, f"{request.method} is not allowed here; use GET.\n", {"allow": "GET, HEAD"})
        if request.path == PATH:
            written = request.rel_url.raw_query_string  # undone it could hold what a header cannot
            query = f"?{written}" if written else ""
            return _plain(308, "", {"location": f"{PATH}/{query}"})
        file = self._files.get(request.path.removeprefix(f"{PATH}/"), self._index)
        coding = file.best_for(request.headers.get("accept-encoding", ""))
        headers = {"etag": file.etag(coding), "cache-control": "no-cache", "vary": "accept-encoding"}
        if _has(request.headers.get("if-none-match", ""), headers["etag"]):
            return web.Response(status=304, headers=SECURITY_HEADERS | headers)
        if coding is not Coding.PLAIN:
            headers["content-encoding"] = coding.value
        headers["content-type"] = file.media_type
        return web.Response(body=file.body(coding), headers=SECURITY_HEADERS | headers)


def _has(if_none_match: str, etag: str) -> bool:
    """Whether the browser has this version (RFC 9110, section 13.1.2: weak comparison)."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


def _plain(status: int, text: str, headers: Mapping[str, str]) -> web.Response:
    return web.Response(status=status, text=text, headers={**SECURITY_HEADERS, **headers})
