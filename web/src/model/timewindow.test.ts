import { expect, test } from "vitest";
import { gpuWindow } from "./timewindow";

const whole = { begin: 0, end: 4_000 };
const work = (gpu_begin: number | null, gpu_end: number | null) => ({ gpu_begin, gpu_end });

test("of a run whose GPUs work for a small part, that part is shown with its surroundings", () => {
  expect(gpuWindow([work(2_000, 2_080), work(null, null)], whole)).toEqual({ begin: 1_980, end: 2_100 });
  expect(gpuWindow([work(0, 40), work(40, 80)], whole)).toEqual({ begin: 0, end: 100 });
});

test("else everything is shown", () => {
  expect(gpuWindow([work(100, 200), work(900, 1_000)], whole)).toEqual(whole);
  expect(gpuWindow([work(null, null)], whole)).toEqual(whole);
  expect(gpuWindow([], whole)).toEqual(whole);
});
