// Which lanes collide in banks of LDS, and which loads and stores touch more of the cache than they need.
import { useEffect, useMemo } from "preact/hooks";
import { counted, exact, percent } from "../../base/format";
import { ASKED, type LanesAnswer, type LanesRow } from "../../data/answers.gen";
import { truncation } from "../../model/answers";
import { selectRowInPlace } from "../../model/code";
import { traceOverview, unlessUnknown } from "../../model/document";
import { lanesAnswer, wantLanes } from "../../model/lanes";
import { preview, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { columnsFor } from "./columns";
import "./lanes.css";
import { Service } from "./service";
import { costliest } from "./words";

function Lanes() {
  useEffect(wantLanes); // each time it is drawn: another document is evaluated only when this shows it
  if (lanesAnswer.value.state === "waiting") {
    return (
      <p class="note waiting" role="status">
        Evaluating {exact(traceOverview().instruction_count)} executed instructions lane by lane…{" "}
        <progress aria-label="Evaluating" />
      </p>
    );
  }
  return <Answered answer={lanesAnswer}>{(value) => <Page answer={value} />}</Answered>;
}

function Page({ answer }: { answer: LanesAnswer }) {
  const rows = answer.rows.rows;
  const columns = useMemo(() => columnsFor(rows), [rows]);
  const first = useMemo(() => costliest(rows), [rows]);
  const chosen = rows.find((row) => row.row === selection.value.row) ?? first;
  const cutNote = truncation(rows.length, answer.rows.row_count);
  if (!chosen)
    return (
      <Nothing>{answer.notes[0] ?? "No traced wave executed an instruction that touches memory lane by lane."}</Nothing>
    );
  const sum = (pick: (row: LanesRow) => number | null) => rows.reduce((total, row) => total + (pick(row) ?? 0), 0);
  const extra = sum((row) => row.extra_cycles_total);
  const executionCount = sum((row) => row.execution_count);
  const knownShare = sum((row) => row.known_count) / Math.max(1, executionCount);
  return (
    <div class="view">
      <div class="toolbar" title={answer.definition}>
        <span>{exact(answer.rows.row_count)} memory instructions</span>
        <span title="Executions whose lane addresses are certain, of all">{percent(knownShare)} known</span>
        <span title="Of all LDS accesses: cycles without conflicts, and cycles lost to bank conflicts" data-lds-total>
          LDS {exact(sum((row) => row.ideal_cycles_total))} + {exact(extra)} cycles
        </span>
        <span
          title={
            "Conditional branches whose condition was evaluated: all of them go the way the trace went. " +
            "Waves with equal paths are evaluated once."
          }
        >
          {exact(answer.checked_branch_count)} of {exact(answer.branch_count)} branches checked,{" "}
          {exact(answer.wave_count)} waves on {counted(answer.path_count, "paths")}
        </span>
        {cutNote ? <b class="truncated">{cutNote}</b> : null}
        <SaveMenu name="lanes" offers={[tableOffer(columns, () => rows)]} />
      </div>
      {answer.notes.length ? (
        <ul class="lane-notes">
          {answer.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      ) : null}
      <div class="lane-parts">
        <DataTable
          label="Memory instructions"
          columns={columns}
          rows={rows}
          sortBy={extra ? "extra_cycles_total" : "segment_excess"}
          isSelected={(row) => row.row === chosen.row}
          onSelect={(row) => selectRowInPlace(row.row)}
          onHover={(row) => {
            preview.value = row ? { row: row.row } : {};
          }}
        />
        <Service key={chosen.row} row={chosen} lanes={answer} />
      </div>
    </div>
  );
}

export const lanes: View = {
  id: "lanes",
  title: "Lanes",
  hint: ASKED.lanes,
  about: "trace",
  time: "whole",
  missing: (overview) =>
    overview.kind === "trace" && overview.instruction_count && overview.row_count
      ? ""
      : unlessUnknown("no executed instructions are recorded"),
  component: Lanes,
};
