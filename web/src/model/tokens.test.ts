import { describe, expect, it } from "vitest";
import { isAllowed, SETTINGS } from "./settings";
import { isTokens, type Tokens, tokenOf, tokenOfText, tokensFrom } from "./tokens";

const file = (content: unknown) => tokensFrom(JSON.stringify(content));
const TOKENS = [
  ["NONE", "#a8a8a8"],
  ["SCALAR LOADS", "#F0FF00"],
];

describe("a token_def.json", () => {
  it("names and colours kinds in their order, and prefixes", () => {
    const tokens = file({ tokens: [...TOKENS, ["MINE", "#abc"]], asmkeys: { v_exp: "MINE", v: "NONE" } }) as Tokens;
    expect(tokenOf(tokens, "SMEM")).toEqual({ name: "SCALAR LOADS", colour: "#f0ff00" });
    expect(tokenOf(tokens, "SALU")).toEqual({ name: "MINE", colour: "#aabbcc" });
    expect(tokenOf(tokens, "VALU")).toBeUndefined();
    expect(tokenOfText(tokens, "v_exp_f32 v0, v1")?.name).toBe("MINE");
    expect(tokenOfText(tokens, "v_add_f32 v0, v1")?.name).toBe("NONE");
    expect(tokenOfText(tokens, "s_add_i32 s0, s1")).toBeUndefined();
    expect(isTokens(tokens)).toBe(true);
  });

  it("has the usual prefixes of matrix instructions unless it gives them up", () => {
    const tokens = [["MATRIX", "#112233"]];
    expect(tokenOfText(file({ tokens }) as Tokens, "v_mfma_f32")?.name).toBe("MATRIX");
    expect(tokenOfText(file({ tokens, keep_original: false }) as Tokens, "v_mfma_f32")).toBeUndefined();
  });

  it.each([
    ["", /not JSON/],
    ["[]", /no list "tokens"/],
    ['{"tokens": [["A"]]}', /Token 1/],
    ['{"tokens": [["A", "red"]]}', /Token 1/],
    ['{"tokens": [["A", "#123456"]], "asmkeys": {"v_x": "B"}}', /not in "tokens"/],
    ['{"tokens": [], "asmkeys": []}', /not an object/],
    [`{"tokens": [["${"x".repeat(50)}", "#123456"]]}`, /Token 1/],
    [" ".repeat(200_000), /larger/],
  ])("that is none is refused with a reason: %.60s", (text, reason) => expect(tokensFrom(text)).toMatch(reason));
});

describe("settings", () => {
  it("accept their initial values and refuse others", () => {
    for (const setting of SETTINGS) expect(isAllowed(setting, setting.initial), setting.name).toBe(true);
    for (const setting of SETTINGS) expect(isAllowed(setting, Symbol("none")), setting.name).toBe(false);
    const of = (name: string) => SETTINGS.find((setting) => setting.name === name) ?? expect.fail();
    expect(isAllowed(of("textSize"), 1000)).toBe(false);
    expect(isAllowed(of("colours"), { VALU: "red; }" })).toBe(false);
    expect(isAllowed(of("tokens"), { tokens: [{ name: "A", colour: "url(x)" }], prefixes: {} })).toBe(false);
  });
});
