// The units of code (instructions, lines, ...) that the comparison lists: which are shown, and the next difference.
import type { CompareUnitsRow } from "../../data/answers.gen";
import type { Columns } from "../../data/columns";

export function unitsOf(table: Columns): CompareUnitsRow[] {
  return table.rows<CompareUnitsRow>();
}

/** How the code of units may differ without being a difference to jump to. */
const QUIET = ["same", "registers"];

/**
 * The position of the next unit after `from`, cyclic, that reads differently, is new or gone; -1 = there is none.
 * Other registers alone are no difference to jump to.
 */
export function nextDifference(units: Pick<CompareUnitsRow, "change">[], from: number): number {
  for (let step = 1; step <= units.length; step++) {
    const position = (from + step) % units.length;
    if (!QUIET.includes(units[position]?.change ?? "same")) return position;
  }
  return -1;
}
