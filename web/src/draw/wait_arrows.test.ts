import { describe, expect, it } from "vitest";
import type { Link, Step } from "../model/producers";
import { Frame, type FrameParts } from "./frame";
import type { Painter } from "./painter";
import { endAt, paintWaitArrows } from "./wait_arrows";

const step = (position: number, time: number): Step => ({
  position,
  row: 10 + position,
  iteration: 0,
  time,
  issue: time + 5,
  end: time + 9,
});
const link = (producer: Step, wait: Step): Link => ({ producer, wait, counter: "vmcnt" });

/** A pixel per cycle, from cycle 1000 on; labels are 50 pixels wide. */
const frame = new Frame({
  window: { begin: 1000, end: 1400 },
  width: 450,
  height: 300,
  gutter: 50,
  top: 20,
} as FrameParts);

function drawn(place: { y: number; height: number }, links: Link[], from: Step) {
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void calls.push([name, ...given]);
  const painter = {
    rect: note("rect"),
    polyline: (points: number[], colour: string) => calls.push(["line", points.slice(0, 2), points.slice(-2), colour]),
    polygon: note("head"),
    text: note("text"),
    clipped: (x: number, y: number, width: number, height: number, inside: () => void) => {
      calls.push(["clipped", x, y, width, height]);
      inside();
    },
  };
  const ends = paintWaitArrows(painter as unknown as Painter, frame, { place, links, from, colour: "#ff7ae0" });
  return { calls, ends };
}

describe("arrows from what was awaited to the wait", () => {
  const [load, wait] = [step(1, 1095), step(7, 1300)];
  it("start where the load was issued and end at the wait, above a track that has room there", () => {
    const { calls, ends } = drawn({ y: 100, height: 12 }, [link(load, wait)], wait);
    expect(calls).toEqual([
      ["clipped", 50, 20, 400, 280],
      ["line", [150, 100], [350, 100], "#ff7ae0"],
      ["rect", 147.5, 97.5, 5, 5, "#ff7ae0"],
      ["head", [350, 100, 346.4, 94, 353.6, 94], "#ff7ae0"],
    ]);
    expect(ends.map((end) => end.step)).toEqual([load]); // the wait itself is where one is already
    expect(endAt(ends, 152, 96)).toBe(load);
    expect(endAt(ends, 170, 96)).toBeUndefined();
  });
  it("run below the uppermost tracks", () => {
    const { calls, ends } = drawn({ y: 30, height: 12 }, [link(load, wait)], load);
    expect(calls[1]).toEqual(["line", [150, 42], [350, 42], "#ff7ae0"]);
    expect(calls[3]).toEqual(["head", [350, 42, 346.4, 48, 353.6, 48], "#ff7ae0"]);
    expect(ends.map((end) => end.step)).toEqual([wait]);
  });
  it("leave at the edge, with a label that leads to the nearest one off the screen", () => {
    const [far, farther] = [step(1, 900), step(0, 500)];
    const { calls, ends } = drawn({ y: 100, height: 12 }, [link(far, wait), link(farther, wait)], wait);
    const lines = calls.filter(([name]) => name === "line");
    expect(lines.map(([, start]) => start)).toEqual([
      [51, 88],
      [51, 82],
    ]);
    expect(calls.find(([name]) => name === "text")?.slice(1, 4)).toEqual([56, 84, "◂ 2 rows"]);
    expect(endAt(ends, 60, 84)).toBe(far);
    const right = drawn({ y: 100, height: 12 }, [link(load, step(9, 2000))], load);
    expect(right.calls.find(([name]) => name === "text")?.[3]).toBe("row 19 ▸");
  });
  it("are not drawn for a track that is not on screen", () => {
    expect(drawn({ y: -40, height: 12 }, [link(load, wait)], wait)).toEqual({ calls: [], ends: [] });
    expect(drawn({ y: 400, height: 12 }, [link(load, wait)], wait).ends).toEqual([]);
  });
});
