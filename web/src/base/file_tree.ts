// Paths as a tree of folders; a folder with one child only is written together with it.

export interface TreeNode {
  /** What is shown: one part of the path, or several of joined folders. */
  name: string;
  /** The whole path up to here. */
  path: string;
  /** Index of the path among those given; -1 = a folder. */
  index: number;
  children: TreeNode[];
  /** Sum of the weights below. */
  weight: number;
}

/** The tree of `paths`, heaviest first on every level. */
export function fileTree(paths: string[], weights: ArrayLike<number>): TreeNode[] {
  const root: TreeNode = { name: "", path: "", index: -1, children: [], weight: 0 };
  const folders = new Map<string, TreeNode>([["", root]]);
  paths.forEach((path, index) => {
    const weight = weights[index] ?? 0;
    const slash = path.lastIndexOf("/");
    const folder = slash < 0 ? root : folderOf(path.slice(0, slash), folders);
    folder.children.push({ name: path.slice(slash + 1) || path, path, index, children: [], weight });
  });
  weigh(root);
  return root.children.map(joined);
}

function folderOf(path: string, folders: Map<string, TreeNode>): TreeNode {
  // from the outside in, without recursion: a path may have any number of slashes
  const missing: string[] = [];
  let known = path;
  while (!folders.has(known)) {
    missing.push(known);
    known = known.slice(0, Math.max(known.lastIndexOf("/"), 0));
  }
  let node = folders.get(known) as TreeNode;
  for (const next of missing.reverse()) {
    const name = next.slice(next.lastIndexOf("/") + 1) || "/";
    const child = { name, path: next, index: -1, children: [], weight: 0 };
    node.children.push(child);
    folders.set(next, child);
    node = child;
  }
  return node;
}

function weigh(root: TreeNode): void {
  const order: TreeNode[] = [root];
  for (const node of order) for (const child of node.children) order.push(child);
  for (const node of order.reverse()) {
    for (const child of node.children) node.weight += child.weight;
    node.children.sort((a, b) => b.weight - a.weight || a.name.localeCompare(b.name));
  }
}

function joined(node: TreeNode): TreeNode {
  const names = [node.name];
  let last = node;
  while (last.index < 0 && last.children.length === 1 && (last.children[0] as TreeNode).index < 0) {
    last = last.children[0] as TreeNode;
    names.push(last.name);
  }
  const absolute = last.path.startsWith("/") && !names[0]?.startsWith("/") && node.path.lastIndexOf("/") <= 0;
  return { ...last, name: (absolute ? "/" : "") + names.join("/"), children: last.children.map(joined) };
}
