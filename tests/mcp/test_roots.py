"""What a client may read: below the roots, nothing else, whatever it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.runs import write_rocpd
from tests.kit.planted_runs import simulated
from wavewright.errors import UsageError
from wavewright.mcp.dispatcher import Dispatcher
from wavewright.mcp.roots import Roots


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root, and a capture beside it that is none of the client's business."""
    house = tmp_path_factory.mktemp("house")
    write_rocpd(simulated("straggler", 1, 2)[0], house / "inside" / "run")
    write_rocpd(simulated("straggler", 1, 2)[1], house / "outside")
    (house / "inside" / "link").symlink_to(house / "outside")
    (house / "inside" / "file.db").symlink_to(next((house / "outside").rglob("*.db")))
    (house / "inside" / "within").symlink_to(house / "inside" / "run")
    (house / "inside" / "loop").symlink_to(house / "inside" / "loop")
    return house


def escapes(house: Path) -> list[str]:
    outside = house / "outside"
    return [
        "../outside", "run/../../outside", "..", "run/..", str(outside), str(next(outside.rglob("*.db"))), "link",
        "link/", "file.db", "/etc/passwd", "/", "/proc/self/environ", "~", "~root", "", "a\0b", "x" * 5000, "loop",
        f"{house}/inside/../outside", "file:///etc/passwd", "link/../run", "*", "run/*",
    ]  # fmt: skip


def test_nothing_outside_is_read(house: Path) -> None:
    dispatcher = Dispatcher.over([house / "inside"])
    for tool, name in (
        ("open_capture", "path"),
        ("diagnose", "capture"),
        ("query", "capture"),
        ("list_captures", "under"),
    ):
        for path in escapes(house):
            more = {"sql": "SELECT 1"} if tool == "query" else {}
            if tool == "list_captures" and not path:
                continue  # the roots themselves
            result = dispatcher.answered(tool, {name: path, **more}, lambda _: None)
            text = result["content"][0]["text"]
            assert result["isError"], (tool, path, text)
            assert "bug" not in text, (tool, path, text)
    for path in escapes(house):
        arguments = {"capture": "run", "other": path}
        assert dispatcher.answered("compare", arguments, lambda _: None)["isError"], path


def test_a_handle_does_not_follow_a_link_that_came_later(house: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_rocpd(simulated("straggler", 1, 2)[0], root / "run")
    dispatcher = Dispatcher.over([root])
    assert not dispatcher.answered("open_capture", {"path": "run"}, lambda _: None)["isError"]
    (root / "run").rename(tmp_path / "moved")
    (root / "run").symlink_to(house / "outside")
    dispatcher.captures._documents.clear()  # as when others needed the room
    answer = dispatcher.answered("summary", {"capture": "c1"}, lambda _: None)
    assert answer["isError"]
    assert "leads out of the folders" in answer["content"][0]["text"]


def test_what_is_inside_is_read_by_all_its_names(house: Path) -> None:
    dispatcher = Dispatcher.over([house / "inside"])
    for path in ("run", "./run", str(house / "inside" / "run"), "within"):
        assert not dispatcher.answered("open_capture", {"path": path}, lambda _: None)["isError"], path


def test_lists_do_not_follow_links_out(house: Path) -> None:
    dispatcher = Dispatcher.over([house / "inside"])
    result = dispatcher.answered("list_captures", {"limit": 50}, lambda _: None)["structuredContent"]
    paths = [row[2] for row in result["tables"]["captures"]["rows"]]
    assert paths
    assert all(path.startswith("run/") for path in paths), paths


def test_a_link_as_root_is_followed_once(house: Path, tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to(house / "inside")
    roots = Roots.of([tmp_path / "root"])
    assert roots.path("run") == house / "inside" / "run"
    with pytest.raises(UsageError, match="leads out"):
        roots.path("link")


def test_several_roots(house: Path) -> None:
    roots = Roots.of([house / "inside", house / "outside"])
    name = next((house / "outside").rglob("*.db")).name
    assert roots.path(str(house / "outside")) == house / "outside"
    assert roots.holds(house / "inside" / "link")
    assert any((house / "outside").rglob(name))


def test_a_slip_names_what_was_meant(house: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'run'"):
        Roots.of([house / "inside"]).path("rum")


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        Roots.of([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE kernels",
        "SELECT 1; SELECT 2",
        "ATTACH '/etc/passwd' AS x",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/out'",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "SELECT load_extension('x')",
        "CREATE TABLE x AS SELECT 1",
    ],
)
def test_queries_read_the_run_and_nothing_else(house: Path, sql: str) -> None:
    dispatcher = Dispatcher.over([house / "inside"])
    result = dispatcher.answered("query", {"capture": "run", "sql": sql}, lambda _: None)
    assert result["isError"], result["content"][0]["text"]
