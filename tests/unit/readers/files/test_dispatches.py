"""Keys of dispatches: unique, short, and accepted again; which one is preferred, and what is said otherwise."""

from __future__ import annotations

import pytest

from wavewright.errors import UsageError
from wavewright.readers.files.dispatches import Contents, Dispatch, choose, named, with_keys

GEMM, FILL = ("gemm", "gemm"), ("__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned")


def made(
    number: int | None,
    path: str = "",
    agent: int | None = 7,
    *,
    pid: int | None = None,
    size: int = 1,
    kernels: tuple[tuple[str, str], ...] = (GEMM,),
    has_waves: bool = True,
    instruction_count: int | None = None,
) -> Dispatch[None]:
    contents = Contents(kernels, has_waves, instruction_count=instruction_count)
    return Dispatch(None, number, agent, pid, path, "", size=lambda: (size,), look=lambda: contents)


@pytest.mark.parametrize(
    ("dispatches", "keys"),
    [
        ([made(None)], [""]),
        ([made(1), made(3)], ["1", "3"]),
        ([made(3, "a/raw"), made(3, "b/raw"), made(4, "b/raw")], ["3@a", "3@b", "4"]),
        ([made(3, agent=5600), made(3, agent=5601)], ["3@5600", "3@5601"]),
        ([made(3, pid=11), made(3, pid=12)], ["3@11", "3@12"]),
        ([made(3, "a", 1), made(3, "a", 2), made(3, "b", 1)], ["3@a/1", "3@a/2", "3@b/1"]),
        ([made(3, "x_11.tar", 11), made(3, "x_22.tar", 22)], ["3@11", "3@22"]),
        ([made(None, "a"), made(None, "b")], ["@a", "@b"]),
        ([made(3, "deep/a/raw/x"), made(3, "deep/raw/x")], ["3@deep/a/raw/x", "3@deep/raw/x"]),
    ],
)
def test_keys_are_unique_and_name_their_dispatch(dispatches: list[Dispatch[None]], keys: list[str]) -> None:
    keyed = with_keys(dispatches)
    assert sorted(dispatch.key for dispatch in keyed) == sorted(keys)
    for dispatch in keyed:
        if dispatch.key:
            assert named(keyed, dispatch.key) == [dispatch]


def test_a_number_and_any_of_the_words_are_enough() -> None:
    keyed = with_keys([made(3, "run/a/raw", 5), made(3, "run/b/raw", 5), made(1, "run/a/raw", 5)])
    assert [d.path for d in named(keyed, "3@b")] == [d.path for d in named(keyed, "3@run/b/raw")] == ["run/b/raw"]
    assert len(named(keyed, 3)) == len(named(keyed, "3@5")) == len(named(keyed, "@a")) == 2
    assert named(keyed, "3@c") == []
    assert named(keyed, 33) == []


@pytest.mark.parametrize(
    ("dispatches", "chosen"),
    [
        ([made(1, size=9), made(2, size=5)], 1),
        ([made(1, size=9, kernels=(FILL,)), made(2, size=5)], 2),
        ([made(1, size=9, kernels=(FILL,)), made(2, size=5, has_waves=False)], 1),
        ([made(1, size=9, has_waves=False), made(2, size=5, kernels=(FILL,)), made(3, size=1)], 3),
        ([made(1, size=9, kernels=(FILL, GEMM)), made(2, size=5)], 1),
        ([made(1, size=9, kernels=()), made(2, size=5)], 1),
        ([made(1, size=9, instruction_count=5), made(2, size=5, instruction_count=32)], 2),
        ([made(1, size=9, instruction_count=0), made(2, size=5, instruction_count=32, kernels=(FILL,))], 2),
        ([made(1, size=9, instruction_count=40, kernels=(FILL,)), made(2, size=5, instruction_count=32)], 2),
        ([made(1, size=9, instruction_count=7), made(2, size=5, instruction_count=7)], 1),
    ],
)
def test_the_preferred_dispatch(dispatches: list[Dispatch[None]], chosen: int) -> None:
    assert choose(with_keys(dispatches)).number == chosen


def test_what_is_asked_for_decides() -> None:
    keyed = with_keys([made(1, "a", kernels=(FILL,)), made(3, "a"), made(3, "b", size=4)])
    assert choose(keyed, kernel="fill").number == 1
    assert choose(keyed, kernel="gemm").path == "b"
    assert choose(keyed, "3@a").path == "a"
    with pytest.raises(UsageError, match=r"2 dispatches are called 3; choose one with --dispatch: 3@a \(gemm\), 3@b"):
        choose(keyed, 3)
    with pytest.raises(UsageError, match=r"no dispatch 7; there are: 1 \(__amd_rocclr_fillBufferAligned\), 3@a"):
        choose(keyed, 7)
    with pytest.raises(UsageError, match=r"a kernel whose name contains 'attn'; there are: 1 "):
        choose(keyed, kernel="attn")
