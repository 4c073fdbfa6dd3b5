import { expect, test } from "vitest";
import { SvgPainter } from "./painter";

const NASTY = '</text><script>alert(1)</script>&"\u0000\u0007\u001b\ud800\ufffe\u2028\u{1f600}';

test("untrusted names are text of an SVG, and it stays XML", () => {
  const painter = new SvgPainter(100, 50);
  painter.text(1, 2, NASTY, "#000000");
  const svg = painter.toString();
  expect(svg).not.toContain("<script");
  expect(svg).toContain("&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;");
  expect(svg).not.toMatch(/[\p{Cs}\ufffe\uffff]/u);
  expect([...svg].filter((c) => c < " " && c !== "\n")).toEqual([]);
  expect(svg).toContain("\u2028\u{1f600}"); // those may stand in XML
});

test("a text that is cut inside a pair of halves stays XML", () => {
  const painter = new SvgPainter(100, 50);
  for (let width = 10; width < 60; width++) painter.text(1, 2, "\u{1f600}".repeat(20), "#000000", { maxWidth: width });
  expect(painter.toString()).not.toMatch(/\p{Cs}/u);
});

test("rectangles that go backwards are paths, too", () => {
  const painter = new SvgPainter(100, 50);
  painter.rects([10, 0, -4, 2], "#000000");
  expect(painter.toString()).toContain("M10 0h-4v2h4z");
});
