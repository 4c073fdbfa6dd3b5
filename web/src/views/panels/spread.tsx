// How the values of single dispatches spread: smallest to largest as a line, the middle half as a box, the median in it.
import { measured } from "../../base/format";
import type { CounterPanelsRow } from "../../data/answers.gen";
import { colourOf } from "../../draw/palette";
import { placed } from "./places";

export function Spread({ row }: { row: CounterPanelsRow }) {
  const at = placed(row);
  if (!at) return null;
  const label = `of single dispatches: ${(["minimum", "q1", "median", "q3", "maximum"] as const)
    .filter((name) => row[name] !== null)
    .map((name) => `${name} ${measured(row[name])}`)
    .join(", ")}`;
  const colour = colourOf("hidden");
  return (
    <span class="spread" role="img" aria-label={label} title={label}>
      <span class="spread-line" style={{ left: `${at.low}%`, width: `${at.high - at.low}%` }} />
      {at.box ? (
        <span
          class="spread-box"
          style={{ left: `${at.box.from}%`, width: `${at.box.to - at.box.from}%`, background: colour }}
        />
      ) : null}
      {at.median === null ? null : <span class="spread-median" style={{ left: `${at.median}%` }} />}
    </span>
  );
}
