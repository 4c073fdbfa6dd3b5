import { expect, it } from "vitest";
import { fileTree, type TreeNode } from "./file_tree";

const outline = (nodes: TreeNode[]): unknown[] =>
  nodes.map((node) =>
    node.index < 0 ? [node.name, node.weight, ...outline(node.children)] : `${node.name}=${node.weight}`,
  );

it("joins folders with a single folder inside and sorts by weight", () => {
  const tree = fileTree(["/src/kernels/a.hip", "/src/kernels/b.hip", "/src/kernels/lib/deep/c.h"], [1, 5, 3]);
  expect(outline(tree)).toEqual([["/src/kernels", 9, "b.hip=5", ["lib/deep", 3, "c.h=3"], "a.hip=1"]]);
  expect(tree[0]?.path).toBe("/src/kernels");
});

it("keeps files without a folder, relative paths and several roots", () => {
  expect(outline(fileTree(["a.py", "x/b.py", "/y/c.py"], [3, 2, 1]))).toEqual([
    "a.py=3",
    ["x", 2, "b.py=2"],
    ["/y", 1, "c.py=1"],
  ]);
});

it("takes hostile paths as they are", () => {
  const paths = ["../../etc/passwd", "<img src=x onerror=alert(1)>", "/".repeat(2000), ""];
  const found: string[] = [];
  const visit = (nodes: TreeNode[]) => {
    for (const node of nodes) {
      if (node.index < 0) visit(node.children);
      else found.push(node.path);
    }
  };
  visit(fileTree(paths, [4, 3, 2, 1]));
  expect(found.sort()).toEqual([...paths].sort());
});
