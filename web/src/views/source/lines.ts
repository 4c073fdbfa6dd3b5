// The lines that the view lists: all lines of a file whose text is here, else those that cost something.
import { expanded } from "../../base/syntax";
import { attribution, type CostedLine, type SourceFile, type Sources, weightOf } from "../../model/source";
import { csv } from "../../widgets/saving";

/** As the question `source` answers. */
export interface FileText {
  file: string | null;
  lines: string[] | null;
  line_count: number;
  reason: string;
  advice: string;
}

export interface Listed {
  /** 0 = the compiler gave none. */
  line: number;
  text: string;
  cost: CostedLine | null;
}

/** `weighs` tells whether a line is worth listing when there is no text around it. */
export function listed(
  sources: Sources,
  file: SourceFile,
  text: FileText,
  weighs: (line: CostedLine) => boolean,
): Listed[] {
  const costed = sources.linesOf.get(file) ?? [];
  if (!text.lines) return costed.filter(weighs).map((line) => ({ line: line.line, text: "", cost: line }));
  const byLine = new Map(costed.map((line) => [line.line, line]));
  const count = text.lines.length;
  const lines: Listed[] = text.lines.map((content, at) => ({
    line: at + 1,
    text: expanded(content),
    cost: byLine.get(at + 1) ?? null,
  }));
  // costs outside the text: a stale file, or one that was cut
  for (const line of costed)
    if (line.line < 1 || line.line > count) lines.push({ line: line.line, text: "", cost: line });
  return lines;
}

/** One row of the table: a line, by its place among the lines, or an instruction below it. */
export interface TableRow {
  at: number;
  /** null = the line itself. */
  row: number | null;
}

/** Lines with the instructions of those that are open below them, and where each line stands. */
export function withInstructions(
  lines: Listed[],
  rowsOf: (line: number) => number[],
  isOpen: (line: number) => boolean,
): { table: TableRow[]; placeOf: number[] } {
  const table: TableRow[] = [];
  const placeOf = lines.map(({ line, cost }, at) => {
    const place = table.push({ at, row: null }) - 1;
    if (cost && isOpen(line)) for (const row of rowsOf(line)) table.push({ at, row });
    return place;
  });
  return { table, placeOf };
}

/** Where a line stands in the list; -1 = it is not there. */
export function indexOf(lines: Listed[], line: number): number {
  return lines[line - 1]?.line === line ? line - 1 : lines.findIndex((entry) => entry.line === line);
}

/** All figures of the lines; `total` is what shares are of. */
export function asCsv(lines: Listed[], total: number): string {
  const which = attribution.value;
  const header = [
    "line",
    "hit_count",
    "latency_cycles",
    "stall_cycles",
    "idle_cycles",
    "exposed_cycles",
    "issued_count",
    "stalled_count",
    "unknown_count",
    "share",
    "stall_class",
    "text",
  ];
  return csv(
    header,
    lines.map((entry) => {
      const cost = entry.cost?.[which];
      if (!cost) return [entry.line, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", entry.text];
      const exposed = cost.exposedStall + cost.exposedIssue + cost.exposedIdle;
      const share = total ? weightOf(cost) / total : 0;
      const cycles = [cost.hits, cost.latency, cost.stall, cost.idle, exposed];
      const samples = [cost.issued, cost.stalled, cost.unknown];
      return [entry.line, ...cycles, ...samples, share, entry.cost?.stallClass, entry.text];
    }),
  );
}
