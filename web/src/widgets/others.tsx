// Comparisons of more than two: the other open documents against the same base, when they are asked for.
import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { counted } from "../base/format";
import { type Question, together } from "../data/ask";
import { comparable } from "../model/baseline";
import { type Loaded, useAnswer } from "../model/loaded";

/** The second sides of further comparisons, under letters of their own. */
export function otherSides<Row extends { label: string }>(more: { sides: { rows: Row[] } }[]): Row[] {
  return more.flatMap(({ sides }, n) =>
    sides.rows.slice(1).map((row) => ({ ...row, label: row.label.replace(/^B:/, `${String.fromCharCode(67 + n)}:`) })),
  );
}

/** The answers of the others, none before the button is pressed; the button, while there is something to add. */
export function useOthers<T>(
  base: number,
  what: string,
  ask: (document: number) => Question<T>,
): { answers: ReadonlySignal<Loaded<T[]>>; button: ComponentChild } {
  const areShown = useSignal(false);
  const others = comparable().filter(({ number }) => number !== base);
  const answers = useAnswer(together(...(areShown.value ? others : []).map(({ number }) => ask(number))));
  const button =
    others.length && !areShown.value ? (
      <button type="button" class="link" data-action="add-others" onClick={() => (areShown.value = true)}>
        add {counted(others.length, `other open ${what}`)}
      </button>
    ) : null;
  return { answers: answers as ReadonlySignal<Loaded<T[]>>, button };
}
