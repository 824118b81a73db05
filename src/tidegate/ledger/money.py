"""Amounts of money as whole numbers of nano-USD (1e-9 USD), so that sums are exact."""

from decimal import Decimal

NANO = 10**9
"""Nano-USD in one USD, and atto-USD (1e-18 USD, what charges are added up in) in one nano-USD."""
MOST = 10**18
"""The largest balance, credit, hold or charge: 1,000,000,000 USD; nine such still fit a 64-bit column."""

_HALF = NANO // 2
_MOST_DIGITS = 60


def to_nano(usd: Decimal) -> int | None:
    """The amount in nano-USD; None if it has more than nine decimals, is no number or is beyond MOST."""
    nano = scaled(usd, 9)
    return None if nano is None or abs(nano) > MOST else nano


def scaled(amount: Decimal, places: int) -> int | None:
    """`amount` times ten to the power of `places`, exactly; None if that is not whole, or far too large."""
    sign, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int) or len(digits) > _MOST_DIGITS:
        return None
    coefficient = int("".join(map(str, digits)))
    shift = exponent + places
    if not coefficient:
        return 0
    if not -len(digits) < shift <= _MOST_DIGITS:  # it cannot be whole, or is nothing that is counted here
        return None
    unit: int = 10 ** abs(shift)
    whole, rest = (coefficient * unit, 0) if shift >= 0 else divmod(coefficient, unit)
    if rest:
        return None
    return -whole if sign else whole


def rounded(atto: int) -> int:
    """Atto-USD (not negative) as nano-USD: half a nano-USD or more goes up. MOST at the most."""
    return min((atto + _HALF) // NANO, MOST)


def usd(nano: int) -> str:
    """The amount in USD with nine decimals, as the API writes it: "0.000234000", "-1.500000000"."""
    whole, rest = divmod(abs(nano), NANO)
    return f"{'-' if nano < 0 else ''}{whole}.{rest:09d}"


def exact_usd(atto: int) -> str:
    """Atto-USD (not negative) in USD: nine decimals, and as many more as it takes to be exact."""
    nano, rest = divmod(atto, NANO)
    return usd(nano) + f"{rest:09d}".rstrip("0") if rest else usd(nano)
