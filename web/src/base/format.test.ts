import { describe, expect, it } from "vitest";
import { counted } from "./format";

describe("a number of things", () => {
  it("is one thing or several", () => {
    expect(counted(1, "dispatches")).toBe("1 dispatch");
    expect(counted(1, "waves")).toBe("1 wave");
    expect(counted(1, "issues")).toBe("1 issue");
    expect(counted(0, "kernels")).toBe("0 kernels");
    expect(counted(1234, "kernels")).toBe("1,234 kernels");
  });
});
