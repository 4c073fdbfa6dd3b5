import { describe, expect, it } from "vitest";
import { type Edge, hitAt, railX, trunksOf } from "./arrow_layout";

const edges = (...pairs: [number, number][]): Edge[] => pairs.map(([from, to], arrow) => ({ from, to, arrow }));

describe("arrows beside the listing", () => {
  it("share a trunk per head", () => {
    const [trunk, ...others] = trunksOf(edges([1, 5], [2, 5], [9, 5]));
    expect(others).toEqual([]);
    expect([trunk?.top, trunk?.bottom, trunk?.to, trunk?.edges.length]).toEqual([1, 9, 5, 3]);
  });

  it("never put two trunks of one rail over the same row", () => {
    const pairs: [number, number][] = [];
    for (let i = 0; i < 300; i++) pairs.push([(i * 37) % 101, (i * 53) % 97]);
    const trunks = trunksOf(edges(...pairs));
    for (const trunk of trunks) {
      for (const other of trunks) {
        if (trunk === other || trunk.rail !== other.rail) continue;
        expect(trunk.bottom < other.top || other.bottom < trunk.top).toBe(true);
      }
    }
  });

  it("put the shorter trunk nearer to the text", () => {
    const [inner, outer] = trunksOf(edges([4, 5], [1, 8]));
    expect([inner?.rail, outer?.rail]).toEqual([0, 1]);
    expect(railX(0, 160)).toBeGreaterThan(railX(1, 160));
  });

  it("stay inside the column however many rails there are", () => {
    for (let rail = 0; rail < 500; rail++) {
      expect(railX(rail, 160)).toBeGreaterThan(0);
      expect(railX(rail, 160)).toBeLessThan(160);
    }
  });

  it("are found under the pointer: at their ticks, at the head, and along the trunk", () => {
    const trunks = trunksOf(edges([1, 5], [3, 5]));
    const x = railX(0, 160);
    expect(hitAt(trunks, 160, x + 6, 3.5)?.edge.from).toBe(3);
    expect(hitAt(trunks, 160, x, 1.9)?.edge.from).toBe(1);
    expect(hitAt(trunks, 160, x + 5, 5.5)?.edge.from).toBe(3);
    expect(hitAt(trunks, 160, x - 20, 3.5)).toBeNull();
    expect(hitAt(trunks, 160, x, 9)).toBeNull();
  });
});
