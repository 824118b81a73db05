"""What the books refuse, each with words for the operator."""


class LedgerRefusal(Exception):
    """A payment or refund that the books do not take; the text tells an operator why."""


class BalanceTooLarge(LedgerRefusal):
    """The balance would be more than the books can keep."""


class RefundRefused(LedgerRefusal):
    """Nothing is left of what the request was charged."""


class RefundTooLarge(RefundRefused):
    """It is more than is left of what the request was charged."""


class ReferenceTaken(LedgerRefusal):
    """The reference was booked before, for something else."""
