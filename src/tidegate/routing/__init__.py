"""The choice: which channel serves a request, and why."""
