import { describe, expect, it } from "vitest";
import { expanded, type LineState, languageOf, lineStates, tokenized } from "./syntax";

const kinds = (line: string, language: "c" | "python", state: LineState = "code") =>
  tokenized(line, language, state).tokens.map((token) => `${token.kind}:${token.text}`);

describe("tokenized", () => {
  it("knows C++ and HIP", () => {
    expect(kinds("__global__ void f(int n) { return g(0x1Fu); } // done", "c")).toEqual([
      "keyword:__global__",
      "plain: ",
      "type:void",
      "plain: ",
      "call:f",
      "plain:(",
      "type:int",
      "plain: n) { ",
      "keyword:return",
      "plain: ",
      "call:g",
      "plain:(",
      "number:0x1Fu",
      "plain:); } ",
      "comment:// done",
    ]);
    expect(kinds('#include "a.h"', "c")).toEqual(["preprocessor:#include", "plain: ", 'string:"a.h"']);
  });

  it("knows Python", () => {
    expect(kinds("def f(x):  # no", "python")).toEqual([
      "keyword:def",
      "plain: ",
      "call:f",
      "plain:(x):  ",
      "comment:# no",
    ]);
    expect(kinds("s = 'it\\'s' + 1.5e3", "python")).toEqual([
      "plain:s = ",
      "string:'it\\'s'",
      "plain: + ",
      "number:1.5e3",
    ]);
  });

  it("carries comments and strings over line ends", () => {
    const lines = ["a /* b", "c", "d */ e", 'x = """', "in '''", '""" + 1'];
    expect([...lineStates(lines.slice(0, 3), "c")]).toEqual(["code", "comment", "comment"]);
    expect([...lineStates(lines.slice(3), "python")]).toEqual(["code", '"""', '"""']);
    expect(kinds("d */ e", "c", "comment")).toEqual(["comment:d */", "plain: e"]);
    expect(kinds('""" + 1', "python", '"""')).toEqual(['string:"""', "plain: + ", "number:1"]);
  });

  it("loses no character of any line", () => {
    const hostile = ['"unclosed', "'\\", "/*/", "\u0000\uffff<img src=x onerror=alert(1)>", "#".repeat(9), "1'", '"""'];
    for (const line of hostile) {
      for (const language of ["c", "python", "plain"] as const) {
        const { tokens } = tokenized(line, language);
        expect(tokens.map((token) => token.text).join("")).toBe(line);
      }
    }
  });

  it("takes linear time on hostile lines", () => {
    // with the square of the length, each of these would take a minute
    for (const piece of ["/*", '"', "'", "\\", "a", "1.", " ", "#", '"""', "(((", "/"]) {
      const line = piece.repeat(100_000 / piece.length);
      const begin = performance.now();
      tokenized(line, "c");
      tokenized(line, "python");
      expect(performance.now() - begin).toBeLessThan(4000);
    }
  }, 60_000);
});

describe("helpers", () => {
  it("tells languages by the end of the name", () => {
    expect(["/a/gemm.hip", "k.PY", "x.cpp", "Makefile", ""].map(languageOf)).toEqual([
      "c",
      "python",
      "c",
      "plain",
      "plain",
    ]);
  });

  it("expands tabs to the next stop", () => {
    expect(expanded("\ta\tbc\td")).toBe("    a   bc  d");
    expect(expanded("no tabs")).toBe("no tabs");
  });
});
