import subprocess
import sys
from pathlib import Path

from tidegate.storage.database import Database
from tidegate.storage.owners import (
    Owner,
    checkpoint_path,
    coming_path,
    dead,
    everyone,
    forget_files,
    local,
    lock_path,
    spool_path,
)

HOLDER = """
import sys
from pathlib import Path
from tidegate.storage.owners import Owner
owner = Owner(Path(sys.argv[1]))
print(owner.id, flush=True)
sys.stdin.read()
"""


def test_the_lock_of_a_process_is_free_when_it_was_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    owner = process.stdout.readline().strip()
    assert local(tmp_path) == [owner]
    with dead(tmp_path, owner) as is_dead:
        assert not is_dead
    process.kill()
    process.wait(60)
    process.communicate()
    with dead(tmp_path, owner) as is_dead:
        assert is_dead
        with dead(tmp_path, owner) as too:
            assert not too  # one cleans up, the others leave it alone
    for path in (spool_path(tmp_path, owner), checkpoint_path(tmp_path, owner)):
        path.touch()
        coming_path(path).touch()  # it was killed while it wrote
    forget_files(tmp_path, owner)
    assert list(tmp_path.iterdir()) == []
    with dead(tmp_path, owner) as is_dead:
        assert not is_dead


def test_a_lock_has_its_name_only_when_it_is_held(tmp_path: Path) -> None:
    owner = Owner(tmp_path / "new")
    with dead(owner.folder, owner.id) as is_dead:
        assert not is_dead
    assert [path.name for path in owner.folder.iterdir()] == [f"{owner.id}.lock"]
    owner.close()
    owner.close()
    with dead(owner.folder, owner.id) as is_dead:
        assert is_dead
    assert lock_path(owner.folder, owner.id).exists()


def test_an_owner_says_that_it_lives_by_the_clock_of_the_database(database: Database, tmp_path: Path) -> None:
    owner = Owner(tmp_path / "a", "digest")
    with database.connect_writer() as connection, connection.begin():
        owner.say_so(connection)
        (seen,) = everyone(connection)
        assert (seen.id, seen.age) == (owner.id, 0) or seen.age == 1
        connection.exec_driver_sql("UPDATE owners SET seen_at = seen_at - 700")
        assert everyone(connection)[0].age >= 700
        owner.say_so(connection)
        assert everyone(connection)[0].age <= 1
        assert connection.exec_driver_sql("SELECT config FROM owners").all() == [("digest",)]
        connection.exec_driver_sql("DELETE FROM owners")
        owner.say_so(connection)
        assert [one.id for one in everyone(connection)] == [owner.id]
    owner.close()
