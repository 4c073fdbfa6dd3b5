// The text of an AMDGPU instruction: its parts for colouring, and which of its registers are results.

export type TokenKind = "mnemonic" | "register" | "number" | "word" | "comment" | "plain";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** Registers as disassembly writes them: `v7`, `v7.l`, `s[2:5]`, `ttmp11`; those of two halves; others. */
const REGISTER = [
  "\\b(?:ttmp|[vsa])(?:\\d+(?:\\.[lh]\\b)?|\\[\\d+(?::\\d+)?\\])",
  "\\b(?:vcc|exec|flat_scratch|xnack_mask)(?:_lo|_hi)?\\b",
  "\\b(?:scc|m0|vccz|execz)\\b",
].join("|");

/** What follows the mnemonic: the first that fits counts, so registers come before the words and numbers that they look like. */
const PATTERN = new RegExp(
  [
    "(?<comment>(?:;|//).*$)",
    `(?<register>${REGISTER})`,
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
  /** Of a register that holds two 16-bit values: the low one (`l`) or the high one (`h`). */
  half?: string;
}

/** First and last 32-bit register of a special one that has two of them, by its ending. */
const HALVES: Record<string, [first: number, last: number]> = { "": [0, 1], _lo: [0, 0], _hi: [1, 1] };

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

/** Whether two texts name a register in common. */
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
  const notFound = [...written];
  const isDual = tokens.some(({ text }) => text.includes("::"));
  let mayBeResult = true;
  tokens.forEach(({ kind, text }, place) => {
    if (kind !== "register") {
      if (text.includes("::")) mayBeResult = true; // the second half starts
      return;
    }
    const register = registerOf(text);
    const at = mayBeResult && register ? notFound.findIndex((other) => isSame(register, other)) : -1;
    if (at >= 0) {
      notFound.splice(at, 1);
      results.add(place);
    }
    mayBeResult = at >= 0 && !isDual; // once a register is an operand, the next ones are; a half has one result
  });
  return results;
}

function isSame(a: Register, b: Register): boolean {
  return a.file === b.file && a.first === b.first && a.last === b.last && a.half === b.half;
}

/** The registers that a text names. */
export function namedRegisters(text: string): Register[] {
  return [...text.matchAll(NAMED)].map(([name]) => registerOf(name)).filter((register) => register !== null);
}

const NAMED = new RegExp(REGISTER, "g");
