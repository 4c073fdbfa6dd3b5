// The code of both traces, aligned: the base to the left, this trace to the right, differences marked.

import { useSignal } from "@preact/signals";
import { exact, short } from "../../base/format";
import { textScale } from "../../draw/painter";
import { selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import { ChangeBar } from "../../widgets/bars";
import { VirtualList } from "../../widgets/virtual_list";
import { type CompareAnswer, nextDifference, type Unit } from "./shapes";

const ROW_HEIGHT = 20 * textScale();
const number = (value: number) => (Number.isNaN(value) ? "" : exact(value));

export function SideBySide({ units, answer }: { units: Unit[]; answer: CompareAnswer }) {
  const jumped = useSignal(-1);
  const chosen = units.findIndex((unit) => unit.row === selection.value.row);
  const most = units.reduce((largest, unit) => Math.max(largest, Math.abs(unit.delta)), 1e-9);
  const differences = units.filter((unit) => unit.change !== "same").length;
  const labels = answer.traces.rows.map((trace) => trace.label);
  const jump = () => {
    const next = nextDifference(units, jumped.value >= 0 ? jumped.value : chosen);
    jumped.value = next;
    const row = units[next]?.row;
    if (row !== undefined && !Number.isNaN(row)) selectRow(row);
  };
  return (
    <>
      <div class="toolbar">
        <span>
          {answer.same_code
            ? "The code is the same; the bars are the differences in cost."
            : `${exact(differences)} of ${exact(units.length)} instructions differ`}
        </span>
        {differences ? (
          <button type="button" class="quiet" onClick={jump}>
            next difference ↓
          </button>
        ) : null}
      </div>
      <VirtualList
        class="side-by-side"
        label="Code side by side"
        count={units.length}
        rowHeight={ROW_HEIGHT}
        reveal={jumped.value >= 0 ? jumped.value : chosen}
        header={
          <div class="pair head">
            <span />
            <span>{labels[0]} (base)</span>
            <span title="Cost (latency + idle) in cycles per wave">Cost</span>
            <span title="To the right: costs more here than in the base; pale = within noise">Difference</span>
            <span />
            <span>{labels[1]}</span>
            <span title="Cost (latency + idle) in cycles per wave">Cost</span>
          </div>
        }
        row={(index) => {
          const unit = units[index] as Unit;
          const isGone = Number.isNaN(unit.row);
          return (
            <div
              key={index}
              role="row"
              tabIndex={-1}
              data-change={unit.change}
              class={`pair ${unit.change}${index === chosen ? " selected" : ""}${isGone ? "" : " can-click"}`}
              style={{ height: `${ROW_HEIGHT}px` }}
              title={isGone ? "gone: only the base has it" : undefined}
              onClick={() => {
                jumped.value = -1;
                if (!isGone) selectRow(unit.row);
              }}
              onPointerEnter={() => {
                preview.value = isGone ? {} : { row: unit.row };
              }}
              onPointerLeave={() => {
                preview.value = {};
              }}
            >
              <span class="number faint-text">{number(unit.baseRow)}</span>
              <code class="left" title={unit.baseLabel}>
                {unit.baseLabel}
              </code>
              <span class="number">{unit.baseCost ? short(Math.round(unit.baseCost)) : ""}</span>
              <ChangeBar
                share={unit.delta / most}
                faint={!unit.isBeyond}
                label={`${unit.delta > 0 ? "+" : ""}${unit.delta.toFixed(1)} cycles per wave${unit.isBeyond ? ", beyond noise" : ""}`}
              />
              <span class="number faint-text">{number(unit.row)}</span>
              <code class="right" title={unit.label}>
                {unit.label}
              </code>
              <span class="number">{unit.cost ? short(Math.round(unit.cost)) : ""}</span>
            </div>
          );
        }}
      />
    </>
  );
}
