import { describe, expect, it } from "vitest";
import { column, filtered, fronted, isAlike, read, row, tabs, written } from "./layout";

const layout = row([0.3, tabs("explorer", "summary")], [0.7, column([0.5, tabs("compute_unit")], [0.5, tabs("isa")])]);

describe("layouts", () => {
  it("survive being written and read", () => {
    const text = written(layout);
    expect(text).toBe("r(0.300:t(explorer,summary;0),0.700:c(0.500:t(compute_unit;0),0.500:t(isa;0)))");
    expect(written(read(text) ?? tabs())).toBe(text);
  });

  it("lose the groups that have nothing to show", () => {
    const kept = filtered(layout, (id) => id === "isa" || id === "summary");
    expect(kept && written(kept)).toBe("r(0.300:t(summary;0),0.700:t(isa;0))");
    expect(filtered(layout, () => false)).toBeNull();
  });

  it.each(["", "t", "t(isa", "x(1:t(isa;0))", "r(1:t(isa;0)", "t(isa;0)garbage", `${"r(1:".repeat(50)}t(isa;0)`])(
    "are refused when malformed: %s",
    (text) => expect(read(text)).toBeNull(),
  );
});

describe("layouts compared", () => {
  it("are alike when only pixels differ", () => {
    const close = row(
      [0.305, tabs("explorer", "summary")],
      [0.695, column([0.5, tabs("compute_unit")], [0.5, tabs("isa")])],
    );
    expect(isAlike(layout, close)).toBe(true);
    expect(isAlike(layout, fronted(layout, ["summary"]))).toBe(false);
    expect(isAlike(layout, row([0.4, tabs("explorer", "summary")], [0.6, tabs("isa")]))).toBe(false);
  });

  it("have the later of two views of a group in front", () => {
    expect(written(fronted(tabs("a", "b", "c"), ["b", "c", "x"]))).toBe("t(c,a,b;0)");
  });
});
