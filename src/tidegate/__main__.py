"""Runs the command line as `python -m tidegate`."""

from tidegate.cli.app import main

if __name__ == "__main__":
    main()
