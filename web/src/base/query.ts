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

export function meaningOf(typed: string): Meaning {
  const scope = SCOPES[typed.trimStart()[0] ?? ""] ?? "all";
  const text = (scope === "all" ? typed : typed.trimStart().slice(1)).trim();
  const meaning: Meaning = { scope, text };
  const number = countFrom(text);
  if (number !== undefined) meaning.number = number;
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) meaning.address = text.toLowerCase();
  else if (/^(?=.*[a-f])(?=.*\d)[0-9a-f]{3,16}$/i.test(text)) meaning.address = `0x${text.toLowerCase()}`;
  const worded = /^([a-z]+)\s*#?\s*([\d,_]+)$/i.exec(text);
  const [word, count] = [WORDS[worded?.[1]?.toLowerCase() ?? ""], countFrom(worded?.[2] ?? "")];
  if (word && count !== undefined) meaning[word] = count;
  const time = /^([\d.,_]{1,20})\s*(ns|us|µs|ms|s)$/.exec(text);
  const value = Number(time?.[1]?.replace(/[,_]/g, ""));
  if (time && Number.isFinite(value)) meaning.nanoseconds = value * (UNITS[time[2] ?? ""] ?? 1);
  const place = /^(.*[^\d:\s].*):(\d{1,7})$/.exec(text);
  if (place) meaning.place = { file: place[1] as string, line: Number(place[2]) };
  return meaning;
}

/** How well a name fits what was typed: 1 the same, 2 starts with it, 3 a word does, 4 has it; 0 = not at all. */
export function fitOf(name: string, typed: string): number {
  const [whole, part] = [name.toLowerCase(), typed.toLowerCase()];
  const at = part ? whole.indexOf(part) : -1;
  if (at < 0) return 0;
  if (at === 0) return whole.length === part.length ? 1 : 2;
  for (let next = at; next >= 0; next = whole.indexOf(part, next + 1))
    if (!/[\p{L}\p{N}]/u.test(whole[next - 1] as string)) return 3;
  return 4;
}
