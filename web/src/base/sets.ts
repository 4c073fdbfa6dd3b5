/** The set without an item that is in it, or with one that is not. */
export function flipped<Item>(set: ReadonlySet<Item>, item: Item): Set<Item> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
