import pytest

from tidegate.storage.database import Database, DatabaseUnusable


@pytest.mark.parametrize(
    "url", ["mysql://root:hunter2@host/db", "hunter2", "", "postgresql+asyncpg://u:hunter2@h/d"]
)
def test_another_url_is_refused_with_a_mend_and_without_its_password(url: str) -> None:
    with pytest.raises(DatabaseUnusable, match=r"^database\.url: ") as refused:
        Database(url)
    assert "sqlite:///" in str(refused.value)
    assert "postgresql://" in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("sqlite:///data/my%20db", "data/my db"),
        ("postgresql://u:hunter2@db.example:6432/tide", "postgresql://db.example:6432/tide"),
        ("postgres://u:hunter2@db.example/tide?sslmode=require", "postgresql://db.example/tide"),
        ("postgresql://u:hunter2@a:1,b:2/tide?target_session_attrs=read-write", "postgresql://a,b:1,2/tide"),
        ("postgresql://u:hunter2@/tide?host=/run/pg", "postgresql:///tide?host=/run/pg"),
    ],
)
def test_the_place_is_the_address_without_user_and_password(url: str, place: str) -> None:
    assert Database(url).place == place
