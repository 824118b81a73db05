"""`python -m tests.manual_tables` writes the tables of the manual that are made from the code."""

from tests.manual_tables.pages import write

if __name__ == "__main__":
    write()
