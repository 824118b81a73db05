"""`python -m tests.conversion_page` writes the tables of docs/conversion.md anew."""

from tests.conversion_page.page import PAGE, renewed

if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
