"""Calls of an RPD file: regions, marks, their arguments and their call stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import polars as pl

from wavewright.readers.run.event_rows import shaped
from wavewright.readers.run.rpd.entities import Entities, Keyed, with_sound_ends

_MARKER = "^UserMarker$"
#: Kinds of calls by function names, for files that do not record them; TOOL = the recording tool itself.
_DOMAINS = {
    "MARKER": "^(UserMarker$|roctx)",
    "HIP": "^(__)?hip",
    "HSA": "^hsa",
    "RCCL": "^(nccl|rccl|mscclpp)",
    "CUDA": "^cu(da)?[A-Z]",
    "TOOL": "Table::write|^hcc_activity_callback$|^rpdflush$",
}


class Calls:
    """Chunks of `regions`, `samples`, `arguments` and `frames`."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._database = entities.database

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of a table, with these columns."""
        reader = {"arguments": self._arguments, "frames": self._frames}.get(table, self._events)
        yield from (shaped(piece, table, columns) for piece in reader(table, columns) if piece.height)

    def _pieces(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield from self._database.chunks("rocpd_api", dict.fromkeys(names, pl.Int64))

    @cached_property
    def _is_marker(self) -> pl.Expr:
        return pl.col("apiName_id").is_in(self._entities.string_ids(_MARKER).implode()).fill_null(value=False)

    def _events(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Regions, or (of the markers without duration) samples."""
        names = set(columns)
        columns_read = ["id", "apiName_id", "start", "end"]
        columns_read += ["args_id"] if names & {"name", "properties"} else []
        columns_read += ["domain_id"] if names & {"category", "domain"} else []
        columns_read += ["category_id"] if "category" in names else []
        wrong: Counter[tuple[str, str]] = Counter()
        for piece in self._pieces(columns_read):
            is_mark = self._is_marker & (pl.col("start") == pl.col("end"))
            calls = piece.filter(is_mark if table == "samples" else ~is_mark.fill_null(value=False))
            calls, unsound = with_sound_ends(calls, f"{table} of rocpd_api")
            wrong += unsound
            ids = [calls["id"].alias(name) for name in ("event", "correlation")]
            if names & {"thread", "process"}:
                thread = self._entities.thread_of(calls["id"]).alias("thread")
                ids += [thread, self._entities.process_of(thread).alias("process")]
            start = pl.col("start").alias("time_ns" if table == "samples" else "start_ns")
            rows = calls.with_columns(*ids, *self._texts(calls, names)).with_columns(start, end_ns="end")
            if "name" in names:
                wrong["dangling_rows", "names of rocpd_api"] += rows["name"].null_count()
            yield rows
        self._entities.note(wrong)

    def _texts(self, calls: pl.DataFrame, names: set[str]) -> list[pl.Series]:
        strings = self._entities.strings
        function = strings.take("string", calls["apiName_id"]).alias("function")
        columns = [function]
        if names & {"name", "properties"}:
            text = self._entities.texts.take("string", calls["args_id"])
            labels = calls.select(pl.when(self._is_marker).then(text).otherwise(function).alias("name"))
            columns += [labels["name"]]
            if "properties" in names:
                # Arguments as JSON; those of markers are their names.
                texts = self._quoted.take("quoted", calls["args_id"])
                columns += calls.select(properties=pl.when(~self._is_marker).then(texts)).get_columns()
        if names & {"category", "domain"}:
            domain = self._domains.take("domain", calls["apiName_id"])
            kinds = {"guessed": domain, "domain": strings.take("string", calls["domain_id"])}
            if "category_id" in calls.columns:
                kinds["category"] = strings.take("string", calls["category_id"])
            marker = pl.when(pl.col("guessed") == "MARKER").then(pl.lit("MARKER"))
            domains = [marker.otherwise(_recorded("domain").str.to_uppercase()).alias("domain")]
            domains += [_recorded("category")] if "category" in kinds else []
            columns += pl.DataFrame(kinds).select(domains).get_columns()
        return columns

    @cached_property
    def _quoted(self) -> Keyed:
        texts = self._entities.texts.frame.select("id", pl.col("string").cast(pl.String).alias("args"))
        text = pl.when(pl.col("args") != "").then(pl.struct("args").struct.json_encode())
        return Keyed(texts.select("id", text.alias("quoted")), "id")

    @cached_property
    def _domains(self) -> Keyed:
        """String id -> the kind of call that a function of that name is."""
        name = pl.col("string").cast(pl.String)
        domain = pl.lit("OTHER")
        for kind, pattern in reversed(_DOMAINS.items()):
            domain = pl.when(name.str.contains(pattern)).then(pl.lit(kind)).otherwise(domain)
        return Keyed(self._entities.strings.frame.select("id", domain.alias("domain")), "id")

    def _arguments(self, _table: str, _columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """`name=value | name=value` taken apart."""
        for piece in self._pieces(["id", "apiName_id", "args_id"]):
            calls = piece.filter(~self._is_marker)
            text = self._entities.texts.take("string", calls["args_id"]).cast(pl.String)
            with_text = calls.select(pl.col("id").alias("event"), text.alias("text")).filter(pl.col("text") != "")
            process = self._entities.process_of(self._entities.thread_of(with_text["event"])).alias("process")
            parts = with_text.select("event", process, pl.col("text").str.split("|").alias("part"))
            parts = parts.with_columns(pl.int_ranges(pl.col("part").list.len()).alias("position"))
            pair = pl.col("part").str.splitn("=", 2)
            has_name = pl.col("part").str.contains("=", literal=True)
            first, second = pair.struct[0].str.strip_chars(), pair.struct[1].str.strip_chars()
            yield parts.explode("part", "position").select(
                "event",
                "process",
                "position",
                pl.when(has_name).then(first).otherwise(pl.lit("")).alias("name"),
                pl.when(has_name).then(second).otherwise(first).alias("value"),
            )

    def _frames(self, _table: str, _columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        types = {"api_ptr_id": pl.Int64, "depth": pl.Int64, "name_id": pl.Int64}
        for piece in self._database.chunks("rocpd_stackframe", types):
            yield piece.select(
                pl.col("api_ptr_id").alias("event"),
                "depth",
                self._entities.process_of(self._entities.thread_of(piece["api_ptr_id"])).alias("process"),
                self._entities.strings.take("string", piece["name_id"]).alias("name"),
            )


def _recorded(column: str) -> pl.Expr:
    """The recorded value, or a guess from the function name where none is recorded."""
    text = pl.col(column).cast(pl.String)
    return pl.when(text.is_null() | (text == "")).then("guessed").otherwise(text).alias(column)
