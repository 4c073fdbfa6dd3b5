// Small colouring of source text: comments, strings, numbers, words of the language, calls. Every line is read once from
// left to right, so time is linear whatever stands in it; what goes on over line ends is carried as a state.

export type Language = "c" | "python" | "plain";
export type TokenKind = "plain" | "comment" | "string" | "number" | "keyword" | "type" | "call" | "preprocessor";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** What a line begins inside of: 0 nothing, 1 a block comment, 2 and 3 a triple-quoted string with " and '. */
export type LineState = 0 | 1 | 2 | 3;

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

const isWord = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code > 127;
const isDigit = (code: number) => code >= 48 && code <= 57;

/** The tokens of one line that begins in `state`, and the state after it. The tokens joined are the line. */
export function tokenized(
  line: string,
  language: Language,
  state: LineState = 0,
): { tokens: Token[]; state: LineState } {
  if (language === "plain") return { tokens: line ? [{ kind: "plain", text: line }] : [], state: 0 };
  const tokens: Token[] = [];
  let at = 0;
  let after: LineState = state;
  const take = (kind: TokenKind, end: number) => {
    const last = tokens[tokens.length - 1];
    const text = line.slice(at, end);
    if (last && last.kind === kind && kind === "plain") last.text += text;
    else if (text) tokens.push({ kind, text });
    at = end;
  };
  const takeUntil = (kind: TokenKind, closing: string, from: number) => {
    const end = line.indexOf(closing, from);
    if (end >= 0) after = 0;
    take(kind, end < 0 ? line.length : end + closing.length);
  };
  if (state === 1) takeUntil("comment", "*/", 0);
  else if (state) takeUntil("string", state === 2 ? '"""' : "'''", 0);
  else if (language === "c" && /^\s{0,64}#/.test(line))
    take("preprocessor", (/^\s*#\s*\w*/.exec(line) as RegExpExecArray)[0].length);
  while (at < line.length) {
    const code = line.charCodeAt(at);
    const two = line.substr(at, 2);
    if (language === "c" ? two === "//" : line[at] === "#") take("comment", line.length);
    else if (language === "c" && two === "/*") {
      after = 1;
      takeUntil("comment", "*/", at + 2);
    } else if (language === "python" && (line.startsWith('"""', at) || line.startsWith("'''", at))) {
      after = line[at] === '"' ? 2 : 3;
      takeUntil("string", line.substr(at, 3), at + 3);
    } else if (code === 34 || code === 39) take("string", endOfString(line, at));
    else if (isDigit(code)) take("number", endOfNumber(line, at));
    else if (isWord(code)) {
      let end = at + 1;
      while (end < line.length && isWord(line.charCodeAt(end))) end++;
      take(kindOfWord(line.slice(at, end), language, line[end]), end);
    } else take("plain", at + 1);
  }
  return { tokens, state: after };
}

function endOfString(line: string, begin: number): number {
  const quote = line[begin];
  for (let at = begin + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === quote) return at + 1;
  }
  return line.length;
}

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

/** The state in which every line begins. */
export function lineStates(lines: string[], language: Language): Uint8Array {
  const states = new Uint8Array(lines.length);
  if (language === "plain") return states;
  let state: LineState = 0;
  lines.forEach((line, index) => {
    states[index] = state;
    // most lines can neither begin nor end anything that goes on
    if (state || line.includes("/*") || line.includes('"""') || line.includes("'''")) {
      state = tokenized(line, language, state).state;
    }
  });
  return states;
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
