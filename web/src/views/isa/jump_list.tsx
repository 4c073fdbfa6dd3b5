// Where to go in the code: its functions, its loops and its hottest rows, each with its share of the cost.
import { percent } from "../../base/format";
import { selectRow } from "../../model/code";
import { loopsNow } from "../../model/loops";
import { Popup } from "../../widgets/popup";
import type { Section } from "./items";
import type { Sheet } from "./sheet";

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
  const { code, figures, samples } = sheet;
  const weight = (row: number) => (figures ? (figures.latency[row] ?? 0) : samples ? (samples.all[row] ?? 0) : 0);
  const sum = (first: number, last: number) => {
    let total = 0;
    for (let row = first; row <= last; row++) total += weight(row);
    return total;
  };
  const whole = sum(0, code.count - 1) || 1;
  const functions: Target[] = sections.map(({ name, first, last }) => ({
    row: first,
    name,
    share: sum(first, last) / whole,
  }));
  const loops: Target[] = loopsNow().map((loop) => ({
    row: loop.first_row,
    name: `${"  ".repeat(loop.depth)}loop ${loop.loop}: rows ${loop.first_row} to ${loop.last_row}`,
    share: sum(loop.first_row, loop.last_row) / whole,
  }));
  const hot: Target[] = Array.from({ length: code.count }, (_, row) => row)
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, HOTTEST)
    .filter((row) => weight(row) > 0)
    .map((row) => ({ row, name: code.text[row] ?? "", share: weight(row) / whole }));
  const list = (title: string, targets: Target[]) =>
    targets.length ? (
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
            <span class="mono">{code.address[row]}</span>
            <span class="mono name">{name}</span>
          </button>
        ))}
      </>
    ) : null;
  const what = figures ? "latency" : "samples";
  return (
    <div class="jumps popup-list">
      {list(`Functions (share of ${what})`, functions)}
      {list("Loops", loops)}
      {list("Hottest rows", hot)}
    </div>
  );
}
