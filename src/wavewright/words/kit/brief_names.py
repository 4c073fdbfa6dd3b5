"""Names of kernels, paths and other names in few characters, the same in all reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wavewright.base.compression import without_packing
from wavewright.base.names_form import NAMES_FORM
from wavewright.base.shown import printable
from wavewright.model.blocks import KernelName


def brief_kernel(name: str | None, width: int = 48) -> str:
    """The name of a kernel in few characters: demangled, without return type and parameters, cut in the middle.

    A table that gets it as a cell writes it in the width it has, and by what tells it from the other cells.

    >>> brief_kernel("void vllm::rms_norm_kernel<__half>(__half*, int)")
    'vllm::rms_norm_kernel<__half>'
    >>> brief_kernel("Cijk_Alik_Bljk_HHS_BH_MT64x32x16_MI16x16x1_SN", 30)
    'Cijk_Alik_Bljk…_BH_MT64x32x16…'
    """
    from wavewright.analysis.run.calls.kernel_names import readable_names, short_names  # without polars where unused

    full = printable(name or "?")
    is_full = NAMES_FORM.get() == "full"
    return KernelName(full, readable_names([full])[full] if is_full else short_names([full], width)[full])


def brief_kernels(names: Sequence[str], width: int = 48) -> list[str]:
    """Names of kernels for a sentence, each in at most `width` characters, and none like another.

    >>> brief_kernels(["my_long_kernel_name_a", "my_long_kernel_name_b"], 16)
    ['my_long…_name_a', 'my_long…_name_b']
    """
    from wavewright.analysis.run.calls.kernel_names import readable_names, short_names

    cleaned = [printable(name) for name in names]
    if NAMES_FORM.get() == "full":
        return list(readable_names(cleaned).values())
    short = short_names(cleaned, width)
    return [short[name] for name in cleaned]


def brief(name: str | None, width: int = 48) -> str:
    """A name in at most `width` characters.

    >>> brief("threading.py(937): _bootstrap", 14)
    'threading.py(…'
    """
    text = printable(name or "?")
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


def brief_paths(paths: Iterable[str]) -> dict[str, str]:
    """Paths without the folders that they have in common at the start, and without common ends; one keeps its name.

    >>> brief_paths(["/data/a/results.db", "/data/b/results.db"])
    {'/data/a/results.db': 'a', '/data/b/results.db': 'b'}
    >>> brief_paths(["/data/a/results.db"]), brief_paths(["runs/1.db", "runs/x/2.db"])
    ({'/data/a/results.db': 'results.db'}, {'runs/1.db': '1', 'runs/x/2.db': 'x/2'})
    """
    parts = {path: without_packing(path.rstrip("/")).split("/") for path in dict.fromkeys(paths)}
    if len(parts) < 2:
        return {path: components[-1] or path for path, components in parts.items()}
    rows = list(parts.values())
    shortest = min(map(len, rows))
    start = next((n for n in range(shortest) if len({row[n] for row in rows}) > 1), shortest - 1)  # of what differs
    depths = range(1, shortest - start)
    stop = next((n for n in depths if len({row[-n] for row in rows}) > 1), len(depths) + 1) - 1  # common, at the end
    brief = {path: "/".join(row[start : len(row) - stop]) or path for path, row in parts.items()}
    ends = {text.rpartition(".")[2] if "." in text[1:] else "" for text in brief.values()}
    end = next(iter(ends)) if len(ends) == 1 else ""
    return {path: text.removesuffix(f".{end}") if end else text for path, text in brief.items()}
