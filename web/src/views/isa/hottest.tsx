// From the hottest row to the next hottest, and back to where one was.
import { useEffect, useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { isForPage } from "../../base/keys";
import { isEnd, selectRow } from "../../model/code";
import { ofDocument } from "../../model/document";
import { select, selection } from "../../model/selection";
import type { Sheet } from "./sheet";

/** Where the walk is, and the row that was selected before it. */
const walk = ofDocument<{ at: number; from: number | undefined } | null>(null);

/** Rows by how hot they are; the end of a wave is not among them: what it seems to take is that of others. */
export function rankedRows(heat: ArrayLike<number>, mnemonics: string[]): number[] {
  const rows: number[] = [];
  for (let row = 0; row < heat.length; row++) if ((heat[row] as number) > 0 && !isEnd(mnemonics[row])) rows.push(row);
  return rows.sort((a, b) => (heat[b] as number) - (heat[a] as number) || a - b);
}

/** 1st, 2nd, 3rd, 4th, …, 11th, …, 21st. */
export function ordinal(number: number): string {
  const isTeen = Math.floor((number % 100) / 10) === 1;
  const ending = isTeen ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return `${exact(number)}${ending}`;
}

export interface Hottest {
  count: number;
  /** Where the selected row is in the order; -1 = no walk leads there. */
  at: number;
  go: (direction: 1 | -1) => void;
}

export function useHottest({ heat, code }: Sheet): Hottest {
  const ranked = useMemo(() => rankedRows(heat, code.mnemonic), [heat, code]);
  /** Keys come faster than the page is drawn: a step starts where the walk is, not where it was last seen. */
  const place = () => {
    const { row } = selection.value;
    const at = walk.value && ranked[walk.value.at] === row ? walk.value.at : -1;
    return { at, from: at < 0 ? row : walk.value?.from };
  };
  const go = (direction: 1 | -1) => {
    const { at, from } = place();
    const next = at + direction;
    if (at < 0 && direction < 0) return;
    if (next < 0) {
      walk.value = null;
      if (from === undefined) select({ row: undefined, lastRow: undefined, sourceLine: undefined });
      else selectRow(from);
      return;
    }
    const to = ranked[next];
    if (to === undefined) return;
    walk.value = { at: next, from };
    selectRow(to);
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isForPage(event)) return;
      const direction = { h: 1, H: -1 }[event.key];
      if (direction === undefined) return;
      event.preventDefault();
      go(direction as 1 | -1);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
  return { count: ranked.length, at: place().at, go };
}

export function HottestSteps({ hottest: { at, count, go } }: { hottest: Hottest }) {
  return (
    <span class="stepper" title="From the row with the largest cost to the next: key h; back: H">
      <button
        type="button"
        data-hottest-step="back"
        aria-label="Back: to the hotter row, or to where you were"
        disabled={at < 0}
        onClick={() => go(-1)}
      >
        ‹
      </button>
      <button type="button" data-hottest-step="on" disabled={at + 1 >= count} onClick={() => go(1)}>
        {at < 0 ? "Hottest" : "Next"} ›
      </button>
      <output data-hottest>{at < 0 ? "" : `${ordinal(at + 1)} of ${exact(count)}`}</output>
    </span>
  );
}
