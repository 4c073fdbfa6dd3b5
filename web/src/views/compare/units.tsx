// Units of the code with the numbers of both traces, the largest difference first.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import { Nothing } from "../../widgets/answered";
import { ChangeBar } from "../../widgets/bars";
import { Chip } from "../../widgets/cards";
import { type Column, DataTable } from "../../widgets/data_table";
import type { Unit } from "./shapes";

const signed = (value: number) => (Number.isNaN(value) ? "" : `${value > 0 ? "+" : ""}${value.toFixed(1)}`);
const known = (value: number) => (Number.isNaN(value) ? null : value);

export function unitColumns(by: string, largest: number): Column<Unit>[] {
  return [
    {
      name: "row",
      title: "Row",
      hint: "First code row in this trace; empty = gone",
      value: (u) => known(u.row),
      width: "4em",
    },
    {
      name: "label",
      title: by === "instruction" ? "Instruction" : `${by.charAt(0).toUpperCase()}${by.slice(1)}`,
      value: (u) => u.label || u.baseLabel,
      show: (u) => <code class={u.change === "gone" ? "gone" : ""}>{u.label || u.baseLabel}</code>,
      width: "minmax(16em, 2fr)",
    },
    {
      name: "change",
      title: "Code",
      hint: "same, text = reads differently now, new = only here, gone = only in the base",
      value: (u) => u.change,
      show: (u) => (u.change === "same" ? "" : <Chip tone={u.change}>{u.change}</Chip>),
      width: "4.5em",
    },
    {
      name: "delta_cycles_per_wave",
      title: "Difference",
      hint: "Cost (latency + idle) here - in the base, in cycles per wave",
      value: (u) => u.delta,
      show: (u) => signed(u.delta),
      width: "6.5em",
    },
    {
      name: "bar",
      title: "better ◂ ▸ worse",
      hint: "To the right: costs more than in the base; pale = within noise",
      value: (u) => Math.abs(u.delta),
      show: (u) => (
        <ChangeBar
          share={largest ? u.delta / largest : 0}
          faint={!u.isBeyond}
          label={`${signed(u.delta)} cycles per wave${u.isBeyond ? ", beyond noise" : ""}`}
        />
      ),
      width: "9em",
    },
    {
      name: "delta_share",
      title: "Of base",
      hint: "Difference / cost of all units of the base",
      value: (u) => u.share,
      show: (u) => percent(u.share),
      width: "5em",
    },
    {
      name: "work_cycles_per_wave",
      title: "Work",
      hint: "Part of the difference from more or fewer executions, in cycles per wave",
      value: (u) => u.work,
      show: (u) => signed(u.work),
      width: "6em",
    },
    {
      name: "speed_cycles_per_wave",
      title: "Speed",
      hint: "Part of the difference from slower or faster executions, in cycles per wave",
      value: (u) => u.speed,
      show: (u) => signed(u.speed),
      width: "6em",
    },
    {
      name: "noise_cycles_per_wave",
      title: "Noise",
      hint: "What the difference would be between equal runs, in cycles per wave",
      value: (u) => known(u.noise),
      show: (u) => (Number.isNaN(u.noise) ? "not known" : u.noise.toFixed(1)),
      width: "5.5em",
    },
    {
      name: "beyond_noise",
      title: "Beyond",
      hint: "Whether the difference is more than noise",
      value: (u) => (u.isBeyond ? "yes" : ""),
      width: "4.5em",
    },
    {
      name: "base_cost_cycles_per_wave",
      title: "Base cost",
      hint: "Cycles per wave",
      value: (u) => u.baseCost,
      show: (u) => u.baseCost.toFixed(1),
      width: "6em",
    },
    {
      name: "cost_cycles_per_wave",
      title: "Cost",
      hint: "Cycles per wave",
      value: (u) => u.cost,
      show: (u) => u.cost.toFixed(1),
      width: "6em",
    },
    {
      name: "base_hit_count_per_wave",
      title: "Base hits",
      hint: "Executions per wave",
      value: (u) => u.baseHits,
      show: (u) => u.baseHits.toFixed(1),
      width: "5.5em",
    },
    {
      name: "hit_count_per_wave",
      title: "Hits",
      hint: "Executions per wave",
      value: (u) => u.hits,
      show: (u) => u.hits.toFixed(1),
      width: "5em",
    },
    { name: "base_row", title: "Base row", value: (u) => known(u.baseRow), width: "5em" },
  ];
}

export function Units({ units, columns, by }: { units: Unit[]; columns: Column<Unit>[]; by: string }) {
  const onlyBeyond = useSignal(false);
  const rows = useMemo(() => (onlyBeyond.value ? units.filter((u) => u.isBeyond) : units), [units, onlyBeyond.value]);
  const beyond = units.filter((unit) => unit.isBeyond).length;
  return (
    <>
      <div class="toolbar">
        <label>
          <input
            type="checkbox"
            checked={onlyBeyond.value}
            onChange={(event) => (onlyBeyond.value = event.currentTarget.checked)}
          />{" "}
          only beyond noise ({exact(beyond)} of {exact(units.length)} {by}s)
        </label>
      </div>
      {rows.length ? (
        <DataTable
          label="Compared units"
          columns={columns}
          rows={rows}
          sortBy="bar"
          isSelected={(unit) => unit.row === selection.value.row}
          onSelect={(unit) => {
            if (!Number.isNaN(unit.row)) selectRow(unit.row);
          }}
          onHover={(unit) => {
            preview.value = unit && !Number.isNaN(unit.row) ? { row: unit.row } : {};
          }}
        />
      ) : (
        <Nothing>No {by} differs beyond noise.</Nothing>
      )}
    </>
  );
}
