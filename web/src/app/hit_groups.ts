// Hits of the palette in groups: what was meant exactly comes first, then names that start with what was typed.
import { RANK, type Rank } from "../base/query";

/** How well a name fits what was typed, as a text or as a regular expression; null = not at all. */
export type Fit = (name: string) => Rank | null;

/** The fit of something whose name does not fit, by what is said about it. */
export const loosely = (rank: Rank | null): Rank | null => (rank === null ? null : RANK.loose);

export interface Hit {
  /** What it is: the heading under which it is listed. */
  group: string;
  text: string;
  /** Where, and what it cost. */
  note: string;
  keys?: string[];
  go: () => void;
}

export interface Results {
  hits: Hit[];
  /** All hits, also those that are not listed. */
  count: number;
  /** Why the pattern cannot be used. */
  problem: string;
}

/** Hits that are listed of each group. */
const MOST_LISTED = 50;

/**
 * Groups whose best hits fit equally well come in this order: these, groups that the document names, such as the domains
 * of a run, and those that follow here.
 */
const FIRST_GROUPS = ["Go to", "Kernels"];
const LATER_GROUPS = ["Metrics", "Instructions", "Functions", "Source", "Files", "Views", "Commands"];
/** Of these, all at one place, the one that was added first comes first. */
const LAST_GROUPS = ["Settings", "On screen", "Documents", "Bookmarks"];

function placeOf(group: string): number {
  const [first, later] = [FIRST_GROUPS.indexOf(group), LATER_GROUPS.indexOf(group)];
  if (first >= 0) return first;
  if (later >= 0) return FIRST_GROUPS.length + 1 + later;
  return LAST_GROUPS.includes(group) ? FIRST_GROUPS.length + 1 + LATER_GROUPS.length : FIRST_GROUPS.length;
}

interface Group {
  /** The rank of its best hit. */
  best: Rank;
  count: number;
  /** Best first; of equally good ones in the order in which they were added. */
  hits: { rank: Rank; hit: Hit }[];
}

/** Collects hits by group. Only those that may be listed are made: a trace has hundreds of thousands of instructions. */
export class Collected {
  private readonly groups = new Map<string, Group>();

  /** Adds a hit that fits (`rank`); null = it does not, and nothing happens. */
  add(group: string, rank: Rank | null, make: () => Omit<Hit, "group">): void {
    if (rank === null) return;
    const collected = this.groups.get(group) ?? { best: rank, count: 0, hits: [] };
    this.groups.set(group, collected);
    collected.count += 1;
    if (rank < collected.best) collected.best = rank;
    const { hits } = collected;
    if (hits.length >= MOST_LISTED) {
      const worst = hits.at(-1);
      if (worst && worst.rank <= rank) return;
      hits.pop();
    }
    const worse = hits.findIndex((other) => other.rank > rank);
    hits.splice(worse < 0 ? hits.length : worse, 0, { rank, hit: { group, ...make() } });
  }

  results(problem: string): Results {
    const byFit = [...this.groups].sort(([a, x], [b, y]) => x.best - y.best || placeOf(a) - placeOf(b));
    const groups = byFit.map(([, group]) => group);
    const hits = groups.flatMap((group) => group.hits.map(({ hit }) => hit));
    return { hits, count: groups.reduce((sum, { count }) => sum + count, 0), problem };
  }
}
