// How long each memory operation took: from the waits that drained it, and from the hardware's level counters.

import { useSignal } from "@preact/signals";
import { exact, percent, short } from "../../base/format";
import { ASKED, type MemoryLatencyAnswer } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import { truncation } from "../../model/answers";
import { selectRow } from "../../model/code";
import { current } from "../../model/document";
import { ofKernel } from "../../model/kernels";
import { useAnswer } from "../../model/loaded";
import { preview, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Check } from "../../widgets/check";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { KernelChooser } from "../../widgets/kernel_chooser";
import { SaveMenu } from "../../widgets/saving";
import { counterColumns, waitColumns } from "./columns";
import { Distribution } from "./distribution";
import "./memory_latency.css";

function MemoryLatency() {
  const answer = useAnswer(json<MemoryLatencyAnswer>(current.value, "memory_latency", ofKernel()));
  return (
    <Answered answer={answer} choose={<KernelChooser />}>
      {(value) => <Page answer={value} />}
    </Answered>
  );
}

function Page({ answer }: { answer: MemoryLatencyAnswer }) {
  const fromCounters = useSignal(false);
  const hasCounters = answer.from_counters.row_count > 0;
  const byWaits = waitColumns(answer.bin_cycles);
  const byCounters = counterColumns();
  const table = fromCounters.value ? answer.from_counters : answer.by_row;
  const cutNote = truncation(table.rows.length, table.row_count);
  const chosen = answer.by_row.rows.find((row) => row.row === selection.value.row) ?? answer.by_row.rows[0];
  const shared = {
    label: "Memory operations",
    isSelected: (row: { row: number }) => row.row === selection.value.row,
    onSelect: (row: { row: number }) => selectRow(row.row),
    onHover: (row: { row: number } | null) => {
      preview.value = row ? { row: row.row } : {};
    },
  };
  return (
    <div class="view">
      <div class="toolbar" title={answer.definition}>
        <span>{exact(table.row_count)} memory operations</span>
        <Check
          isOn={fromCounters.value}
          onChange={(isOn) => (fromCounters.value = isOn)}
          hint={hasCounters ? "" : "The trace has no level counters (SQ_INST_LEVEL_VMEM, SQ_INST_LEVEL_LDS)"}
          isDisabled={!hasCounters}
        >
          from the level counters{hasCounters ? `, sampled every ${exact(answer.counter_interval_cycles)} cycles` : ""}
        </Check>
        {cutNote ? <b class="truncated">{cutNote}</b> : null}
        <KernelChooser />
        <SaveMenu
          name="memory_latency"
          offers={[
            fromCounters.value
              ? tableOffer(byCounters, () => answer.from_counters.rows)
              : tableOffer(byWaits, () => answer.by_row.rows),
          ]}
        />
      </div>
      <Exposure answer={answer} />
      {table.row_count === 0 ? (
        <Nothing>No wait in this trace drained a memory operation.</Nothing>
      ) : fromCounters.value ? (
        <DataTable {...shared} key="counters" columns={byCounters} rows={answer.from_counters.rows} />
      ) : (
        <>
          <DataTable {...shared} key="waits" columns={byWaits} rows={answer.by_row.rows} />
          {chosen ? <Distribution row={chosen} bin={answer.bin_cycles} /> : null}
        </>
      )}
    </div>
  );
}

/** How much of the waves' time other waves hid. */
function Exposure({ answer }: { answer: MemoryLatencyAnswer }) {
  const parts = answer.exposure.rows.filter((part) => part.cycles_total > 0);
  const total = parts.reduce((sum, part) => sum + part.cycles_total, 0);
  if (!total) return null;
  return (
    <div class="exposure">
      {parts.map((part) => (
        <div key={part.part} data-part={part.part}>
          <span>
            {short(part.cycles_total)} {part.part}, <b>{percent(part.exposed_share)}</b> exposed
          </span>
          <PartsBar
            label={`${part.part}: ${exact(part.exposed_cycles_total)} exposed, ${exact(part.hidden_cycles_total)} hidden cycles`}
            parts={[
              { share: part.exposed_cycles_total / part.cycles_total, colour: colourOf(part.part), title: "exposed" },
              { share: part.hidden_cycles_total / part.cycles_total, colour: colourOf("hidden"), title: "hidden" },
            ]}
          />
        </div>
      ))}
    </div>
  );
}

export const memoryLatency: View = {
  id: "memory_latency",
  title: "Memory latency",
  hint: ASKED.memory_latency,
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced, so no memory operation",
  component: MemoryLatency,
};
