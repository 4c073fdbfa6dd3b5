import { describe, expect, it } from "vitest";
import { FLAME_ROW, flameLayout, frameAt, matchedWeight, paintFlame, timedLayout, windowOf, zoomed } from "./flame";
import { SvgPainter } from "./painter";
import { inkOn } from "./palette";

const tree = {
  parents: [-1, 0, 0, 1, 1],
  names: ["all", "a", "b", "c", "d"],
  kinds: ["all", "file", "file", "line", "line"],
};
const weights = [10, 4, 6, 1, 3];
const size = { width: 1000, height: 400 };
const whole = { begin: 0, end: 1, scroll: 0, rootAt: "top" as const };

describe("flameLayout", () => {
  it("puts the heaviest first, inside their parents", () => {
    const layout = flameLayout(tree, weights);
    expect(layout.rows).toEqual([[0], [2, 1], [4, 3]]);
    expect([...layout.begin]).toEqual([0, expect.closeTo(0.6), 0, expect.closeTo(0.9), expect.closeTo(0.6)]);
    expect(layout.end[1]).toBeCloseTo(1);
    expect(layout.deepest).toBe(3);
  });

  it("leaves out what weighs nothing, also when nothing weighs anything", () => {
    expect(flameLayout(tree, [10, 0, 10, 0, 0]).rows).toEqual([[0], [2]]);
    expect(flameLayout(tree, [0, 0, 0, 0, 0]).rows).toEqual([]);
    expect(flameLayout({ parents: [], names: [], kinds: [] }, []).deepest).toBe(0);
  });

  it("never lets children stick out of a parent that is lighter by rounding", () => {
    const layout = flameLayout(tree, [10, 4, 6, 3, 3]);
    expect(Math.max(...layout.end)).toBeLessThanOrEqual(1 + 1e-12);
  });
});

describe("timedLayout", () => {
  const spans = { begin: [0, 0.5, 0.1, 0.6, 0.65], end: [0.4, 1, 0.2, 0.9, 0.7], depth: [0, 0, 1, 1, 2] };
  const layout = timedLayout(spans);
  it("keeps the order of time, and finds what each span lies in", () => {
    expect(layout.rows).toEqual([[0], [1, 2], [3, 4], [5]]);
    expect([...layout.parents]).toEqual([-1, 0, 0, 1, 2, 4]);
    expect(layout.children[0]).toEqual([1, 2]);
    expect(frameAt(layout, whole, { x: 450, y: FLAME_ROW * 1.5 }, size)).toBe(-1);
    expect(frameAt(layout, whole, { x: 660, y: FLAME_ROW * 3.5 }, size)).toBe(5);
  });
  it("survives nothing, ends before starts, and depths that are missing", () => {
    expect(timedLayout({ begin: [], end: [], depth: [] }).rows).toEqual([[0]]);
    const odd = timedLayout({ begin: [0.5, 0.1], end: [0.2, 0.3], depth: [0, 3] });
    expect(odd.end[1]).toBe(0.5);
    expect(odd.parents[2]).toBe(0);
  });
});

describe("windows", () => {
  const layout = flameLayout(tree, weights);
  it("find the frame under a pixel, from either side", () => {
    expect(frameAt(layout, whole, { x: 650, y: FLAME_ROW * 1.5 }, size)).toBe(1);
    expect(frameAt(layout, whole, { x: 100, y: FLAME_ROW * 1.5 }, size)).toBe(2);
    expect(frameAt(layout, whole, { x: 100, y: FLAME_ROW * 2.5 }, size)).toBe(-1);
    expect(frameAt(layout, { ...whole, rootAt: "bottom" }, { x: 100, y: 400 - FLAME_ROW * 1.5 }, size)).toBe(2);
  });

  it("zoom to a frame and back", () => {
    const window = windowOf(layout, 1, whole);
    expect(frameAt(layout, window, { x: 10, y: FLAME_ROW * 2.5 }, size)).toBe(4);
    const near = zoomed(whole, 0.5, 0.25);
    expect([near.begin, near.end]).toEqual([0.125, 0.625]);
    expect(zoomed(near, 100, 0.3)).toMatchObject({ begin: 0, end: 1 });
  });
});

it("draws each visible frame and joins those below half a pixel", () => {
  const many = 5000;
  const parents = [-1, ...Array.from({ length: many }, () => 0)];
  const names = parents.map(() => "x");
  const layout = flameLayout({ parents, names, kinds: names }, [many, ...Array.from({ length: many }, () => 1)]);
  const painter = new SvgPainter(200, 100);
  const look = { fill: () => "#123456", label: () => "<x>", outlined: [] };
  paintFlame(painter, { width: 200, height: 100 }, { layout, window: whole }, look);
  const rects = painter.toString().match(/<rect/g)?.length ?? 0;
  expect(rects).toBeGreaterThan(100);
  expect(rects).toBeLessThan(500);
});

it("counts a match inside a match once", () => {
  expect(matchedWeight(tree, weights, (frame) => frame === 1 || frame === 4)).toEqual({ weight: 4, count: 2 });
});

it("writes in the ink that reads better", () => {
  expect(["#ffffff", "#e3d54a", "#5c6673", "#000000"].map(inkOn)).toEqual(["#000000", "#000000", "#ffffff", "#ffffff"]);
});
