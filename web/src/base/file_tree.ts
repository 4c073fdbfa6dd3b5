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

/** The node of a folder; it and the folders around it are made if they are missing. */
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

/** Sums up weights from the leaves to the root, and sorts the children of every node by them. */
function weigh(root: TreeNode): void {
  const parentsFirst: TreeNode[] = [root];
  // the loop goes on over what is added
  for (const node of parentsFirst) for (const child of node.children) parentsFirst.push(child);
  for (const node of parentsFirst.reverse()) {
    for (const child of node.children) node.weight += child.weight;
    node.children.sort((a, b) => b.weight - a.weight || a.name.localeCompare(b.name));
  }
}

/** A folder together with the folders below it as long as each has one child only, which is a folder too. */
function joined(node: TreeNode): TreeNode {
  const names = [node.name];
  let last = node;
  for (let only = onlyFolderIn(last); only; only = onlyFolderIn(last)) {
    last = only;
    names.push(last.name);
  }
  // the root of absolute paths has the name "": its slash goes to the outermost folders
  const isOutermost = node.path.lastIndexOf("/") <= 0;
  const isAbsolute = last.path.startsWith("/") && !node.name.startsWith("/") && isOutermost;
  return { ...last, name: (isAbsolute ? "/" : "") + names.join("/"), children: last.children.map(joined) };
}

function onlyFolderIn({ index, children }: TreeNode): TreeNode | null {
  const [only] = children;
  return index < 0 && children.length === 1 && only && only.index < 0 ? only : null;
}
