// Lane addresses of the current trace: evaluated by the server when something on screen first needs them.
import type { LanesAnswer, LanesRow } from "../data/answers.gen";
import { json } from "../data/ask";
import { current, ofDocument, overview } from "./document";
import { answering } from "./loaded";

const isWanted = ofDocument(false);

/** Something on screen shows lanes: from now on they are evaluated. */
export function wantLanes(): void {
  isWanted.value = true;
}

export const lanesAnswer = answering(() =>
  isWanted.value && overview.value?.kind === "trace" ? json<LanesAnswer>(current.value, "lanes") : null,
);

/** The lanes, or null where nobody wants them yet, or while they are on their way. */
export function lanesNow(): LanesAnswer | null {
  return isWanted.value && lanesAnswer.value.state === "ready" ? lanesAnswer.value.value : null;
}

/** Cycles or segments beyond what the access needs at least; null = not known. */
export function excessOf(row: LanesRow): number | null {
  if (!row.cost_known_count) return null;
  if (row.space === "lds") return row.extra_cycles_total;
  return (row.segment_count_total ?? 0) - (row.least_segment_count_total ?? 0);
}

interface Index {
  answer: LanesAnswer;
  rows: Map<number, LanesRow>;
  /** The largest excess of LDS, and of the other accesses. */
  most: { lds: number; others: number };
}

let indexed: Index | null = null;

function indexNow(): Index | null {
  const answer = lanesNow();
  if (!answer || indexed?.answer === answer) return answer && indexed;
  const most = { lds: 0, others: 0 };
  for (const row of answer.rows.rows) {
    const kind = row.space === "lds" ? "lds" : "others";
    most[kind] = Math.max(most[kind], excessOf(row) ?? 0);
  }
  indexed = { answer, rows: new Map(answer.rows.rows.map((row) => [row.row, row])), most };
  return indexed;
}

/** The memory instruction at a row of the code; undefined = it is none, or lanes were not evaluated. */
export function laneRow(row: number): LanesRow | undefined {
  return indexNow()?.rows.get(row);
}

/** From 0 to 1: its excess as a share of the largest of its kind, on a scale that lets small ones be seen. */
export function laneHeat(row: LanesRow): number {
  const most = indexNow()?.most[row.space === "lds" ? "lds" : "others"];
  return most ? Math.sqrt(Math.max(0, excessOf(row) ?? 0) / most) : 0;
}
