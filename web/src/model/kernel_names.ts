// Names of kernels in few characters: what the server makes of them, the same for all views, told apart where they are cut.
import { type Signal, signal } from "@preact/signals";
import { askJson } from "../data/ask";
import { current, kind } from "./document";

export interface KernelName {
  /** In few characters that tell it from the others. */
  short: string;
  /** Demangled; the recorded name where it is not mangled. */
  readable: string;
  /** Characters of `short` at its end that tell it from the names most like it: they are not cut off. */
  tail: number;
}

/** Bounds of a tail, in characters. */
const LEAST_TAIL = 4;
const MOST_TAIL = 26;
/** Characters from which on names begin alike: about what is seen of a name that is cut. */
const ALIKE = 10;
const byDocument = new Map<number, Signal<ReadonlyMap<string, KernelName>>>();

function namesOf(document: number): ReadonlyMap<string, KernelName> {
  let names = byDocument.get(document);
  if (!names) {
    const loading = signal<ReadonlyMap<string, KernelName>>(new Map());
    names = loading;
    byDocument.set(document, names);
    askJson<[recorded: string, short: string, readable: string][]>(document, "run_kernel_names")
      .then((triples) => {
        const tails = differingTails(triples.map(([, short]) => short));
        loading.value = new Map(
          triples.map(([recorded, short, readable]) => [recorded, { short, readable, tail: tails.get(short) ?? 0 }]),
        );
      })
      .catch(() => byDocument.delete(document)); // the names as recorded will do
  }
  return names.value;
}

/** What the server says of a name of a kernel of the run; undefined = it is of something else, or not yet here. */
export function kernelName(name: string): KernelName | undefined {
  return kind.value === "run" ? namesOf(current.value).get(name) : undefined;
}

/** The name of a kernel of the run in few characters; names of other things, and while it is not known, as they are. */
export function shortName(name: string): string {
  return kernelName(name)?.short ?? name;
}

/**
 * For names that begin alike, how many characters at the end hold what differs among them: from the word in which the
 * first difference is on. A name that is absent is told apart by its beginning.
 */
export function differingTails(names: string[]): Map<string, number> {
  const tails = new Map<string, number>();
  for (const { members, shared } of alikeGroups([...new Set(names)].sort())) {
    const beginning = (members[0] as string).slice(0, shared);
    const brokenWord = /[A-Z]*[a-z0-9]*$/.exec(beginning)?.[0] ?? "";
    const tailStart = shared - brokenWord.length;
    for (const name of members) {
      tails.set(name, Math.min(MOST_TAIL, Math.max(LEAST_TAIL, name.length - tailStart)));
    }
  }
  return tails;
}

interface AlikeGroup {
  /** At least two names. */
  members: string[];
  /** How many characters all of them have in common at the beginning. */
  shared: number;
}

/** Sorted names in which each begins like the next one. */
function alikeGroups(sorted: string[]): AlikeGroup[] {
  const sharedWithNext = sorted.map((name, n) => sharedPrefix(name, sorted[n + 1] ?? ""));
  const groups: AlikeGroup[] = [];
  for (let first = 0; first < sorted.length; ) {
    let last = first;
    while ((sharedWithNext[last] as number) >= ALIKE) last++;
    if (last > first) {
      const shared = Math.min(...sharedWithNext.slice(first, last));
      groups.push({ members: sorted.slice(first, last + 1), shared });
    }
    first = last + 1;
  }
  return groups;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
