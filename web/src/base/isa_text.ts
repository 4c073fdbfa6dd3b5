// The text of an AMDGPU instruction: its parts for colouring, and which of its registers are results.

export type TokenKind = "mnemonic" | "register" | "number" | "word" | "comment" | "plain";

export interface Token {
  kind: TokenKind;
  text: string;
}

const PATTERN = new RegExp(
  [
    "(?<comment>(?:;|//).*$)",
    "(?<register>\\b(?:ttmp|[vsa])(?:\\d+(?:\\.[lh]\\b)?|\\[\\d+(?::\\d+)?\\])|\\b(?:vcc|exec|flat_scratch|xnack_mask)(?:_lo|_hi)?\\b|\\b(?:scc|m0|vccz|execz)\\b)",
    "(?<number>-?\\b0x[0-9a-fA-F]+\\b|-?\\b\\d+(?:\\.\\d+)?\\b)",
    "(?<word>[A-Za-z_][\\w.]*)",
    "(?<plain>[^A-Za-z_0-9;/-]+|.)",
  ].join("|"),
  "g",
);

/** The parts of an instruction, together the whole text. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const mnemonic = /^\s*[A-Za-z_][\w.]*/.exec(text)?.[0] ?? "";
  if (mnemonic) tokens.push({ kind: "mnemonic", text: mnemonic });
  for (const match of text.slice(mnemonic.length).matchAll(PATTERN)) {
    const kind = (Object.keys(match.groups ?? {}).find((name) => match.groups?.[name] !== undefined) ??
      "plain") as TokenKind;
    const last = tokens.at(-1);
    if (kind === "plain" && last?.kind === "plain") last.text += match[0];
    else tokens.push({ kind, text: match[0] });
  }
  return tokens;
}

/** Registers `first` to `last` of one file; special registers are a file of their own. */
export interface Register {
  file: string;
  first: number;
  last: number;
  /** Of a register that holds two values: the low or the high one. */
  half?: string;
}

const HALVES: Record<string, [number, number]> = { "": [0, 1], _lo: [0, 0], _hi: [1, 1] };

/** `v7`, `v7.l`, `s[2:5]`, `vcc_lo`, … ; null for anything else. */
export function registerOf(text: string): Register | null {
  const match = /^(ttmp|[vsa])(?:(\d+)(?:\.([lh]))?|\[(\d+)(?::(\d+))?\])$/.exec(text);
  if (match) {
    const first = Number(match[2] ?? match[4]);
    const last = Math.max(first, Number(match[5] ?? first));
    return { file: match[1] as string, first, last, ...(match[3] ? { half: match[3] } : {}) };
  }
  const special = /^(vcc|exec|flat_scratch|xnack_mask)(_lo|_hi)?$/.exec(text);
  if (special) {
    const [first, last] = HALVES[special[2] ?? ""] as [number, number];
    return { file: special[1] as string, first, last };
  }
  return /^(scc|m0|mode|vccz|execz)$/.test(text) ? { file: text, first: 0, last: 0 } : null;
}

export function overlap(a: Register, b: Register): boolean {
  const areOtherHalves = a.half !== undefined && b.half !== undefined && a.half !== b.half;
  return a.file === b.file && a.first <= b.last && b.first <= a.last && !areOtherHalves;
}

/** The registers of a list as the code table writes them: `v[4:7] vcc`. */
export function registersOf(list: string): Register[] {
  return list
    .split(" ")
    .map(registerOf)
    .filter((register) => register !== null);
}

/**
 * Which tokens are registers that the instruction writes, from those that it writes by the code table: results come
 * first in a text, and each half of a dual instruction (`::`) has one.
 */
export function resultsOf(tokens: Token[], written: Register[]): Set<number> {
  const results = new Set<number>();
  const left = [...written];
  const isDual = tokens.some(({ text }) => text.includes("::"));
  let isOpen = true;
  tokens.forEach(({ kind, text }, place) => {
    if (kind !== "register") {
      isOpen ||= text.includes("::");
      return;
    }
    const register = registerOf(text);
    const at = isOpen && register ? left.findIndex((other) => isSame(register, other)) : -1;
    if (at >= 0) {
      left.splice(at, 1);
      results.add(place);
    }
    isOpen = at >= 0 && !isDual;
  });
  return results;
}

function isSame(a: Register, b: Register): boolean {
  return a.file === b.file && a.first === b.first && a.last === b.last && a.half === b.half;
}
