// Trees as arrays of parents: which nodes are on screen when some are open, or when some are looked for.

/** The children of each node, in order; `parents` holds -1 for roots, and every parent stands before its children. */
export function childrenOf(parents: ArrayLike<number>): number[][] {
  const children: number[][] = Array.from({ length: parents.length }, () => []);
  for (let n = 0; n < parents.length; n++) children[parents[n] as number]?.push(n);
  return children;
}

/** Nodes to show, parents before children: those under open nodes; or those that are wanted, with all above them. */
export function visibleNodes(
  parents: ArrayLike<number>,
  children: number[][],
  open: ReadonlySet<number>,
  isWanted: ((node: number) => boolean) | null,
): number[] {
  if (isWanted) {
    const visible = new Set<number>();
    for (let n = 0; n < parents.length; n++) {
      if (!isWanted(n)) continue;
      for (let up = n; up >= 0 && !visible.has(up); up = parents[up] as number) visible.add(up);
    }
    return walk(
      parents,
      children,
      (n) => visible.has(n),
      () => true,
    );
  }
  return walk(
    parents,
    children,
    () => true,
    (n) => open.has(n),
  );
}

function walk(
  parents: ArrayLike<number>,
  children: number[][],
  isShown: (node: number) => boolean,
  isOpen: (node: number) => boolean,
): number[] {
  const nodes: number[] = [];
  const rest: number[] = [];
  for (let n = parents.length - 1; n >= 0; n--) if ((parents[n] as number) < 0) rest.push(n);
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (!isShown(next)) continue;
    nodes.push(next);
    if (isOpen(next)) rest.push(...(children[next] as number[]).toReversed());
  }
  return nodes;
}
