// Where views stand: rows and columns of groups of tabs, as a tree that fits a URL and a browser's storage.

/** A group of tabs (view ids, and which of them is in front), or children side by side (row) or stacked (column). */
export type Layout =
  | { tabs: string[]; front?: number }
  | { split: "row" | "column"; shares: number[]; children: Layout[] };

export const tabs = (...ids: string[]): Layout => ({ tabs: ids });

export function row(...parts: [share: number, child: Layout][]): Layout {
  return { split: "row", shares: parts.map(([share]) => share), children: parts.map(([, child]) => child) };
}

export function column(...parts: [share: number, child: Layout][]): Layout {
  return { split: "column", shares: parts.map(([share]) => share), children: parts.map(([, child]) => child) };
}

/** The same layout with the views that `keep` wants; groups that become empty vanish. */
export function filtered(layout: Layout, keep: (id: string) => boolean): Layout | null {
  if ("tabs" in layout) {
    const remaining = layout.tabs.filter(keep);
    const front = layout.tabs[layout.front ?? 0];
    return remaining.length ? { tabs: remaining, front: Math.max(0, remaining.indexOf(front ?? "")) } : null;
  }
  const shares: number[] = [];
  const children: Layout[] = [];
  layout.children.forEach((child, i) => {
    const remaining = filtered(child, keep);
    if (!remaining) return;
    children.push(remaining);
    shares.push(layout.shares[i] ?? 1);
  });
  if (children.length < 2) return children[0] ?? null;
  return { split: layout.split, shares, children };
}

/** The same layout with these views in front of their groups, as the first tab; of two in one group the later. */
export function fronted(layout: Layout, ids: string[]): Layout {
  if (!("tabs" in layout)) return { ...layout, children: layout.children.map((child) => fronted(child, ids)) };
  const last = ids.filter((id) => layout.tabs.includes(id)).at(-1);
  return last === undefined ? layout : { tabs: [last, ...layout.tabs.filter((id) => id !== last)], front: 0 };
}

/** Shares that differ less are the same: panels have whole pixels. */
const SAME_SHARE = 0.02;

/** Whether two layouts have the same views at the same places, in front and behind. */
export function isAlike(a: Layout, b: Layout): boolean {
  if ("tabs" in a) return "tabs" in b && a.tabs.join() === b.tabs.join() && (a.front ?? 0) === (b.front ?? 0);
  if ("tabs" in b || a.split !== b.split || a.children.length !== b.children.length) return false;
  const share = (layout: { shares: number[] }, i: number) =>
    (layout.shares[i] ?? 1) / layout.shares.reduce((total, other) => total + other, 0);
  return a.children.every(
    (child, i) => isAlike(child, b.children[i] as Layout) && Math.abs(share(a, i) - share(b, i)) < SAME_SHARE,
  );
}

/**
 * A layout as one line of text: `r(0.300:t(isa,source;1),0.700:t(stalls;0))`. A group of tabs is `t(IDS;FRONT)` with the
 * place of the one in front; a row is `r(SHARE:LAYOUT,…)`, a column the same with `c`.
 */
export function written(layout: Layout): string {
  if ("tabs" in layout) return `t(${layout.tabs.join(",")};${layout.front ?? 0})`;
  const parts = layout.children.map((child, i) => `${(layout.shares[i] ?? 1).toFixed(3)}:${written(child)}`);
  return `${layout.split === "row" ? "r" : "c"}(${parts.join(",")})`;
}

/** What `written` wrote; null when it is anything else: it comes from URLs and from storage. */
export function read(text: string): Layout | null {
  const reader = new LayoutReader(text);
  try {
    const layout = reader.layout(0);
    return reader.isAtEnd ? layout : null;
  } catch (error) {
    if (error instanceof NoLayout) return null;
    throw error;
  }
}

/** Rows in columns in rows, and so on: deeper texts are not read. */
const DEEPEST = 12;

class NoLayout extends Error {}

class LayoutReader {
  private at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  layout(depth: number): Layout {
    const kind = this.text[this.at++];
    this.take("(");
    if (kind === "t") return this.tabs();
    if ((kind !== "r" && kind !== "c") || depth > DEEPEST) throw new NoLayout();
    const shares: number[] = [];
    const children: Layout[] = [];
    do {
      shares.push(Number(this.match(/[\d.]{1,12}/y)) || 1);
      this.take(":");
      children.push(this.layout(depth + 1));
    } while (this.takes(","));
    this.take(")");
    return { split: kind === "r" ? "row" : "column", shares, children };
  }

  private tabs(): Layout {
    const ids = this.match(/[a-z_,]+/y).split(",");
    this.take(";");
    const front = Number(this.match(/\d{1,3}/y));
    this.take(")");
    return { tabs: ids.filter(Boolean), front };
  }

  /** Goes on behind a character if it is the next one. */
  private takes(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private take(character: string): void {
    if (!this.takes(character)) throw new NoLayout();
  }

  /** What a sticky pattern (flag y) matches here; empty = nothing. */
  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}
