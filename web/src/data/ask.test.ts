import { beforeEach, expect, test, vi } from "vitest";

const asked: { path: string; stop: AbortSignal; answer: (text: string) => void }[] = [];
vi.mock("./source", () => ({
  CANCELLED: new Error("cancelled"),
  source: {
    get: (path: string, stop: AbortSignal) =>
      new Promise((resolve, reject) => {
        stop?.addEventListener("abort", () => reject(new Error("aborted")));
        asked.push({ path, stop, answer: (text) => resolve(new TextEncoder().encode(text)) });
      }),
  },
}));
vi.stubGlobal("document", { documentElement: { dataset: {} } });

import { askUncached, json, together } from "./ask";

beforeEach(() => {
  asked.length = 0;
});

test("work ends when the last of those who wait for it lets go", () => {
  const question = json<number>(0, "first");
  const holders = [question.held(), question.as(String).held()];
  for (const { answer } of holders) answer.catch(() => {});
  expect(asked.map(({ path }) => path)).toEqual(["0/first"]);
  holders[0]?.release();
  holders[0]?.release(); // once is enough
  expect(asked[0]?.stop.aborted).toBe(false);
  holders[1]?.release();
  expect(asked[0]?.stop.aborted).toBe(true);
  void question.held().answer.catch(() => {});
  expect(asked.length).toBe(2); // what was given up is asked anew
});

test("who cannot let go gets the answer, and what is here is kept", async () => {
  const question = json<number>(0, "second");
  const answer = question.answer();
  question.held().release();
  expect(asked[0]?.stop.aborted).toBe(false);
  asked[0]?.answer("7");
  expect(await answer).toBe(7);
  question.held().release();
  expect(question.peek()).toEqual({ value: 7 });
});

test("several as one let go of each", () => {
  const [one, two] = [json<number>(0, "one"), json<number>(0, "two")];
  const both = together(one, two).held();
  both.answer.catch(() => {});
  const own = two.held();
  both.release();
  expect(asked.map(({ stop }) => stop.aborted)).toEqual([true, false]);
  own.answer.catch(() => {});
});

test("what views ask leaves connections to tiles, and what nobody wants now has no turn", async () => {
  const held = Array.from({ length: 9 }, (_, n) => json<number>(1, `long${n}`).held());
  for (const { answer } of held) answer.catch(() => {});
  const begun = asked.length; // some are still open from before
  expect(begun).toBeLessThanOrEqual(4);
  askUncached(1, "spans", { tile: 0 }).catch(() => {});
  expect(asked.at(-1)?.path).toBe("1/spans?tile=0");
  held[begun]?.release();
  await expect(held[begun]?.answer).rejects.toThrow("cancelled");
  asked[0]?.answer("1");
  await held[0]?.answer;
  await Promise.resolve();
  expect(asked.at(-1)?.path).toBe(`1/long${begun + 1}`);
});
