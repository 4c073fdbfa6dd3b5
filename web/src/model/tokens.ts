// Names and colours of kinds of instructions from a `token_def.json`, as AMD's viewer reads it from its working directory:
// `tokens` is a list of [name, colour] in the order of the kinds, `asmkeys` says for prefixes of instructions which of
// them they are, and with `keep_original` the usual prefixes of matrix instructions stay.

/** The kinds in the order of AMD's viewer, by the names that this page has for them. */
export const TOKEN_ORDER = [
  "NONE",
  "SMEM",
  "SALU",
  "VMEM",
  "FLAT",
  "LDS",
  "VALU",
  "JUMP",
  "NEXT",
  "IMMED",
  "CONTEXT",
  "MESSAGE",
  "BVH",
  "MATRIX",
];

const MATRIX_PREFIXES = ["v_mfma", "v_smfma", "v_wmma", "v_swmma"];
const MOST_BYTES = 100_000;
const MOST_TOKENS = 64;
const MOST_PREFIXES = 256;
const LONGEST_NAME = 40;

export interface Token {
  name: string;
  /** #rrggbb */
  colour: string;
}

export interface Tokens {
  /** The n-th stands for the n-th kind of TOKEN_ORDER; more than those are only used by prefixes. */
  tokens: Token[];
  /** Beginnings of instructions and the name of their token; the longest that fits counts. */
  prefixes: Record<string, string>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** #rgb, #rrggbb or #aarrggbb as #rrggbb; empty = none of them. */
function colourFrom(value: unknown): string {
  const digits = typeof value === "string" ? (/^#([0-9a-f]+)$/i.exec(value.trim())?.[1] ?? "") : "";
  if (digits.length === 3) return `#${[...digits].map((digit) => digit + digit).join("")}`.toLowerCase();
  return digits.length === 6 || digits.length === 8 ? `#${digits.slice(-6)}`.toLowerCase() : "";
}

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= LONGEST_NAME;

/** What a file says, or why it cannot be used: a sentence for the user. */
export function tokensFrom(text: string): Tokens | string {
  if (text.length > MOST_BYTES) return "The file is larger than 100 KB: it cannot be a token_def.json.";
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return `The file is not JSON: ${error instanceof Error ? error.message : error}`;
  }
  if (!isObject(content) || !Array.isArray(content.tokens))
    return 'There is no list "tokens" in the file. It looks like {"tokens": [["NONE", "#a8a8a8"], ["SMEM", "#f0ff00"], …]}.';
  if (content.tokens.length > MOST_TOKENS) return `There are more than ${MOST_TOKENS} tokens.`;
  const tokens: Token[] = [];
  for (const [number, entry] of content.tokens.entries()) {
    const [name, colour] = Array.isArray(entry) ? entry : [];
    if (!isName(name) || !colourFrom(colour))
      return `Token ${number + 1} of "tokens" is not ["NAME", "#rrggbb"] with a name of at most ${LONGEST_NAME} letters.`;
    tokens.push({ name: name.trim(), colour: colourFrom(colour) });
  }
  return withPrefixes(tokens, content.asmkeys ?? {}, content.keep_original);
}

function withPrefixes(tokens: Token[], keys: unknown, keepsUsual: unknown): Tokens | string {
  if (!isObject(keys)) return '"asmkeys" is not an object like {"v_mfma": "MATRIX"}.';
  const names = new Set(tokens.map((token) => token.name));
  const prefixes: Record<string, string> = {};
  if (keepsUsual !== false && names.has("MATRIX")) for (const prefix of MATRIX_PREFIXES) prefixes[prefix] = "MATRIX";
  const entries = Object.entries(keys);
  if (entries.length > MOST_PREFIXES) return `"asmkeys" has more than ${MOST_PREFIXES} prefixes.`;
  for (const [prefix, name] of entries) {
    if (!/^[a-z0-9_.]{1,40}$/i.test(prefix))
      return `"${prefix.slice(0, 40)}" of "asmkeys" does not start an instruction.`;
    if (!isName(name) || !names.has(name)) return `"asmkeys" gives ${prefix} a token that is not in "tokens".`;
    prefixes[prefix] = name;
  }
  return { tokens, prefixes };
}

/** Whether a stored value is what `tokensFrom` gives. */
export function isTokens(value: unknown): value is Tokens | null {
  if (value === null) return true;
  if (!isObject(value) || !Array.isArray(value.tokens) || !isObject(value.prefixes)) return false;
  const areTokens = value.tokens.every(
    (token) => isObject(token) && isName(token.name) && /^#[0-9a-f]{6}$/.test(String(token.colour)),
  );
  return areTokens && value.tokens.length <= MOST_TOKENS && Object.values(value.prefixes).every(isName);
}

/** What a kind of instruction is called and looks like by these tokens. */
export function tokenOf(tokens: Tokens | null, kind: string): Token | undefined {
  const place = TOKEN_ORDER.indexOf(kind);
  return place < 0 ? undefined : tokens?.tokens[place];
}

/** The token of an instruction by its text; undefined = that of its kind. */
export function tokenOfText(tokens: Tokens | null, text: string): Token | undefined {
  if (!tokens) return undefined;
  let longest = "";
  for (const prefix of Object.keys(tokens.prefixes))
    if (prefix.length > longest.length && text.startsWith(prefix)) longest = prefix;
  const name = tokens.prefixes[longest];
  return name === undefined ? undefined : tokens.tokens.find((token) => token.name === name);
}
