// The document that the one on screen is compared with. Of two that were opened together it is the first, as for
// `wavewright compare BEFORE AFTER`; what is chosen stays for other documents, is stored for the next start, and is in the URL.
import { computed, signal } from "@preact/signals";
import type { DocumentLine } from "../data/ask";
import { askOverview, current, documents, kind } from "./document";
import { change, settings } from "./settings";
import { timePart } from "./time_part";
import { storageTurn, store, stored } from "./user_storage";

/** A document's number; null = compared with none; undefined = nothing was chosen. */
export type Choice = number | null | undefined;

/** Stored for a document; and for a kind, what was chosen last: other documents are compared with it, too. */
const BELOW = "baseline.";
const OF_KIND = "baseline of ";
const NONE = "none";

/** What was chosen in this page or is in its URL. */
const chosen = signal<Choice>(undefined);

const identityOf = (line: DocumentLine) => line.identity || line.path;

/** What the current document can be compared with; one that was not opened yet may turn out to be of another kind. */
export function comparable(): DocumentLine[] {
  const ours = kind.value;
  return documents.value.filter((line) => line.number !== current.value && ours && (line.kind ?? ours) === ours);
}

/** The two documents that were opened together, when they are two: dispatches of one path belong to its document. */
export function beforeAndAfter(lines: DocumentLine[]): [before: DocumentLine, after: DocumentLine] | null {
  const firsts = lines.filter((line, at) => lines.findIndex((other) => other.path === line.path) === at);
  return firsts.length === 2 ? (firsts as [DocumentLine, DocumentLine]) : null;
}

/** Of two that were opened together, the first, once it is known that both are of one kind. */
function byOrder(): number | null {
  const [before, after] = beforeAndAfter(documents.value) ?? [];
  const isAfter = before && after && after.number === current.value && before.kind === kind.value;
  return isAfter ? before.number : null;
}

function storedChoice(): Choice {
  void storageTurn.value;
  const line = documents.value[current.value];
  const value = line && stored(BELOW + identityOf(line));
  if (value === NONE) return null;
  const identified = (identity: unknown) => comparable().find((other) => identityOf(other) === identity)?.number;
  return identified(value) ?? identified(stored(OF_KIND + kind.value));
}

/** What is compared with where nothing was chosen in this page. */
const unlessChosen = computed<number | null>(() => {
  const choice = storedChoice();
  return choice === undefined ? byOrder() : choice;
});

/** The number of the document that the current one is compared with; null = it is compared with none. */
export const baseline = computed<number | null>(() => {
  const choice = chosen.value;
  if (choice === null) return null;
  return comparable().some((line) => line.number === choice) ? (choice as number) : unlessChosen.value;
});

/** Compare the current document with another one, or with none. */
export function chooseBaseline(number: number | null): void {
  chosen.value = number;
  const [line, other] = [documents.value[current.value], number === null ? null : documents.value[number]];
  if (line) store(BELOW + identityOf(line), other ? identityOf(other) : NONE);
  if (other) store(OF_KIND + kind.value, identityOf(other));
  if (other && !other.kind) askOverview(other.number).catch(() => {}); // views say why it cannot be read
}

/** What a view compares that is about nothing else: the baseline, else the first document that there is. */
export function comparedBase(): number | null {
  return baseline.value ?? comparable()[0]?.number ?? null;
}

/** What the URL says of it: empty = it follows from the documents. */
export function writtenBaseline(): string {
  const now = baseline.value;
  return now === byOrder() ? "" : String(now ?? NONE);
}

/** Take over what a URL says. */
export function readBaseline(text: string): void {
  if (text === NONE) chosen.value = null;
  else if (/^\d{1,6}$/.test(text)) chosen.value = Number(text);
}

/** Comparisons are about the whole time: there are no changes while figures are of a part of it. */
export const areOfWholeTime = computed(() => timePart.value === null);

/** The baseline for figures beside the current ones; null = there is none, or changes are switched off. */
export const changesAgainst = computed(() =>
  settings.value.hidesChanges === true || !areOfWholeTime.value ? null : baseline.value,
);

export function showChanges(isOn: boolean): void {
  change({ hidesChanges: !isOn });
}

const COMPARISONS: Record<string, string> = { trace: "compare", run: "run_compare", counters: "counter_compare" };

/** Whom an answer about the current document alone is of, while it is compared with another one; and what tells the change. */
export function besideBaseline(): { of: string; base: string; view: string } | null {
  const [ours, theirs] = [documents.value[current.value], documents.value[baseline.value ?? -1]];
  const view = COMPARISONS[kind.value ?? ""];
  return ours && theirs && view ? { of: ours.label, base: theirs.label, view } : null;
}
