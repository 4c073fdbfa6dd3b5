// The instructions of one class of stalls.
import { percent } from "../../base/format";
import type { Columns } from "../../data/columns";
import type { Column } from "../../widgets/data_table";
import { PlaceLink, RowLink } from "../../widgets/links";

export interface StallRow {
  row: number;
  text: string;
  file: string | null;
  line: number | null;
  stall: number;
  share: number;
  exposed: number;
  executions: number;
  stalled: number;
}

export function rowsByClass(table: Columns): Map<string, StallRow[]> {
  const classes = table.texts("class");
  const [row, line] = [table.numbers("row"), table.numbers("line")];
  const [text, file] = [table.texts("text"), table.texts("file")];
  const [stall, share] = [table.numbers("stall_cycles_total"), table.numbers("stall_share")];
  const exposed = table.numbers("exposed_stall_cycles_total");
  const [executions, stalled] = [table.numbers("execution_count"), table.numbers("stalled_count")];
  const byClass = new Map<string, StallRow[]>();
  classes.forEach((name, i) => {
    const found = byClass.get(name) ?? [];
    found.push({
      row: row[i] as number,
      text: text[i] as string,
      file: file[i] || null,
      line: Number.isNaN(line[i]) ? null : (line[i] as number),
      stall: stall[i] as number,
      share: share[i] as number,
      exposed: exposed[i] as number,
      executions: executions[i] as number,
      stalled: stalled[i] as number,
    });
    byClass.set(name, found);
  });
  return byClass;
}

export const COLUMNS: Column<StallRow>[] = [
  {
    name: "text",
    title: "Instruction",
    value: (r) => r.text,
    show: (r) => <RowLink row={r.row} text={r.text} />,
    width: "",
  },
  {
    name: "stall_cycles_total",
    title: "Stall",
    hint: "Sum of stall cycles over all executions of this class",
    value: (r) => r.stall,
    width: "",
  },
  {
    name: "stall_share",
    title: "Share",
    hint: "Of all stall cycles of the trace",
    value: (r) => r.share,
    show: (r) => percent(r.share),
    width: "",
  },
  {
    name: "exposed_stall_cycles_total",
    title: "Exposed",
    hint: "Stall cycles that no other wave hid",
    value: (r) => r.exposed,
    width: "",
  },
  { name: "execution_count", title: "Executions", value: (r) => r.executions, width: "" },
  {
    name: "stalled_count",
    title: "Stalled",
    hint: "Executions that stalled (a wait: longer than its issue slot)",
    value: (r) => r.stalled,
    width: "",
  },
  {
    name: "file",
    title: "Line",
    value: (r) => (r.file ? `${r.file}:${r.line}` : ""),
    show: (r) => <PlaceLink file={r.file} line={r.line} row={r.row} />,
    width: "",
  },
];
