import { describe, expect, it } from "vitest";
import { ANY_LETTERS, type TextRoom, textWidth } from "./widths";

const width = (change: Partial<TextRoom>) =>
  textWidth({ needed: 700, usual: 430, beside: [150, 220, 300], room: 1200, ...change }, ANY_LETTERS);

describe("the width of the instruction", () => {
  it("is that of the longest text where there is room for the figures, too", () => {
    expect(width({})).toBe(700);
    expect(width({ room: 900 })).toBe(596);
  });

  it("leaves room for figures exactly, so that none is cut", () => {
    expect(width({ room: 700 })).toBe(396); // all three, the text a little shorter
    expect(width({ room: 600 })).toBe(358); // two
    expect(width({ room: 500 })).toBe(328); // one
  });

  it("shows something in any case, and nothing but the texts", () => {
    expect(width({ room: 200 })).toBe(24 * ANY_LETTERS.mono);
    expect(width({ needed: 90, usual: 80, room: 200 })).toBe(90);
  });
});
