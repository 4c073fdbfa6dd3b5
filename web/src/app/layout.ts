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
    (layout.shares[i] ?? 1) / layout.shares.reduce((sum, each) => sum + each, 0);
  return a.children.every(
    (child, i) => isAlike(child, b.children[i] as Layout) && Math.abs(share(a, i) - share(b, i)) < SAME_SHARE,
  );
}

const DEEPEST = 12;

/** A layout as one line of text: `r(0.3:t(isa,source;1),0.7:…)`. */
export function written(layout: Layout): string {
  if ("tabs" in layout) return `t(${layout.tabs.join(",")};${layout.front ?? 0})`;
  const parts = layout.children.map((child, i) => `${(layout.shares[i] ?? 1).toFixed(3)}:${written(child)}`);
  return `${layout.split === "row" ? "r" : "c"}(${parts.join(",")})`;
}

/** What `written` wrote; null when it is anything else. */
export function read(text: string): Layout | null {
  let at = 0;
  const take = (expected: string) => {
    if (text[at] !== expected) throw new Error(`no ${expected} at ${at}`);
    at += 1;
  };
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? "";
    at += match.length;
    return match;
  };
  const part = (depth: number): Layout => {
    const kind = text[at++];
    take("(");
    if (kind === "t") {
      const ids = match(/[a-z_,]+/y)
        .split(",")
        .filter(Boolean);
      take(";");
      const front = Number(match(/\d{1,3}/y));
      take(")");
      return { tabs: ids, front };
    }
    if ((kind !== "r" && kind !== "c") || depth > DEEPEST) throw new Error("not a layout");
    const shares: number[] = [];
    const children: Layout[] = [];
    for (;;) {
      shares.push(Number(match(/[\d.]{1,12}/y)) || 1);
      take(":");
      children.push(part(depth + 1));
      if (text[at] !== ",") break;
      at += 1;
    }
    take(")");
    return { split: kind === "r" ? "row" : "column", shares, children };
  };
  try {
    const layout = part(0);
    return at === text.length ? layout : null;
  } catch {
    return null;
  }
}
