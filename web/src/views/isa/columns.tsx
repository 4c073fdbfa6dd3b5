// The columns of the listing: what they mean, when they have something to show, and how a cell looks.
import type { ComponentChildren } from "preact";
import { amount, exact } from "../../base/format";
import { type LanesRow, LIVE_REGISTERS } from "../../data/answers.gen";
import { hintOf } from "../../data/tables";
import { changesAgainst } from "../../model/baseline";
import { traceOverview } from "../../model/document";
import { excessOf, laneHeat, laneRow, lanesNow } from "../../model/lanes";
import type { Cell } from "../../widgets/data_table";
import { Popup } from "../../widgets/popup";
import { withChanges } from "./changes";
import { InstructionText } from "./instruction_text";
import type { Live, LiveName } from "./live";
import type { Sheet } from "./sheet";
import { changeIsa, isaSettings, type LatencyMode } from "./state";

export interface IsaColumn {
  id: string;
  title: string;
  hint: string;
  /** What a trace, or the page, must have for the column to be offered. */
  needs: "code" | "instructions" | "samples" | "lanes" | "live" | "changes";
  isHiddenAtFirst?: boolean;
  /** To the left; numbers stand to the right. */
  isText?: boolean;
  /** Name in the CSV. */
  name: (mode: LatencyMode) => string;
  value: (sheet: Sheet, row: number) => Cell;
  /** Of a function: its rows from the first to the last. */
  total?: (sheet: Sheet, first: number, last: number) => number | null;
  show?: (sheet: Sheet, row: number) => ComponentChildren;
}

const SUFFIX: Record<LatencyMode, string> = {
  sum_all: "total",
  mean_all: "mean",
  iteration: "of_iteration",
  sum_wave: "total_of_wave",
  mean_wave: "mean_of_wave",
  max_wave: "max_of_wave",
};
const cycles = (part: string) => (mode: LatencyMode) => `${part}_cycles_${SUFFIX[mode]}`;

export const COLUMNS: IsaColumn[] = [
  {
    id: "canvas",
    isText: true,
    title: "",
    hint: "Arrows or bars: choose above",
    needs: "code",
    name: () => "",
    value: () => undefined,
  },
  {
    id: "row",
    title: "Row",
    hint: "Number of the code row",
    needs: "code",
    name: () => "row",
    value: (_, row) => row,
  },
  {
    id: "text",
    isText: true,
    title: "Instruction",
    hint: "Disassembly; point at a register, or at an instruction with registers that it does not name (scc, vcc), to see where else it is used",
    needs: "code",
    name: () => "text",
    value: ({ code }, row) => code.text[row],
    show: ({ code }, row) => (
      <InstructionText
        text={code.text[row] ?? ""}
        writes={code.writes[row] ?? ""}
        implicitWrites={code.implicitWrites[row] ?? ""}
        implicitReads={code.implicitReads[row] ?? ""}
      />
    ),
  },
  {
    ...exposure(
      "exposed",
      "Exposed",
      "Latency and idle that no other wave of the SIMD hid; not known for single executions, nor for one wave in an exported page",
    ),
    name: cycles("exposed"),
  },
  figure("latency", "Latency", "Cycles from the first attempt to issue to the end (stall + issue)", cycles("latency")),
  figure("stall", "Stall", "Cycles from the first attempt to issue to the issue; part of the latency", cycles("stall")),
  figure("idle", "Idle", "Cycles before the first attempt to issue in which the wave did nothing", cycles("idle")),
  figure("hits", "Hits", "Executions that the figures of this row cover", () => "hit_count"),
  {
    ...exposure(
      "hidden",
      "Hidden",
      "Latency and idle that other waves of the SIMD hid; not known for single executions, nor for one wave in an exported page",
    ),
    name: cycles("hidden"),
    isHiddenAtFirst: true,
  },
  {
    id: "samples",
    title: "Samples",
    hint: "PC samples at this row, issued or not",
    needs: "samples",
    name: () => "sample_count",
    value: ({ samples }, row) => samples && seen(samples.all[row] ?? 0),
  },
  {
    id: "issued",
    title: "Issued",
    hint: "PC samples in which the instruction was issued",
    needs: "samples",
    name: () => "issued_count",
    value: ({ samples }, row) => samples && seen(samples.issued[row] ?? 0),
  },
  {
    id: "reasons",
    isText: true,
    title: "Stall reasons",
    hint: "PC samples in which it was not issued, by reason, the most frequent first",
    needs: "samples",
    name: () => "stall_reasons",
    value: ({ samples }, row) =>
      (samples?.byRow.get(row) ?? []).map(({ reason, count }) => `${reason} ${count}`).join(", "),
  },
  laneColumn({
    id: "lds_extra",
    title: "LDS extra",
    hint: "LDS cycles lost to bank conflicts, over the executions whose cost is known; ? = none is",
    name: "extra_cycles_total",
    costOf: (row) => (row.space === "lds" ? excessOf(row) : undefined),
  }),
  laneColumn({
    id: "segment_excess",
    title: "Segments +",
    hint: "Cache segments touched beyond the least, over the executions whose cost is known; ? = none is",
    name: "segment_excess",
    costOf: (row) => (row.space === "lds" ? undefined : excessOf(row)),
  }),
  {
    ...liveColumn("live_vectors", "Live"),
    hint: `${hintOf(LIVE_REGISTERS.live_vectors)}: VGPRs + AGPRs that a later row may read, or that this row writes`,
    show: ({ live }, row) => <LiveBar live={live} row={row} />,
  },
  { ...liveColumn("live_sgprs", "Live SGPRs"), isHiddenAtFirst: true },
  { ...liveColumn("waves_per_simd", "Waves fit"), isHiddenAtFirst: true },
  {
    id: "code_object",
    title: "Object",
    hint: "Id of the code object; 0 = raw virtual address",
    needs: "code",
    isHiddenAtFirst: true,
    name: () => "code_object",
    value: ({ code }, row) => code.codeObject[row],
  },
  {
    id: "address",
    isText: true,
    title: "Address",
    hint: "Address in the code object",
    needs: "code",
    name: () => "address",
    value: ({ code }, row) => code.address[row],
  },
  {
    id: "source",
    isText: true,
    title: "Source",
    hint: "Innermost source line; a click goes there",
    needs: "code",
    name: () => "source",
    value: ({ code }, row) => sourceText(code.file[row], code.line[row]),
  },
];

