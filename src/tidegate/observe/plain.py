"""Makes a text harmless to look at: what would steer a terminal, or turn letters round, is written out."""


def plain_json(text: str) -> str:
    """A JSON text that says the same in characters that can be printed."""
    if (text.isascii() and "\x7f" not in text) or text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def plain_line(text: str) -> str:
    """A line for people; no letter of it begins another line."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _shown(letter) for letter in text)


def _escaped(letter: str) -> str:
    """As JSON writes it; beyond 16 bits in two halves."""
    code = ord(letter)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _shown(letter: str) -> str:
    code = ord(letter)
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\u00a0": " "}.get(letter)
    if known is not None:
        return known
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
