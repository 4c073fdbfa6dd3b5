import { afterEach, describe, expect, it } from "vitest";
import { amount, byteAmount, counted, exact, numberStyle } from "./format";

describe("a number of things", () => {
  it("is one thing or several", () => {
    expect(counted(1, "dispatches")).toBe("1 dispatch");
    expect(counted(1, "waves")).toBe("1 wave");
    expect(counted(1, "issues")).toBe("1 issue");
    expect(counted(0, "kernels")).toBe("0 kernels");
    expect(counted(1234, "kernels")).toBe("1,234 kernels");
  });
});

describe("numbers as the user wants them", () => {
  afterEach(() => {
    numberStyle.value = { isShort: false, separator: "comma" };
  });

  it("have the separator of the settings", () => {
    expect(exact(1234567)).toBe("1,234,567");
    numberStyle.value = { isShort: false, separator: "none" };
    expect(exact(-1234567)).toBe("-1234567");
    numberStyle.value = { isShort: false, separator: "apostrophe" };
    expect(exact(1234567)).toBe("1’234’567");
  });

  it("are short only where they are large amounts", () => {
    numberStyle.value = { isShort: true, separator: "comma" };
    expect(amount(1234567)).toBe("1.23 M");
    expect(amount(99999)).toBe("99,999");
    expect(amount(null)).toBe("");
    expect(exact(1234567)).toBe("1,234,567");
  });
});

describe("an amount of bytes", () => {
  it("has the unit that fits", () => {
    expect([0, 1023, 1024, 20_000, 5 << 20, 4 * 2 ** 30].map(byteAmount)).toEqual([
      "0 B",
      "1,023 B",
      "1.0 KiB",
      "20 KiB",
      "5.0 MiB",
      "4.0 GiB",
    ]);
  });
});
