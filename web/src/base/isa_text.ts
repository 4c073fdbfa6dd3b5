// The text of an AMDGPU instruction: its parts for colouring, and the registers that it writes and reads.

export type TokenKind = "mnemonic" | "register" | "number" | "word" | "comment" | "plain";

export interface Token {
  kind: TokenKind;
  text: string;
}

const PATTERN = new RegExp(
  [
    "(?<comment>(?:;|//).*$)",
    "(?<register>\\b(?:ttmp|[vsa])(?:\\d+|\\[\\d+(?::\\d+)?\\])|\\b(?:vcc|exec|flat_scratch|xnack_mask)(?:_lo|_hi)?\\b|\\b(?:scc|m0|vccz|execz)\\b)",
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
}

const HALVES: Record<string, [number, number]> = { "": [0, 1], _lo: [0, 0], _hi: [1, 1] };

/** `v7`, `s[2:5]`, `vcc_lo`, … ; null for anything else. */
export function registerOf(text: string): Register | null {
  const match = /^(ttmp|[vsa])(?:(\d+)|\[(\d+)(?::(\d+))?\])$/.exec(text);
  if (match) {
    const first = Number(match[2] ?? match[3]);
    return { file: match[1] as string, first, last: Math.max(first, Number(match[4] ?? first)) };
  }
  const special = /^(vcc|exec|flat_scratch|xnack_mask)(_lo|_hi)?$/.exec(text);
  if (special) {
    const [first, last] = HALVES[special[2] ?? ""] as [number, number];
    return { file: special[1] as string, first, last };
  }
  return /^(scc|m0|vccz|execz)$/.test(text) ? { file: text, first: 0, last: 0 } : null;
}

export function overlap(a: Register, b: Register): boolean {
  return a.file === b.file && a.first <= b.last && b.first <= a.last;
}

// Instructions whose first operand is read, not written: stores, comparisons of scalars, branches, waits.
const WRITES_NOTHING =
  /^(s_(cmp|bitcmp|wait|branch|cbranch|barrier|nop|end|setprio|sleep|store|setpc|sendmsg|inst|set_gpr|dcache|icache)|exp\b|export|\w*_store_|ds_(write|store)|tensor_store|global_wb|buffer_wbl2)/;
// Atomics give the old value back only when asked.
const ATOMIC = /^(global|buffer|flat|scratch)_atomic|^ds_(add|sub|min|max|and|or|xor|inc|dec|mskor|cmpst|pk_add)/;
const WRITES_TWO = /_co_|_div_scale_|^v_mad_[ui]64|^v_swap|^v_permlane\d+_swap/;
const RETURNS = /\b(sc0|glc)\b|_rtn|TH_ATOMIC_RETURN/;

export interface Operands {
  written: Register[];
  read: Register[];
}

/** Which registers an instruction writes and reads, as far as its text tells. */
export function operandsOf(text: string): Operands {
  const tokens = tokensOf(text);
  const mnemonic = tokens[0]?.kind === "mnemonic" ? tokens[0].text.trim() : "";
  const registers = tokens.filter((token) => token.kind === "register").map((token) => registerOf(token.text));
  const named = registers.filter((register) => register !== null);
  const toLds = /^(buffer|global)_load/.test(mnemonic) && /\blds\b/.test(text);
  const writesNothing = WRITES_NOTHING.test(mnemonic) || toLds || (ATOMIC.test(mnemonic) && !RETURNS.test(text));
  const count = writesNothing ? 0 : WRITES_TWO.test(mnemonic) ? 2 : 1;
  return { written: named.slice(0, count), read: named.slice(mnemonic.startsWith("v_swap") ? 0 : count) };
}
