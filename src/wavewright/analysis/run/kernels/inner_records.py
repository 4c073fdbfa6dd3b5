"""Records inside calls of operators that models need: workgroups of their kernels, inputs of operators they call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from wavewright.facts.metrics.operators import OperatorModel
from wavewright.model.run import Run

_VALUES = "Concrete Inputs"
_THREAD = ["process", "thread"]
_AXES = "xyz"
_GRID = [f"{of}_{axis}" for of in ("grid", "workgroup") for axis in _AXES]


class InnerRecords:
    """The records that models ask for (`OperatorModel.inside`, `.tiles`) of each call of their operators, as JSON."""

    def __init__(self, run: Run, models: Mapping[str, OperatorModel]) -> None:
        """`models` by the name of an operator of the run."""
        self._models = dict(models)
        self._called = {callee for model in models.values() for callee, _ in model.inside.values()}
        kernels = self._kernels(run)
        self.of_graphs = self._of_graphs(run, kernels.drop_nulls("graph_call"))
        self._calls = self._of_calls(run, kernels.filter(pl.col("graph_call").is_null()).drop_nulls("correlation"))

    def around(self, calls: pl.DataFrame) -> pl.Series:
        """The records of each call (`process`, `thread`, `start_ns`); null = none."""
        key = [*_THREAD, "start_ns"]
        return calls.select(key).join(self._calls, on=key, how="left", maintain_order="left")["records"]

    def _kernels(self, run: Run) -> pl.DataFrame:
        """Kernels that a model asks for: name and workgroups, and the call that launched or captured them."""
        patterns = [re.compile(tile) for model in self._models.values() for tile in model.tiles.values()]
        keys = {"process": pl.UInt32, "correlation": pl.Int64, "graph_call": pl.UInt32}
        sizes = [pl.col(f"grid_{axis}") // pl.col(f"workgroup_{axis}") for axis in _AXES]
        workgroups = sizes[0].fill_null(0) * sizes[1].fill_null(1) * sizes[2].fill_null(1)
        rows = [pl.DataFrame(schema={**keys, "name": pl.String, "workgroups": pl.Int64})]
        for piece in run.chunks("dispatches", ["name", *keys, *_GRID]):
            names = piece["name"].unique().cast(pl.String).drop_nulls()
            matches = [name for name in names if any(pattern.fullmatch(name) for pattern in patterns)]
            if matches:
                name = pl.col("name").cast(pl.String)
                rows.append(piece.filter(name.is_in(matches)).select(*keys, name, workgroups=workgroups.cast(pl.Int64)))
        # Replays of a node are alike: one is enough, whatever launched it.
        is_replay = pl.col("graph_call").is_not_null()
        return pl.concat(rows).with_columns(correlation=pl.when(~is_replay).then("correlation")).unique()

    def _of_graphs(self, run: Run, kernels: pl.DataFrame) -> dict[int, str]:
        """The records of each captured call (its `graph_call`) whose operator has a model."""
        if not kernels.height:
            return {}
        columns = ["graph_call", "parent_call", "name", "event_properties"]
        calls = run.read("graph_calls", columns).with_columns(pl.col("name").cast(pl.String))
        parents = dict(calls.select("graph_call", "parent_call").iter_rows())
        names = dict(calls.select("graph_call", "name").iter_rows())
        rows = kernels.select("graph_call", "name", "workgroups").rows()
        pairs = [(call, (name, count)) for call, name, count in rows]
        inner = calls.filter(pl.col("name").is_in(list(self._called))).select("graph_call", "name", "event_properties")
        pairs += [(call, (name, text)) for call, name, text in inner.iter_rows()]
        records: dict[int, list[tuple[str, Any]]] = {}
        for call, record in pairs:
            owner = parents.get(call)  # the nearest call above that has a model
            while owner is not None and names.get(owner) not in self._models:
                owner = parents.get(owner)
            if owner is not None:
                records.setdefault(owner, []).append(record)
        return {call: self._text(names[call], values) for call, values in records.items()}

    def _of_calls(self, run: Run, kernels: pl.DataFrame) -> pl.DataFrame:
        """`records` by `process`, `thread`, `start_ns` of calls that no graph replays."""
        keys = {"process": pl.UInt32, "thread": pl.UInt32, "start_ns": pl.Int64}
        none = pl.DataFrame(schema={**keys, "records": pl.String})
        if not kernels.height:
            return none
        name = pl.col("name").cast(pl.String)
        columns = [*keys, "end_ns", "name", "correlation", "event_properties"]
        pieces = [piece.with_columns(name) for piece in run.chunks("regions", columns)]
        launches = pl.concat(piece.join(kernels, on=["process", "correlation"], how="inner") for piece in pieces)
        launches = launches.select(*keys, name="name_right", value=pl.col("workgroups").cast(pl.String))
        inner = pl.concat(piece.filter(name.is_in(list(self._called))) for piece in pieces)
        owners = pl.concat(piece.filter(name.is_in(list(self._models))) for piece in pieces)
        events = pl.concat([launches, inner.select(*keys, "name", value="event_properties")]).sort("start_ns")
        owners = owners.select(*_THREAD, "end_ns", begin="start_ns", owner="name").sort("begin")
        inside = events.join_asof(
            owners, left_on="start_ns", right_on="begin", by=_THREAD, strategy="backward", check_sortedness=False
        ).filter(pl.col("start_ns") <= pl.col("end_ns"))
        rows = [
            (*key, self._text(str(part["owner"][0]), part.select("name", "value").rows()))
            for key, part in inside.partition_by(*_THREAD, "begin", as_dict=True).items()
        ]
        return pl.DataFrame(rows, schema=none.schema, orient="row")

    def _text(self, operator: str, recorded_values: Iterable[tuple[str, Any]]) -> str:
        """The records that the model of an operator asks for, where all those of a call agree."""
        model = self._models[operator]
        values_by_key: dict[str, set[tuple[Any, ...]]] = {}
        for name, value in recorded_values:
            for key, pattern in model.tiles.items():
                if re.fullmatch(pattern, name):
                    values_by_key.setdefault(key, set()).add((name, int(value)))
            for key, (callee, place) in model.inside.items():
                if name == callee:
                    values_by_key.setdefault(key, set()).add((_value(value, place),))
        records = {key: value for key, values in values_by_key.items() if len(values) == 1 for value in values}
        return json.dumps({key: value if len(value) > 1 else value[0] for key, value in sorted(records.items())})


def _value(properties: str | None, place: int) -> str:
    """A recorded value of a call."""
    try:
        return str(json.loads(properties or "{}")[_VALUES][place])[:100]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return ""
