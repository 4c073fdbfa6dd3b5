// What a text that was typed into the palette may mean, besides being part of a name.

/** What is looked for, by the first character: everything, commands, views, or rows. */
export type Scope = "all" | "commands" | "views" | "rows";

export interface Meaning {
  scope: Scope;
  /** Without the character of the scope. */
  text: string;
  /** Hexadecimal with 0x, in lower case. */
  address?: string;
  /** A number without a word: of a row, a wave, a cycle. */
  number?: number;
  /** A number with the word that says of what. */
  row?: number;
  wave?: number;
  rank?: number;
  gpu?: number;
  cycle?: number;
  nanoseconds?: number;
  /** file:line */
  place?: { file: string; line: number };
}

const SCOPES: Record<string, Scope> = { ">": "commands", "@": "views", ":": "rows" };
/** Nanoseconds of each unit of time. */
const UNITS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
const WORDS: Record<string, "row" | "wave" | "rank" | "gpu" | "cycle"> = {
  row: "row",
  line: "row",
  wave: "wave",
  rank: "rank",
  gpu: "gpu",
  cycle: "cycle",
  cycles: "cycle",
  time: "cycle",
};

/** 12345, 12,345 and 12_345; undefined = not a number of things. */
function countFrom(text: string): number | undefined {
  return /^\d{1,3}([,_]\d{3})+$|^\d{1,15}$/.test(text) ? Number(text.replace(/[,_]/g, "")) : undefined;
}

/** Everything that a text may mean: one text may be a number, an address and a part of a name. */
export function meaningOf(typed: string): Meaning {
  const scope = SCOPES[typed.trimStart()[0] ?? ""] ?? "all";
  const text = (scope === "all" ? typed : typed.trimStart().slice(1)).trim();
  const meaning: Meaning = { scope, text };
  const number = countFrom(text);
  if (number !== undefined) meaning.number = number;
  const address = addressFrom(text);
  if (address) meaning.address = address;
  const worded = /^([a-z]+)\s*#?\s*([\d,_]+)$/i.exec(text); // "wave 4", "rank #3"
  const [word, count] = [WORDS[worded?.[1]?.toLowerCase() ?? ""], countFrom(worded?.[2] ?? "")];
  if (word && count !== undefined) meaning[word] = count;
  const time = /^([\d.,_]{1,20})\s*(ns|us|µs|ms|s)$/.exec(text);
  const value = Number(time?.[1]?.replace(/[,_]/g, ""));
  if (time && Number.isFinite(value)) meaning.nanoseconds = value * (UNITS[time[2] ?? ""] ?? 1);
  const place = /^(.*[^\d:\s].*):(\d{1,7})$/.exec(text); // not "12:30": a name of a file has more than digits
  if (place) meaning.place = { file: place[1] as string, line: Number(place[2]) };
  return meaning;
}

/** With 0x, or without where letters and digits tell it from a word and from a number; empty = it is no address. */
function addressFrom(text: string): string {
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) return text.toLowerCase();
  return /^(?=.*[a-f])(?=.*\d)[0-9a-f]{3,16}$/i.test(text) ? `0x${text.toLowerCase()}` : "";
}

/** How well something fits what was typed: the smaller, the better. */
export const RANK = {
  /** It was named exactly, as by an address or a number. */
  meant: 0,
  /** Its name is what was typed, */
  same: 1,
  /** starts with it, */
  start: 2,
  /** has a word that starts with it, */
  word: 3,
  /** or has it anywhere. */
  part: 4,
  /** Not its name has it, but what is said about it. */
  loose: 5,
} as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** How well a name fits what was typed, without regard to case; null = not at all. */
export function fitOf(name: string, typed: string): Rank | null {
  const [text, part] = [name.toLowerCase(), typed.toLowerCase()];
  const at = part ? text.indexOf(part) : -1;
  if (at < 0) return null;
  if (at === 0) return text.length === part.length ? RANK.same : RANK.start;
  for (let next = at; next >= 0; next = text.indexOf(part, next + 1)) {
    const isStartOfWord = !/[\p{L}\p{N}]/u.test(text[next - 1] as string);
    if (isStartOfWord) return RANK.word;
  }
  return RANK.part;
}
