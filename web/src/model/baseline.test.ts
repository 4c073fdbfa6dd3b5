import { expect, test, vi } from "vitest";
import type { DocumentLine } from "../data/ask";
import { baseline, beforeAndAfter, besideBaseline, chooseBaseline, readBaseline, writtenBaseline } from "./baseline";
import { current, documents, type Overview, overview } from "./document";
import { stored } from "./user_storage";

vi.stubGlobal("document", { documentElement: { dataset: {} } }); // where storing says that it is busy

const line = (number: number, path: string, kind: DocumentLine["kind"] = "run"): DocumentLine => ({
  number,
  label: path,
  path,
  identity: `/${path}`,
  kind,
  is_open: true,
});

function look(number: number, lines: DocumentLine[]): void {
  documents.value = lines;
  current.value = number;
  overview.value = { kind: lines[number]?.kind } as Overview;
}

test("two paths are before and after; dispatches of one path are none", () => {
  const [first, second] = [line(0, "a"), line(1, "b")];
  expect(beforeAndAfter([first, second, line(2, "a")])).toEqual([first, second]);
  expect(beforeAndAfter([first, line(1, "a")])).toBeNull();
  expect(beforeAndAfter([first, second, line(2, "c")])).toBeNull();
});

test("the first of two is the baseline of the second; of another kind, or of three, none is", () => {
  look(1, [line(0, "a"), line(1, "b")]);
  expect([baseline.value, writtenBaseline()]).toEqual([0, ""]);
  look(0, [line(0, "a"), line(1, "b")]);
  expect(baseline.value).toBeNull();
  look(1, [line(0, "a", "trace"), line(1, "b")]);
  expect(baseline.value).toBeNull();
  look(1, [line(0, "a"), line(1, "b"), line(2, "c")]);
  expect(baseline.value).toBeNull();
});

test("an answer about one of two says of which, and leads to the change; of one document it needs neither", () => {
  look(1, [line(0, "before"), line(1, "after")]);
  expect(besideBaseline()).toEqual({ of: "after", base: "before", view: "run_compare" });
  look(0, [line(0, "before"), line(1, "after")]);
  expect(besideBaseline()).toBeNull();
  look(0, [line(0, "alone", "trace")]);
  expect(besideBaseline()).toBeNull();
});

test("a choice stays for other documents, is stored by identity, and stands in the URL", () => {
  const lines = [line(0, "a"), line(1, "b"), line(2, "c")];
  look(1, lines);
  chooseBaseline(2);
  expect([baseline.value, writtenBaseline(), stored("baseline./b")]).toEqual([2, "2", "/c"]);
  expect(stored("baseline of run")).toBe("/c");
  look(0, lines);
  expect(baseline.value).toBe(2);
  look(2, lines);
  expect(baseline.value).toBeNull();
  look(1, lines);
  readBaseline("0");
  expect(baseline.value).toBe(0);
  chooseBaseline(null);
  expect([baseline.value, stored("baseline./b")]).toEqual([null, "none"]);
});
