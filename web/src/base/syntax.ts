// Small colouring of source text: comments, strings, numbers, words of the language, calls. Every line is read once from
// left to right, so time is linear whatever stands in it; what goes on over line ends is carried as a state. It only
// colours: what a compiler would refuse is coloured as well as it can be.

export type Language = "c" | "python" | "plain";
export type TokenKind = "plain" | "comment" | "string" | "number" | "keyword" | "type" | "call" | "preprocessor";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** What a line starts inside of: code, a block comment of C, or a string of Python with these quotes. */
export type LineState = "code" | "comment" | '"""' | "'''";

const words = (text: string) => new Set(text.split(/\s+/));
const C_WORDS = words(
  `alignas alignof asm auto break case catch class co_await co_return concept const constexpr consteval constinit
  const_cast continue decltype default delete do dynamic_cast else enum explicit export extern false final for friend
  goto if inline mutable namespace new noexcept nullptr operator override private protected public register
  reinterpret_cast requires return sizeof static static_assert static_cast struct switch template this thread_local
  throw true try typedef typeid typename union using virtual volatile while __global__ __device__ __host__ __shared__
  __launch_bounds__ __restrict__ __forceinline__ __constant__`,
);
const C_TYPES = words(
  `bool char char8_t char16_t char32_t double float half int long short signed unsigned void wchar_t size_t int8_t
  int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t float2 float4 int2 int4 uint2 uint4 dim3 __half _Float16`,
);
const PYTHON_WORDS = words(
  `and as assert async await break class continue def del elif else except False finally for from global if import in
  is lambda None nonlocal not or pass raise return True try while with yield match case`,
);
const PYTHON_TYPES = words("int float str bool bytes list dict set tuple object type self cls");

export function languageOf(file: string): Language {
  const name = file.slice(file.lastIndexOf("/") + 1).toLowerCase();
  if (/\.(py|pyi)$/.test(name)) return "python";
  if (/\.(c|cc|cpp|cxx|cu|cuh|h|hh|hip|hpp|hxx|inc|inl|cl)$/.test(name)) return "c";
  return "plain";
}

const isDigit = (code: number) => code >= 48 && code <= 57;
const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
/** What words consist of, by its character code: also `_`, and everything beyond ASCII. */
const isWord = (code: number) => isDigit(code) || isLetter(code) || code === 95 || code > 127;

/** Cuts a line into tokens from left to right; together they are the line. */
class Scanner {
  readonly tokens: Token[] = [];
  at = 0;

  constructor(readonly line: string) {}

  /** A token up to before `end`; plain ones that follow each other are one. */
  take(kind: TokenKind, end: number): void {
    const last = this.tokens.at(-1);
    const text = this.line.slice(this.at, end);
    if (last && kind === "plain" && last.kind === "plain") last.text += text;
    else if (text) this.tokens.push({ kind, text });
    this.at = end;
  }

  /** The rest of a comment or string that may go on in the next line, which is looked for from `from` on; the state after it. */
  takeInside(state: Exclude<LineState, "code">, from = this.at): LineState {
    const closing = state === "comment" ? "*/" : state;
    const end = this.line.indexOf(closing, from);
    this.take(state === "comment" ? "comment" : "string", end < 0 ? this.line.length : end + closing.length);
    return end < 0 ? state : "code";
  }
}

/** The tokens of one line that starts in `state`, and the state after it. The tokens joined are the line. */
export function tokenized(
  line: string,
  language: Language,
  state: LineState = "code",
): { tokens: Token[]; state: LineState } {
  if (language === "plain") return { tokens: line ? [{ kind: "plain", text: line }] : [], state: "code" };
  const scanner = new Scanner(line);
  let after: LineState = "code";
  if (state !== "code") after = scanner.takeInside(state);
  else if (language === "c") takeDirective(scanner);
  while (scanner.at < line.length) after = takeNext(scanner, language);
  return { tokens: scanner.tokens, state: after };
}

/** `#include` and others, which stand first in a line. */
function takeDirective(scanner: Scanner): void {
  if (!/^\s{0,64}#/.test(scanner.line)) return;
  scanner.take("preprocessor", (/^\s*#\s*\w*/.exec(scanner.line) as RegExpExecArray)[0].length);
}

/** The next token of code; the state after it. */
function takeNext(scanner: Scanner, language: "c" | "python"): LineState {
  const { line, at } = scanner;
  const code = line.charCodeAt(at);
  const lineComment = language === "c" ? "//" : "#";
  const quotes = language === "python" ? TRIPLE_QUOTES.find((triple) => line.startsWith(triple, at)) : undefined;
  if (line.startsWith(lineComment, at)) scanner.take("comment", line.length);
  else if (language === "c" && line.startsWith("/*", at)) return scanner.takeInside("comment", at + 2);
  else if (quotes) return scanner.takeInside(quotes, at + quotes.length);
  else if (line[at] === '"' || line[at] === "'") scanner.take("string", endOfString(line, at));
  else if (isDigit(code)) scanner.take("number", endOfNumber(line, at));
  else if (isWord(code)) {
    let end = at + 1;
    while (end < line.length && isWord(line.charCodeAt(end))) end++;
    scanner.take(kindOfWord(line.slice(at, end), language, line[end]), end);
  } else scanner.take("plain", at + 1);
  return "code";
}

const TRIPLE_QUOTES = ['"""', "'''"] as const;

/** One past the closing quote; a string without one ends with the line. */
function endOfString(line: string, begin: number): number {
  const quote = line[begin];
  for (let at = begin + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === quote) return at + 1;
  }
  return line.length;
}

/** One past a number with its point, prefix, suffix and separators: `0x1Fu`, `1.5e3`, `1'000`. */
function endOfNumber(line: string, begin: number): number {
  let at = begin + 1;
  while (
    at < line.length &&
    (isWord(line.charCodeAt(at)) || line[at] === "." || (line[at] === "'" && isDigit(line.charCodeAt(at + 1))))
  )
    at++;
  return at;
}

function kindOfWord(word: string, language: Language, next: string | undefined): TokenKind {
  const [keywords, types] = language === "c" ? [C_WORDS, C_TYPES] : [PYTHON_WORDS, PYTHON_TYPES];
  if (keywords.has(word)) return "keyword";
  if (types.has(word)) return "type";
  return next === "(" ? "call" : "plain";
}

/** The state in which every line starts. */
export function lineStates(lines: string[], language: Language): LineState[] {
  let state: LineState = "code";
  return lines.map((line) => {
    const start = state;
    // most lines can neither begin nor end anything that goes on
    const mayChange = state !== "code" || line.includes("/*") || TRIPLE_QUOTES.some((triple) => line.includes(triple));
    if (mayChange && language !== "plain") state = tokenized(line, language, state).state;
    return start;
  });
}

/** Tabs as spaces up to the next multiple of `width`. */
export function expanded(line: string, width = 4): string {
  if (!line.includes("\t")) return line;
  const parts: string[] = [];
  let column = 0;
  for (const part of line.split("\t")) {
    if (parts.length) {
      const gap = width - (column % width);
      parts.push(" ".repeat(gap));
      column += gap;
    }
    parts.push(part);
    column += part.length;
  }
  return parts.join("");
}
