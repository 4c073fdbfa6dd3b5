"""Names of kinds of calls, the same in every format."""

from __future__ import annotations

import polars as pl

#: Domains of other formats -> the category that AMD's formats have for them.
_CATEGORIES = {
    "HIP": "HIP_RUNTIME_API",
    "HSA": "HSA_CORE_API",
    "RCCL": "RCCL_API",
    "ROCDECODE": "ROCDECODE_API",
    "ROCJPEG": "ROCJPEG_API",
}


def category_of(marker: str) -> pl.Expr:
    """The category of calls for formats whose readers take the domain from its start; `marker` is the one of markers.

    Examples
    --------
    >>> import polars as pl
    >>> calls = pl.DataFrame({"category": ["cuda_runtime", "HSA_AMD_EXT_API", None], "domain": ["HIP", "HSA", "RCCL"]})
    >>> calls.select(category_of("MARKER_CORE_API")).to_series().to_list()
    ['HIP_RUNTIME_API', 'HSA_AMD_EXT_API', 'RCCL_API']
    """
    category, domain = (pl.col(name).cast(pl.String) for name in ("category", "domain"))
    begins = category.str.extract("^([^_]*)").str.to_uppercase() == domain
    general = pl.when(domain == "MARKER").then(pl.lit(marker)).otherwise(domain.replace(_CATEGORIES))
    is_own = category.is_not_null() & begins.fill_null(value=True)
    return pl.when(is_own).then(category.replace(_CATEGORIES)).otherwise(general)
