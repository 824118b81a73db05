"""The money, without any I/O: amounts, prices, holds and the books."""
