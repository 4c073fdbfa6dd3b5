// How the values of single dispatches spread: smallest to largest as a line, the middle half as a box, the median in it.
import { measured } from "../../base/format";
import type { CounterPanelsRow } from "../../data/answers.gen";
import { colourOf } from "../../draw/palette";
import { placed } from "./places";

export function Spread({ row }: { row: CounterPanelsRow }) {
  const places = placed(row);
  if (!places) return null;
  const label = `of single dispatches: ${(["minimum", "q1", "median", "q3", "maximum"] as const)
    .filter((name) => row[name] !== null)
    .map((name) => `${name} ${measured(row[name])}`)
    .join(", ")}`;
  const colour = colourOf("hidden");
  return (
    <span class="spread" role="img" aria-label={label} title={label}>
      <span class="spread-line" style={{ left: `${places.low}%`, width: `${places.high - places.low}%` }} />
      {places.box ? (
        <span
          class="spread-box"
          style={{ left: `${places.box.from}%`, width: `${places.box.to - places.box.from}%`, background: colour }}
        />
      ) : null}
      {places.median === null ? null : <span class="spread-median" style={{ left: `${places.median}%` }} />}
    </span>
  );
}
