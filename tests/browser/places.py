"""Every page of the console by its address, on the seeded gateway."""

from urllib.parse import quote

from tests.browser.scene import MARKUP

PLACES = {
    "overview": "",
    "requests": "requests",
    "channels": "channels",
    "channel": "channels/shaky",
    "channel-test": "channels/spare?test=1",
    "channel-new": "channels/new",
    "channel-edit": "channels/spare/edit",
    "models": "models",
    "model": "models/steady",
    "model-new": "models/new?name=quick",
    "keys": "keys",
    "key": f"keys/{quote(MARKUP, safe='')}",
    "key-new": "keys/new",
    "accounts": "accounts",
    "account": "accounts/initech",
    "account-edit": "accounts/initech/edit",
    "audit": "audit",
    "playground": "playground?model=steady",
    "nothing": "keys/there-is-none",
}
"""Name of the page, and its address below `/console/`."""
