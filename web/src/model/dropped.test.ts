import { expect, test } from "vitest";
import { chosenFiles, type Entry, filesOf } from "./dropped";

const file = (name: string): Entry => ({
  isFile: true,
  isDirectory: false,
  name,
  file: (done) => done(new File([name], name)),
});

/** A folder that hands over two at a time, as browsers hand over a hundred. */
const folder = (name: string, children: Entry[]): Entry => ({
  isFile: false,
  isDirectory: true,
  name,
  createReader: () => {
    const left = [...children];
    return { readEntries: (done) => done(left.splice(0, 2)) };
  },
});

const paths = async (entries: Entry[], most?: number) => (await filesOf(entries, most)).map(({ path }) => path);

test("folders are walked to their last file", async () => {
  const capture = folder("capture", [file("b"), file("c"), file("a"), folder("sub", [file("d"), folder("none", [])])]);
  expect(await paths([capture, file("z.db")])).toEqual([
    "capture/a",
    "capture/b",
    "capture/c",
    "capture/sub/d",
    "z.db",
  ]);
});

test("no more files are looked at than can be sent", async () => {
  const many = Array.from({ length: 50 }, (_, n) => file(String(n)));
  expect((await paths([folder("x", many)], 10)).length).toBe(10);
});

test("files of a chosen folder have its name before theirs", () => {
  const chosen = new File(["x"], "se0.att");
  Object.defineProperty(chosen, "webkitRelativePath", { value: "capture/se0.att" });
  expect(chosenFiles([chosen, new File(["y"], "run.db")]).map(({ path }) => path)).toEqual([
    "capture/se0.att",
    "run.db",
  ]);
});
