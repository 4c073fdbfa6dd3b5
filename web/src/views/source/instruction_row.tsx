// One instruction below its source line, in the same columns.
import { amount, percent } from "../../base/format";
import { annotationsOfRow } from "../../model/annotations";
import { changesAgainst } from "../../model/baseline";
import { type Costs, codeNow, costsNow, selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import { isSampled, partsOf, type SourceCost, weightOf } from "../../model/source";
import { Badges } from "../../widgets/annotations";
import { CostBar } from "../../widgets/cost_bar";

interface Props {
  row: number;
  scale: number;
  total: number;
  height: number;
}

export function InstructionRow({ row, scale, total, height }: Props) {
  const costs = costsNow();
  const cost = costs && !isSampled.value ? costOf(costs, row) : null;
  const weight = cost ? weightOf(cost) : 0;
  const classes = ["row can-click of-line"];
  if (selection.value.row === row) classes.push("selected");
  if (preview.value.row === row) classes.push("preview");
  return (
    <div
      class={classes.join(" ")}
      role="row"
      tabIndex={-1}
      data-row={row}
      style={{ height: `${height}px` }}
      onClick={() => selectRow(row)}
      onPointerEnter={() => {
        preview.value = { row };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
    >
      <span class="line-number" title={`Row ${row} of the instructions`}>
        ·{row}
      </span>
      {cost && weight ? <CostBar parts={partsOf(cost)} scale={scale} /> : <span />}
      <span class="number" data-column="cycles">
        {weight ? amount(weight) : ""}
      </span>
      <span class="number" data-column="share">
        {weight && total ? percent(weight / total) : ""}
      </span>
      <span class="number" data-column="stall">
        {cost?.latency ? percent(cost.stall / cost.latency) : ""}
      </span>
      {changesAgainst.value === null ? null : <span data-column="change" />}
      <span class="number" data-column="hits">
        {cost?.hits ? amount(cost.hits) : ""}
      </span>
      <pre>
        {codeNow()?.text[row]}
        <Badges of={annotationsOfRow.value.get(row)} />
      </pre>
    </div>
  );
}

function costOf(costs: Costs, row: number): SourceCost {
  const at = (part: Float64Array) => part[row] ?? 0;
  return {
    rows: 1,
    hits: at(costs.hits),
    latency: at(costs.latency),
    stall: at(costs.stall),
    idle: at(costs.idle),
    exposedStall: at(costs.exposedStall),
    exposedIssue: at(costs.exposedIssue),
    exposedIdle: at(costs.exposedIdle),
    issued: 0,
    stalled: 0,
    unknown: 0,
  };
}
