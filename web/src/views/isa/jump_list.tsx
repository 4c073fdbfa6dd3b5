// Where to go in the code: its functions, its loops and its hottest rows, each with its share of the cost.
import { percent } from "../../base/format";
import { selectRow } from "../../model/code";
import { loopsNow } from "../../model/loops";
import { Popup } from "../../widgets/popup";
import type { Section } from "./items";
import type { Sheet } from "./sheet";

/** Rows that are listed as the hottest. */
const HOTTEST = 10;

interface Target {
  row: number;
  name: string;
  share: number;
}

interface Props {
  sheet: Sheet;
  sections: Section[];
}

export function JumpList(props: Props) {
  return (
    <Popup text="Jump to ▾" name="Jump to" hint="Functions, loops and the hottest rows, with their shares of the cost">
      {() => <Targets {...props} />}
    </Popup>
  );
}

function Targets({ sheet, sections }: Props) {
  const { functions, loops, rows } = targetsOf(sheet, sections);
  const addressOf = (row: number) => sheet.code.address[row] ?? "";
  const what = sheet.figures ? "latency" : "samples";
  return (
    <div class="jumps popup-list">
      <TargetList title={`Functions (share of ${what})`} targets={functions} addressOf={addressOf} />
      <TargetList title="Loops" targets={loops} addressOf={addressOf} />
      <TargetList title="Hottest rows" targets={rows} addressOf={addressOf} />
    </div>
  );
}

/** Shares are of the latency of all rows, where there are only samples of their number. */
function targetsOf(
  { code, figures, samples }: Sheet,
  sections: Section[],
): Record<"functions" | "loops" | "rows", Target[]> {
  const weights = figures?.latency ?? samples?.all;
  const weightOf = (row: number) => weights?.[row] ?? 0;
  const sumOf = (first: number, last: number) => {
    let sum = 0;
    for (let row = first; row <= last; row++) sum += weightOf(row);
    return sum;
  };
  const whole = sumOf(0, code.count - 1) || 1;
  const hottest = Array.from({ length: code.count }, (_, row) => row)
    .sort((a, b) => weightOf(b) - weightOf(a))
    .slice(0, HOTTEST)
    .filter((row) => weightOf(row) > 0);
  return {
    functions: sections.map(({ name, first, last }) => ({ row: first, name, share: sumOf(first, last) / whole })),
    loops: loopsNow().map(({ loop, depth, first_row: first, last_row: last }) => ({
      row: first,
      name: `${"  ".repeat(depth)}loop ${loop}: rows ${first} to ${last}`,
      share: sumOf(first, last) / whole,
    })),
    rows: hottest.map((row) => ({ row, name: code.text[row] ?? "", share: weightOf(row) / whole })),
  };
}

interface ListProps {
  title: string;
  targets: Target[];
  addressOf: (row: number) => string;
}

function TargetList({ title, targets, addressOf }: ListProps) {
  if (!targets.length) return null;
  return (
    <>
      <b>{title}</b>
      {targets.map(({ row, name, share }) => (
        <button
          type="button"
          key={`${title} ${row} ${name}`}
          data-jump={row}
          title={name}
          onClick={() => selectRow(row)}
        >
          <span>{percent(share)}</span>
          <span class="mono">{addressOf(row)}</span>
          <span class="mono name">{name}</span>
        </button>
      ))}
    </>
  );
}
