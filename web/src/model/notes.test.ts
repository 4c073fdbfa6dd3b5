import { expect, test } from "vitest";
import { isNote, sound } from "../data/notes";
import { merged, type Note } from "./notes";

const note = (id: string, text: string, more: Partial<Note> = {}): Note => ({
  id,
  text,
  address: "",
  created: "2026-01-01T00:00:00Z",
  ...more,
});

test("of two notes with one id the one that was changed last stays", () => {
  const old = [note("a", "mine"), note("b", "only here")];
  const file = [note("a", "theirs", { change_time: "2026-01-02T00:00:00Z" }), note("c", "only there")];
  expect(merged(old, file).map(({ text }) => text)).toEqual(["theirs", "only here", "only there"]);
  expect(merged(file, old).map(({ text }) => text)).toEqual(["theirs", "only there", "only here"]);
});

test("other values and texts that are too long are left out", () => {
  const bad = [
    null,
    7,
    {},
    { ...note("a", ""), time: "1" },
    note("a", "x".repeat(10_001)),
    note("a", "", { author: "y".repeat(101) }),
  ];
  expect(bad.some(isNote)).toBe(false);
  expect(sound([note("a", "fine"), ...bad])).toEqual([note("a", "fine")]);
  expect(sound(Array.from({ length: 3000 }, (_, n) => note(String(n), ""))).length).toBe(2000);
  expect(sound("notes")).toEqual([]);
});
