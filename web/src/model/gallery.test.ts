import { expect, test } from "vitest";
import type { AnswerError } from "../data/source";
import { type Card, nextOf } from "./gallery";

const facts = { facts: {} } as Card;
const full = { facts: {}, finding: {} } as Card;
const broken = { problem: {} as AnswerError } as Card;
const empty = {} as Card;

const next = (cards: Card[], ...seen: number[]) =>
  nextOf(
    cards.map((_, number) => number),
    new Set(seen),
    (number) => cards[number] as Card,
  );

test("what is seen comes first, its facts before its findings", () => {
  expect(next([empty, facts, empty], 1, 2)).toEqual({ document: 2, part: "facts" });
  expect(next([empty, facts, full], 1, 2)).toEqual({ document: 1, part: "finding" });
});

test("facts of the others follow, but not their findings", () => {
  expect(next([empty, full], 1)).toEqual({ document: 0, part: "facts" });
  expect(next([facts, full], 1)).toBe(null);
});

test("nothing is asked while nobody looks, nor again for what cannot be read", () => {
  expect(next([empty, empty])).toBe(null);
  expect(next([broken, full], 0, 1)).toBe(null);
});
