// Units of the code with the numbers of both traces, the largest difference first.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { COMPARE_UNITS, type CompareUnitsRow } from "../../data/answers.gen";
import { selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import { Nothing } from "../../widgets/answered";
import { ChangeBar } from "../../widgets/bars";
import { Chip } from "../../widgets/cards";
import { Check } from "../../widgets/check";
import { type Column, DataTable } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";

const signed = (value: number | null) => (value === null ? "" : `${value > 0 ? "+" : ""}${value.toFixed(1)}`);
const rounded = (value: number) => value.toFixed(1);

/** Columns of units of a kind; `largest` is the difference in cycles per wave that fills a bar. */
export function unitColumns(by: string, largest: number): Column<CompareUnitsRow>[] {
  return figureColumns<CompareUnitsRow>(COMPARE_UNITS, [
    ["row", "Row", "id", "4em"],
    {
      name: "label",
      title: `${by.charAt(0).toUpperCase()}${by.slice(1)}`,
      value: (unit) => unit.label || unit.base_label,
      show: (unit) => <code class={unit.change === "gone" ? "gone" : ""}>{unit.label || unit.base_label}</code>,
      width: "minmax(16em, 2fr)",
    },
    {
      name: "change",
      title: "Code",
      show: (unit) =>
        unit.change === "same" ? (
          ""
        ) : (
          <Chip tone={unit.change} title={unit.change === "registers" ? "only other registers" : ""}>
            {unit.change}
          </Chip>
        ),
      width: "4.5em",
    },
    {
      name: "delta_cycles_per_wave",
      title: "Difference",
      show: (unit) => signed(unit.delta_cycles_per_wave),
    },
    {
      name: "bar",
      title: "better ◂ ▸ worse",
      hint: "To the right: costs more than in the base; pale = does not stand out",
      value: (unit) => Math.abs(unit.delta_cycles_per_wave),
      show: (unit) => (
        <ChangeBar
          share={largest ? unit.delta_cycles_per_wave / largest : 0}
          faint={!unit.stands_out}
          label={`${signed(unit.delta_cycles_per_wave)} cycles per wave${unit.stands_out ? ", stands out" : ""}`}
        />
      ),
      width: "11em",
    },
    ["delta_share", "Of base", "share"],
    { name: "work_cycles_per_wave", title: "Work", show: (unit) => signed(unit.work_cycles_per_wave) },
    { name: "speed_cycles_per_wave", title: "Speed", show: (unit) => signed(unit.speed_cycles_per_wave) },
    {
      name: "noise_cycles_per_wave",
      title: "Noise",
      show: ({ noise_cycles_per_wave: noise }) => (noise === null ? "not known" : rounded(noise)),
    },
    { name: "stands_out", title: "Stands out", value: (unit) => (unit.stands_out ? "yes" : "") },
    { name: "base_cost_cycles_per_wave", title: "Base cost", show: (unit) => rounded(unit.base_cost_cycles_per_wave) },
    { name: "cost_cycles_per_wave", title: "Cost", show: (unit) => rounded(unit.cost_cycles_per_wave) },
    {
      name: "base_hit_count_per_wave",
      title: "Base hits",
      show: (unit) => rounded(unit.base_hit_count_per_wave),
    },
    { name: "hit_count_per_wave", title: "Hits", show: (unit) => rounded(unit.hit_count_per_wave) },
    ["base_row", "Base row", "id"],
  ]);
}

interface UnitsProps {
  units: CompareUnitsRow[];
  columns: Column<CompareUnitsRow>[];
  /** What a unit is: an instruction, line, block or function. */
  by: string;
}

export function Units({ units, columns, by }: UnitsProps) {
  const onlyOutstanding = useSignal(false);
  const outstanding = useMemo(() => units.filter((unit) => unit.stands_out), [units]);
  const rows = onlyOutstanding.value ? outstanding : units;
  return (
    <>
      <div class="toolbar">
        <Check isOn={onlyOutstanding.value} onChange={(isOn) => (onlyOutstanding.value = isOn)}>
          only what stands out ({exact(outstanding.length)} of {exact(units.length)} {by}s)
        </Check>
        <span data-unit>in cycles per wave, hits per wave</span>
      </div>
      {rows.length ? (
        <DataTable
          label="Compared units"
          columns={columns}
          rows={rows}
          sortBy="bar"
          isSelected={(unit) => unit.row === selection.value.row}
          onSelect={(unit) => {
            if (unit.row !== null) selectRow(unit.row);
          }}
          onHover={(unit) => {
            preview.value = unit && unit.row !== null ? { row: unit.row } : {};
          }}
        />
      ) : (
        <Nothing>No {by} stands out.</Nothing>
      )}
    </>
  );
}
