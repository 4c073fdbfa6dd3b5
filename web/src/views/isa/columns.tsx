// The columns of the listing: what they mean, when they have something to show, and how a cell looks.
import type { ComponentChildren } from "preact";
import { exact } from "../../base/format";
import type { LanesRow } from "../../data/answers.gen";
import { traceOverview } from "../../model/document";
import { excessOf, laneHeat, laneRow, lanesNow } from "../../model/lanes";
import type { Cell } from "../../widgets/data_table";
import { InstructionText } from "./instruction_text";
import { Menu } from "./menu";
import type { Sheet } from "./sheet";
import { changeIsa, isaSettings, type LatencyMode } from "./state";

export interface IsaColumn {
  id: string;
  title: string;
  hint: string;
  /** Pixels; 0 = `flexibleWidths` says it. */
  width: number;
  needs: "code" | "instructions" | "samples" | "lanes";
  isHiddenAtFirst?: boolean;
  /** To the left; numbers stand to the right. */
  isText?: boolean;
  /** Name in the CSV. */
  name: (mode: LatencyMode) => string;
  value: (sheet: Sheet, row: number) => Cell;
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

/** Pixels of the drawing beside the rows and of the instruction, in a list of that width. */
export function flexibleWidths(width: number): { canvas: number; text: number } {
  if (width < 640) return { canvas: 72, text: 196 };
  if (width < 800) return { canvas: 92, text: 196 };
  return width < 1500 ? { canvas: 160, text: 300 } : { canvas: 240, text: 420 };
}

export const COLUMNS: IsaColumn[] = [
  {
    id: "canvas",
    isText: true,
    title: "",
    hint: "Arrows or bars: choose above",
    width: 0,
    needs: "code",
    name: () => "",
    value: () => undefined,
  },
  {
    id: "row",
    title: "Row",
    hint: "Number of the code row",
    width: 38,
    needs: "code",
    name: () => "row",
    value: (_, row) => row,
  },
  {
    id: "text",
    isText: true,
    title: "Instruction",
    hint: "Disassembly; point at a register, or at an instruction with registers that it does not name (scc, vcc), to see where else it is used",
    width: 0,
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
  laneColumn(
    "lds_extra",
    "LDS extra",
    "LDS cycles lost to bank conflicts, over the executions whose cost is known; ? = none is",
    "extra_cycles_total",
    (row) => (row.space === "lds" ? excessOf(row) : undefined),
  ),
  laneColumn(
    "segment_excess",
    "Segments +",
    "Cache segments touched beyond the least, over the executions whose cost is known; ? = none is",
    "segment_excess",
    (row) => (row.space === "lds" ? undefined : excessOf(row)),
  ),
  figure("hits", "Hits", "Executions that the figures of this row cover", 50, () => "hit_count"),
  figure(
    "latency",
    "Latency",
    "Cycles from the first attempt to issue to the end (stall + issue)",
    70,
    cycles("latency"),
  ),
  figure(
    "stall",
    "Stall",
    "Cycles from the first attempt to issue to the issue; part of the latency",
    70,
    cycles("stall"),
  ),
  figure("idle", "Idle", "Cycles before the first attempt to issue in which the wave did nothing", 62, cycles("idle")),
  {
    ...exposure(
      "exposed",
      "Exposed",
      "Latency and idle that no other wave of the SIMD hid; not known for single executions, nor for one wave in an exported page",
    ),
    name: cycles("exposed"),
  },
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
    width: 68,
    needs: "samples",
    name: () => "sample_count",
    value: ({ samples }, row) => samples && seen(samples.all[row] ?? 0),
  },
  {
    id: "issued",
    title: "Issued",
    hint: "PC samples in which the instruction was issued",
    width: 64,
    needs: "samples",
    name: () => "issued_count",
    value: ({ samples }, row) => samples && seen(samples.issued[row] ?? 0),
  },
  {
    id: "reasons",
    isText: true,
    title: "Stall reasons",
    hint: "PC samples in which it was not issued, by reason, the most frequent first",
    width: 220,
    needs: "samples",
    name: () => "stall_reasons",
    value: ({ samples }, row) =>
      (samples?.byRow.get(row) ?? []).map(({ reason, count }) => `${reason} ${count}`).join(", "),
  },
  {
    id: "code_object",
    title: "Object",
    hint: "Id of the code object; 0 = raw virtual address",
    width: 52,
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
    width: 72,
    needs: "code",
    name: () => "address",
    value: ({ code }, row) => code.address[row],
  },
  {
    id: "source",
    isText: true,
    title: "Source",
    hint: "Innermost source line; a click goes there",
    width: 210,
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

const seen = (count: number) => count || null;

function figure(
  id: "hits" | "latency" | "stall" | "idle",
  title: string,
  hint: string,
  width: number,
  name: (mode: LatencyMode) => string,
): IsaColumn {
  return {
    id,
    title,
    hint,
    width,
    needs: "instructions",
    name,
    value: ({ figures }, row) => (figures?.hits[row] ? figures[id][row] : null),
    show: (sheet, row) => exact(sheet.figures?.hits[row] ? sheet.figures[id][row] : null),
  };
}

function exposure(id: "exposed" | "hidden", title: string, hint: string) {
  const value = ({ figures }: Sheet, row: number) =>
    figures?.hits[row] ? (figures.exposure?.[id][row] ?? null) : null;
  return { id, title, hint, width: 70, needs: "instructions" as const, value };
}

/** A column that is there once lanes were evaluated; `pick` gives undefined where the row has no such cost. */
function laneColumn(
  id: string,
  title: string,
  hint: string,
  name: string,
  pick: (row: LanesRow) => number | null | undefined,
): IsaColumn {
  const picked = (row: number) => {
    const lanes = laneRow(row);
    return lanes && pick(lanes);
  };
  return {
    id,
    title,
    hint,
    width: 80,
    needs: "lanes",
    name: () => name,
    value: (_, row) => picked(row) ?? null,
    show: (_, row) => {
      const [lanes, value] = [laneRow(row), picked(row)];
      if (!lanes || value === undefined) return null;
      if (value === null) return <span title={lanes.reason ?? "not known"}>?</span>;
      return (
        <span class="heat" style={{ "--heat": laneHeat(lanes).toFixed(3) }}>
          {exact(value)}
        </span>
      );
    },
  };
}

/** The columns that this trace has something for. */
export function columnsHere(): IsaColumn[] {
  const facts = traceOverview();
  return COLUMNS.filter(({ needs }) => {
    if (needs === "instructions") return facts.instruction_count > 0;
    if (needs === "lanes") return lanesNow() !== null;
    return needs === "code" || (facts.holds.samples ?? 0) > 0;
  });
}

export const isShown = (column: IsaColumn) => isaSettings.value.columns[column.id] ?? !column.isHiddenAtFirst;

export function ColumnMenu() {
  return (
    <Menu name="Columns" hint="Show and hide columns">
      {() =>
        columnsHere().map((column) => (
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
        ))
      }
    </Menu>
  );
}