/** `file:line`; a file alone where the compiler gave no line. */
function sourceText(file: string | undefined, line: number | undefined): string {
  if (!file) return "";
  return line === undefined || Number.isNaN(line) ? file : `${file}:${line}`;
}

/** A number of samples; none where there are none: a cell stays empty. */
const seen = (count: number) => count || null;

function figure(
  id: "hits" | "latency" | "stall" | "idle",
  title: string,
  hint: string,
  name: (mode: LatencyMode) => string,
): IsaColumn {
  return {
    id,
    title,
    hint,
    needs: "instructions",
    name,
    total: ({ figures }, first, last) => (id === "hits" ? null : sumOf(figures?.[id], first, last)),
    value: ({ figures }, row) => (figures?.hits[row] ? figures[id][row] : null),
    show: (sheet, row) => amount(sheet.figures?.hits[row] ? sheet.figures[id][row] : null),
  };
}

function exposure(id: "exposed" | "hidden", title: string, hint: string) {
  const value = ({ figures }: Sheet, row: number) =>
    figures?.hits[row] ? (figures.exposure?.[id][row] ?? null) : null;
  const total = ({ figures }: Sheet, first: number, last: number) => sumOf(figures?.exposure?.[id], first, last);
  return { id, title, hint, needs: "instructions" as const, value, total };
}

/** The sum over some rows; null = not known. */
function sumOf(values: Float64Array | undefined, first: number, last: number): number | null {
  if (!values) return null;
  let sum = 0;
  for (let row = first; row <= last; row++) sum += values[row] ?? 0;
  return sum;
}

/** A column of the question `live_registers`. */
function liveColumn(id: LiveName, title: string): IsaColumn {
  const pick = ({ live }: Sheet, row: number) => {
    const value = live?.[id][row];
    return value === undefined || Number.isNaN(value) ? null : value;
  };
  const merge = id === "waves_per_simd" ? Math.min : Math.max;
  return {
    id,
    title,
    hint: hintOf(LIVE_REGISTERS[id]),
    needs: "live",
    name: () => id,
    value: pick,
    total: (sheet, first, last) => {
      let most: number | null = null;
      for (let row = first; row <= last; row++) {
        const value = pick(sheet, row);
        if (value !== null) most = most === null ? value : merge(most, value);
      }
      return most;
    },
  };
}

/** The number with a bar on the scale of the largest one. */
function LiveBar({ live, row }: { live: Live | null; row: number }) {
  const value = live?.live_vectors[row];
  if (!live || value === undefined || Number.isNaN(value)) return null;
  const fit = live.waves_per_simd[row];
  const words = [
    `${exact(live.live_vgprs[row])} VGPRs, ${exact(live.live_agprs[row])} AGPRs, ${exact(live.live_sgprs[row])} SGPRs live`,
    fit === undefined || Number.isNaN(fit) ? "" : `${exact(fit)} waves fit on a SIMD with as many vector registers`,
  ];
  return (
    <span class="live" title={words.filter(Boolean).join("\n")} style={{ "--live": (value / live.most).toFixed(3) }}>
      {exact(value)}
    </span>
  );
}

