import { describe, expect, it } from "vitest";
import { fittingCount } from "./fitting_bar";

describe("a toolbar of one line", () => {
  it("has all items where there is room for them", () => {
    expect(fittingCount([100, 100, 100], 10, 320)).toBe(3);
    expect(fittingCount([], 10, 0)).toBe(0);
  });

  it("leaves room for the menu where not", () => {
    expect(fittingCount([100, 100, 100], 10, 319)).toBe(2);
    expect(fittingCount([100, 100, 100], 10, 180)).toBe(1);
    expect(fittingCount([100, 100, 100], 10, 80)).toBe(1);
  });
});
