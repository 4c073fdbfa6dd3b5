// The compared units of the code.
import type { CompareUnitsRow } from "../../data/answers.gen";
import type { Columns } from "../../data/columns";

export function unitsOf(table: Columns): CompareUnitsRow[] {
  return table.rows<CompareUnitsRow>();
}

/** The position of the next unit after `from`, cyclic, that reads differently, is new or gone; -1 = there is none. */
export function nextDifference(units: Pick<CompareUnitsRow, "change">[], from: number): number {
  for (let step = 1; step <= units.length; step++) {
    const position = (from + step) % units.length;
    if (units[position]?.change !== "same") return position;
  }
  return -1;
}
