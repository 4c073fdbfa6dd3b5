// Hits of the palette in groups: what was meant exactly comes first, then names that start with what was typed.

/** How a name fits: as a text, or by the regular expression that was typed. */
export type Fit = (name: string) => number;

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
/** What was meant, rather than something whose name has the text. */
export const MEANT = 0;
/** Not the name has the text, but what is said about it. */
export const LOOSELY = 5;

/** Groups that fit equally well come in this order; any others, such as the domains of a run, come after Kernels. */
const ORDER = ["Go to", "Kernels", "", "Metrics", "Instructions", "Functions", "Source", "Files", "Views", "Commands"];

const placeOf = (group: string) => {
  const place = ORDER.indexOf(group);
  if (place >= 0) return place;
  return ["Settings", "On screen", "Documents", "Bookmarks"].includes(group) ? ORDER.length : ORDER.indexOf("");
};

interface Group {
  best: number;
  count: number;
  hits: { rate: number; hit: Hit }[];
}

export class Collected {
  private readonly groups = new Map<string, Group>();

  /** `rate`: how well it fits (base/query.ts); 0 = it was meant. */
  add(group: string, rate: number, make: () => Omit<Hit, "group">): void {
    let line = this.groups.get(group);
    if (!line) {
      line = { best: rate, count: 0, hits: [] };
      this.groups.set(group, line);
    }
    line.count += 1;
    line.best = Math.min(line.best, rate);
    // hits come in their natural order: of equally good ones the first are listed
    const worst = line.hits.at(-1);
    if (line.hits.length >= MOST_LISTED && worst && worst.rate <= rate) return;
    if (line.hits.length >= MOST_LISTED) line.hits.pop();
    let at = line.hits.length;
    while (at > 0 && (line.hits[at - 1]?.rate ?? 0) > rate) at -= 1;
    line.hits.splice(at, 0, { rate, hit: { group, ...make() } });
  }

  results(problem: string): Results {
    const order = [...this.groups].sort(([a, x], [b, y]) => x.best - y.best || placeOf(a) - placeOf(b));
    const hits = order.flatMap(([, { hits }]) => hits.map(({ hit }) => hit));
    return { hits, count: order.reduce((sum, [, { count }]) => sum + count, 0), problem };
  }
}
