import os

from tidegate.observe.gauges import FIGURES, GaugeBoard, render

UP: dict[str, float | None] = {
    "tidegate_database_up": 1,
    "tidegate_redis_up": 1,
    "tidegate_spool_rows": 2,
    "tidegate_rows_lost_total": 3,
    "tidegate_open_requests": 4,
}


def test_sums_are_of_all_and_what_is_up_is_so_for_all() -> None:
    board = GaugeBoard(3)
    for number in range(3):
        board.post(number, UP | {"tidegate_database_up": number != 1})
    assert board.together() == {
        "tidegate_database_up": 0,
        "tidegate_redis_up": 1,
        "tidegate_spool_rows": 6,
        "tidegate_rows_lost_total": 9,
        "tidegate_open_requests": 12,
    }


def test_who_is_gone_counts_no_more_but_what_he_counted_does() -> None:
    board = GaugeBoard(2)
    board.post(0, UP)
    board.post(1, UP | {"tidegate_database_up": 0})
    board.leave(1)
    together = board.together()
    assert (together["tidegate_database_up"], together["tidegate_open_requests"]) == (1, 4)
    assert together["tidegate_rows_lost_total"] == 6
    assert board.counted(1) == {"tidegate_rows_lost_total": 3}


def test_what_nobody_tells_is_not_shown() -> None:
    board = GaugeBoard(2)
    board.post(0, UP | {"tidegate_redis_up": None})
    assert "tidegate_redis_up" not in board.together()
    assert "redis" not in render(board.together())


def test_processes_share_the_board() -> None:
    board = GaugeBoard(2)
    pid = os.fork()
    if pid == 0:
        board.post(1, UP)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert board.together()["tidegate_open_requests"] == 4


def test_the_text_is_prometheus_own() -> None:
    board = GaugeBoard(1)
    board.post(0, UP | {"tidegate_open_requests": 12345678901})
    text = render(board.together())
    lines = text.splitlines()
    assert text.endswith("\n")
    assert len(lines) == 3 * len(FIGURES)
    assert lines[:3] == [
        "# HELP tidegate_database_up 1 if the database can be written, by every worker.",
        "# TYPE tidegate_database_up gauge",
        "tidegate_database_up 1",
    ]
    assert "# TYPE tidegate_rows_lost_total counter" in lines
    assert lines[-1] == "tidegate_open_requests 12345678901"
