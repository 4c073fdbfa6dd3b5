// The code of both traces, aligned: the base to the left, this trace to the right, differences marked.

import { useSignal } from "@preact/signals";
import { exact, short } from "../../base/format";
import type { CompareAnswer, CompareUnitsRow } from "../../data/answers.gen";
import { textScale } from "../../draw/painter";
import { selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import { ChangeBar } from "../../widgets/bars";
import { VirtualList } from "../../widgets/virtual_list";
import { nextDifference } from "./rows";

/** How the code of a pair differs, for a tooltip; others are the same instruction. */
const MEANING: Record<string, string> = {
  gone: "gone: only the base has it",
  new: "new: the base does not have it",
  registers: "the same instruction on other registers: what it reads was written by the same instructions",
};
const rowHeight = () => 20 * textScale();

export function SideBySide({ units, answer }: { units: CompareUnitsRow[]; answer: CompareAnswer }) {
  /** The difference that was jumped to last; -1 = none since an instruction was clicked. */
  const jumped = useSignal(-1);
  const chosen = units.findIndex((unit) => unit.row === selection.value.row);
  const most = units.reduce((largest, unit) => Math.max(largest, Math.abs(unit.delta_cycles_per_wave)), 1e-9);
  const differences = units.filter((unit) => unit.change !== "same").length;
  const renamed = units.filter((unit) => unit.change === "registers").length;
  const labels = answer.traces.rows.map((trace) => trace.label);
  const jump = () => {
    const next = nextDifference(units, jumped.value >= 0 ? jumped.value : chosen);
    jumped.value = next;
    const row = units[next]?.row ?? null;
    if (row !== null) selectRow(row);
  };
  return (
    <>
      <div class="toolbar">
        <span>
          {answer.same_code
            ? "The code is the same; the bars are the differences in cost."
            : `${exact(differences)} of ${exact(units.length)} instructions differ`}
          {renamed ? `, ${exact(renamed)} of ${exact(differences)} only rename registers` : ""}
        </span>
        {differences > renamed ? (
          <button type="button" class="quiet" onClick={jump}>
            next difference ↓
          </button>
        ) : null}
      </div>
      <VirtualList
        class="side-by-side"
        label="Code side by side"
        count={units.length}
        rowHeight={rowHeight()}
        reveal={jumped.value >= 0 ? jumped.value : chosen}
        header={<Header base={labels[0]} own={labels[1]} />}
        row={(index) => (
          <Pair
            key={index}
            unit={units[index] as CompareUnitsRow}
            most={most}
            isSelected={index === chosen}
            onSelect={() => {
              jumped.value = -1;
            }}
          />
        )}
      />
    </>
  );
}

function Header({ base, own }: { base: string | undefined; own: string | undefined }) {
  return (
    <div class="pair head">
      <span />
      <span>{base} (base)</span>
      <span title="Cost (latency + idle) in cycles per wave">Cost</span>
      <span title="To the right: costs more here than in the base; pale = does not stand out">Difference</span>
      <span />
      <span>{own}</span>
      <span title="Cost (latency + idle) in cycles per wave">Cost</span>
    </div>
  );
}

interface PairProps {
  unit: CompareUnitsRow;
  /** The largest difference of all pairs, in cycles per wave. */
  most: number;
  isSelected: boolean;
  onSelect: () => void;
}

const costOf = (cycles: number | null) => (cycles ? short(Math.round(cycles)) : "");

/** An instruction of the base beside its partner in this trace; one of both may be missing. */
function Pair({ unit, most, isSelected, onSelect }: PairProps) {
  const { row, delta_cycles_per_wave: delta } = unit;
  const words = `${delta > 0 ? "+" : ""}${delta.toFixed(1)} cycles per wave${unit.stands_out ? ", stands out" : ""}`;
  return (
    <div
      role="row"
      tabIndex={-1}
      data-change={unit.change}
      class={`pair ${unit.change}${isSelected ? " selected" : ""}${row === null ? "" : " can-click"}`}
      style={{ height: `${rowHeight()}px` }}
      title={MEANING[unit.change]}
      onClick={() => {
        onSelect();
        if (row !== null) selectRow(row);
      }}
      onPointerEnter={() => {
        preview.value = row === null ? {} : { row };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
    >
      <span class="number faint-text">{exact(unit.base_row)}</span>
      <code class="left" title={unit.base_label ?? ""}>
        {unit.base_label}
      </code>
      <span class="number">{costOf(unit.base_cost_cycles_per_wave)}</span>
      <ChangeBar share={delta / most} faint={!unit.stands_out} label={words} />
      <span class="number faint-text">{exact(row)}</span>
      <code class="right" title={unit.label ?? ""}>
        {unit.label}
      </code>
      <span class="number">{costOf(unit.cost_cycles_per_wave)}</span>
    </div>
  );
}
