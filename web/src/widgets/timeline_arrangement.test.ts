import { describe, expect, it } from "vitest";
import type { TimelineRow } from "../draw/track_layout";
import { tracksFrom, tracksText } from "../model/area";
import { AS_IT_IS, arrangementFrom } from "../model/arrangement";
import { arranged, groupName, moveOf, rowsBeside, stepOf } from "./timeline_arrangement";
import { wheelFactor } from "./timeline_input";

const row = (key: string, ...path: string[]): TimelineRow => ({ key, label: `track ${key}`, path, strips: [] });
const rows = [row("a", "P", "x"), row("b", "P", "x"), row("c", "P", "y"), row("d", "Q", "x")];
const keys = (list: TimelineRow[]) => list.map(({ key }) => key).join("");

describe("arranged tracks", () => {
  it("are as they are without a wish", () => {
    expect(arranged(rows, AS_IT_IS, "").rest).toBe(rows);
  });
  it("are pinned in the order of pinning, and stay when their group is hidden", () => {
    const got = arranged(rows, { ...AS_IT_IS, pinned: ["d", "b"], hidden: [groupName(["P"])] }, "");
    expect([keys(got.pinned), keys(got.rest), got.hiddenCount]).toEqual(["db", "", 2]);
    expect(got.pinned[1]).toMatchObject({ path: [], label: "P x track b" });
  });
  it("are hidden one by one or by group, and filtered", () => {
    expect(keys(arranged(rows, { ...AS_IT_IS, hidden: ["a", groupName(["P", "y"])] }, "").rest)).toBe("bd");
    expect(keys(arranged(rows, AS_IT_IS, "/^P.*(b|c)$/").rest)).toBe("bc");
    expect(keys(arranged(rows, AS_IT_IS, "TRACK d").rest)).toBe("d");
  });
  it("are moved inside their group, and groups inside theirs", () => {
    const orderOf = (...moves: (ReturnType<typeof moveOf> | null)[]) =>
      keys(arranged(rows, { ...AS_IT_IS, moves: moves.filter((move) => move !== null) }, "").rest);
    const [a, b, c, d] = rows as [TimelineRow, TimelineRow, TimelineRow, TimelineRow];
    expect(orderOf(moveOf({ row: a, level: 2 }, { row: b, isAfter: true }, rows))).toBe("bacd");
    expect(orderOf(moveOf({ row: a, level: 2 }, { row: c, isAfter: true }, rows))).toBe("cabd"); // of another group: the groups change places
    expect(orderOf(moveOf({ row: a, level: 2 }, { row: d, isAfter: true }, rows))).toBe("dabc");
    expect(moveOf({ row: a, level: 0 }, { row: b, isAfter: true }, rows)).toBeNull();
    expect(orderOf(stepOf({ row: b, level: 2 }, -1, rows))).toBe("bacd");
    expect(stepOf({ row: b, level: 2 }, 1, rows)).toBeNull();
    expect(orderOf(stepOf({ row: a, level: 0 }, 1, rows))).toBe("dabc");
  });
  it("are dropped beside whole groups that they are not in", () => {
    const [a, b, c, d] = rows as [TimelineRow, TimelineRow, TimelineRow, TimelineRow];
    expect(keys(rowsBeside(d, a, rows))).toBe("abc");
    expect(keys(rowsBeside(c, a, rows))).toBe("ab");
    expect(keys(rowsBeside(b, a, rows))).toBe("a");
    expect(keys(rowsBeside(a, a, rows))).toBe("");
  });
  it("are fast when there are thousands", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => row(`${n}`, `rank ${n >> 6}`, `GPU ${(n >> 3) & 7}`));
    const from = performance.now();
    const got = arranged(many, { ...AS_IT_IS, pinned: ["5"], hidden: ["6", groupName(["rank 3"])] }, "GPU");
    expect([got.pinned.length, got.hiddenCount]).toEqual([1, 65]);
    expect(performance.now() - from).toBeLessThan(1500);
  });
  it("are read from what anybody may have stored", () => {
    expect(arrangementFrom(null)).toEqual(AS_IT_IS);
    const odd = {
      pinned: [1, "a"],
      hidden: "x",
      moves: [null, { parent: "", child: "b", before: null }],
      curves: [{}],
    };
    const read = { pinned: ["a"], hidden: [], moves: [{ parent: "", child: "b", before: null }], curves: [] };
    expect(arrangementFrom(odd)).toEqual(read);
  });
});

describe("selected tracks", () => {
  it("are written as ranges and read again", () => {
    expect(tracksText("run", [7, 0, 2, 1, 7])).toBe("run:0-2,7");
    expect([...(tracksFrom("run:0-2,7")?.tracks ?? [])]).toEqual([0, 1, 2, 7]);
    for (const bad of [undefined, "", "run", "run:", "run:1-", "run:x", "Run:1"]) expect(tracksFrom(bad)).toBeNull();
  });
  it("are cut where the text would be too long", () => {
    const text = tracksText(
      "run",
      Array.from({ length: 4000 }, (_, n) => 2 * n),
    );
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(tracksFrom(text)).not.toBeNull();
  });
});

describe("the wheel", () => {
  it("zooms far by a pinch, and as before by a click of a wheel", () => {
    expect(wheelFactor(-3, true) ** 20).toBeLessThan(1 / 4);
    expect(wheelFactor(-120, true)).toBe(wheelFactor(-120, false));
    expect(wheelFactor(-3, false)).toBeGreaterThan(0.99);
  });
});
