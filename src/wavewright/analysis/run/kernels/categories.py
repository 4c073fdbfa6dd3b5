"""Categories of kernels, by their names: GEMM, attention, elementwise, communication, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import polars as pl

from wavewright.analysis.run.calls.kernel_names import readable_names
from wavewright.facts.kernel_categories import OTHER, category_rules
from wavewright.facts.kernel_titles import kernel_head, kernel_title


def category(name: pl.Expr) -> pl.Expr:
    """The category of each kernel, by its name; `other` where no rule matches.

    >>> pl.select(category(pl.lit("Cijk_Ailk_Bljk_BBS_BH_MT16x64x64"))).item()
    'GEMM'
    """
    return name.cast(pl.String).fill_null("").map_batches(_of_series, return_dtype=pl.String)


def categories_of(names: Iterable[str]) -> dict[str, str]:
    """Kernel -> category."""
    return {name: _category(readable) for name, readable in readable_names(names).items()}


def time_by_category(things: pl.DataFrame) -> pl.DataFrame:
    """`category`, `name_count`, `calls`, `total_ns` and `share`, of rows with `domain`, `name`, `calls` and `total_ns`.

    Rows are kernels (domain KERNEL) and copies (COPY), which are the category `copy`; others are left out. The category
    with most time comes first. Shares are of the time of all of them.
    """
    on_gpu = things.filter(pl.col("domain").is_in(["KERNEL", "COPY"]))
    is_copy = pl.col("domain") == "COPY"
    sums = (
        on_gpu.with_columns(category=pl.when(is_copy).then(pl.lit("copy")).otherwise(category(pl.col("name"))))
        .group_by("category")
        .agg(
            name_count=pl.col("name").n_unique().cast(pl.Int64),
            calls=pl.col("calls").sum(),
            total_ns=pl.col("total_ns").sum(),
        )
    )
    share = pl.col("total_ns") / pl.col("total_ns").sum().replace(0, None)
    return sums.with_columns(share=share).sort(-pl.col("total_ns"), "category", nulls_last=True)


def _of_series(names: pl.Series) -> pl.Series:
    unique = names.unique()
    categories = categories_of(unique)
    return names.replace_strict(unique, pl.Series([categories[name] for name in unique]), return_dtype=pl.String)


@cache
def _patterns() -> tuple[tuple[str, bool, re.Pattern[str]], ...]:
    return tuple((rule.category, rule.within == "head", re.compile(rule.pattern)) for rule in category_rules().rules)


def _category(name: str) -> str:
    title = kernel_title(name)
    head = kernel_head(title)
    texts = ((category, pattern, head if is_head else title) for category, is_head, pattern in _patterns())
    return next((category for category, pattern, text in texts if pattern.search(text)), OTHER)