interface LaneParts {
  id: string;
  title: string;
  hint: string;
  /** Name in the CSV. */
  name: string;
  /** What is lost at a row; null = not known, undefined = the row has no such cost. */
  costOf: (row: LanesRow) => number | null | undefined;
}

/** A column that is there once lanes were evaluated. */
function laneColumn({ name, costOf, ...parts }: LaneParts): IsaColumn {
  return {
    ...parts,
    needs: "lanes",
    name: () => name,
    value: (_, row) => {
      const lanes = laneRow(row);
      return (lanes && costOf(lanes)) ?? null;
    },
    show: (_, row) => {
      const lanes = laneRow(row);
      const cost = lanes && costOf(lanes);
      if (!lanes || cost === undefined) return null;
      if (cost === null) return <span title={lanes.reason ?? "not known"}>?</span>;
      return (
        <span class="heat" style={{ "--heat": laneHeat(lanes).toFixed(3) }}>
          {amount(cost)}
        </span>
      );
    },
  };
}

/** The columns that this trace has something for. Those of lanes and live registers are computed when they are shown. */
export function columnsOfTrace(): IsaColumn[] {
  const facts = traceOverview();
  return withChanges(COLUMNS).filter(({ needs }) => {
    if (needs === "instructions") return facts.instruction_count > 0;
    if (needs === "changes") return changesAgainst.value !== null;
    if (needs === "lanes") return facts.instruction_count > 0;
    if (needs === "live") return true;
    return needs === "code" || (facts.holds.samples ?? 0) > 0;
  });
}

/** Columns of lanes come by themselves once lanes were evaluated. */
export const isShown = (column: IsaColumn) =>
  isaSettings.value.columns[column.id] ?? (column.needs === "lanes" ? lanesNow() !== null : !column.isHiddenAtFirst);

/** Columns that stay where they are when the others scroll sideways: they come first. */
export const isFrozen = ({ id }: IsaColumn) => id === "row" || id === "text";
/** Columns of amounts: a larger one is hotter. */
export const hasHeat = ({ needs, isText, id }: IsaColumn) =>
  !isText && id !== "waves_per_simd" && (needs === "instructions" || needs === "samples" || needs === "live");
export const isMovable = (column: IsaColumn) => !isFrozen(column) && column.id !== "canvas";

/** Columns in the order of the user: one that is not named stands behind the one before it. */
export function arranged<T extends { id: string }>(columns: T[], order: string[]): T[] {
  const named = order.map((id) => columns.find((column) => column.id === id)).filter((column) => column !== undefined);
  const all = [...new Set(named)];
  columns.forEach((column, at) => {
    if (all.includes(column)) return;
    const before = columns[at - 1];
    all.splice(before ? all.indexOf(before) + 1 : 0, 0, column);
  });
  return all;
}

/** The columns of this trace in their order; the drawing, the row and the instruction come first. */
export function orderedColumns(): IsaColumn[] {
  const all = columnsOfTrace();
  const movable = arranged(all.filter(isMovable), isaSettings.value.order);
  return [...all.filter((column) => !isMovable(column)), ...movable];
}

/** Put a column where another one stands, or behind all. */
export function moveColumn(id: string, before: string | null): void {
  if (id === before) return;
  const others = orderedColumns().filter((column) => isMovable(column) && column.id !== id);
  const ids = others.map((column) => column.id);
  const at = before === null ? ids.length : ids.indexOf(before);
  if (at >= 0) changeIsa({ order: ids.toSpliced(at, 0, id) });
}

export function ColumnMenu() {
  return (
    <Popup text="Columns ▾" name="Columns" hint="Show and hide columns">
      {() => (
        <div class="popup-list">
          {orderedColumns().map((column) => (
            <label key={column.id} title={column.hint}>
              <input
                type="checkbox"
                data-column-toggle={column.id}
                checked={isShown(column)}
                disabled={column.id === "text"}
                onChange={() => changeIsa({ columns: { ...isaSettings.value.columns, [column.id]: !isShown(column) } })}
              />
              {column.title || "Arrows and bars"}
            </label>
          ))}
          <label title="Shade every column of figures by its own largest value; else each instruction by its cycles">
            <input
              type="checkbox"
              data-choose="column-heat"
              checked={isaSettings.value.columnHeat}
              onChange={(event) => changeIsa({ columnHeat: event.currentTarget.checked })}
            />
            heat in every column
          </label>
          <button
            type="button"
            class="quiet"
            title="Columns, their order and widths as at first; in the order of the code"
            onClick={() => changeIsa({ columns: {}, order: [], widths: {}, sort: null })}
          >
            as at first
          </button>
        </div>
      )}
    </Popup>
  );
}
