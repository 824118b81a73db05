"""What keeps browsers from making more of an answer for programs than it is."""

GUARDS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""For answers to operators: none is a page, and none is for pages of another origin."""
