"""`python -m tests.dashboard` writes deploy/grafana/tidegate.json."""

from tests.dashboard.page import FILE, text

if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
