// Instructions by what they are: `v12`, `type:vmem`, `stall>1000`, and words of their texts; all terms must fit.
import { namedRegisters, overlap, type Register, registerOf, registersOf } from "./isa_text";

/** What is asked about one instruction. */
export interface InstructionFacts {
  text: string;
  /** What kind of instruction it is. */
  kind: string;
  /** Registers that it reads or writes although its text does not name them: `vcc exec`. */
  unnamed: string;
  /** A figure of all its executions in cycles, or how many there are; undefined = there are no figures. */
  figure: (name: Figure) => number | undefined;
}

export const FIGURES = ["stall", "latency", "idle", "exposed", "hits"] as const;
export type Figure = (typeof FIGURES)[number];

type Test = (facts: InstructionFacts) => boolean;

export interface InstructionQuery {
  test: Test;
  /** Largest first by this figure; absent = in the order of the code. */
  by?: Figure;
  registers: Register[];
}

/** What `1k` and `2m` multiply with. */
const FACTORS: Record<string, number> = { "": 1, k: 1e3, m: 1e6 };
const COMPARED: Record<string, (a: number, b: number) => boolean> = {
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
};

/** `stall>1000`, `hits<=2k`; null = it is no comparison of a figure. */
function figureTest(term: string): { figure: Figure; test: Test } | null {
  const match = /^([a-z]+)(>=|<=|>|<|=)([\d.,]{1,15})([km]?)$/i.exec(term);
  const figure = FIGURES.find((name) => name === match?.[1]?.toLowerCase());
  const bound = Number(match?.[3]?.replaceAll(",", "")) * (FACTORS[match?.[4]?.toLowerCase() ?? ""] ?? 1);
  const compare = COMPARED[match?.[2] ?? ""];
  if (!figure || !compare || !Number.isFinite(bound)) return null;
  return { figure, test: (facts) => compare(facts.figure(figure) ?? Number.NaN, bound) };
}

/** The registers that an instruction has to do with. */
export function registersIn({ text, unnamed }: Pick<InstructionFacts, "text" | "unnamed">): Register[] {
  return [...namedRegisters(text), ...registersOf(unnamed)];
}

/**
 * What terms ask for; null = none of them is a register, a type or a figure: it is only a text. A word that is a register
 * is always one: `v1` does not find `v12`.
 */
export function instructionQuery(text: string): InstructionQuery | null {
  const tests: Test[] = [];
  const words: string[] = [];
  const registers: Register[] = [];
  let by: Figure | undefined;
  for (const term of text.trim().split(/\s+/)) {
    const register = registerOf(term.toLowerCase());
    const kind = /^(?:type|kind|class):(.+)$/i.exec(term)?.[1]?.toLowerCase();
    const figure = figureTest(term);
    if (register) {
      registers.push(register);
      tests.push((facts) => registersIn(facts).some((other) => overlap(register, other)));
    } else if (kind) tests.push((facts) => facts.kind.toLowerCase().includes(kind));
    else if (figure) {
      by ??= figure.figure;
      tests.push(figure.test);
    } else words.push(term.toLowerCase());
  }
  if (!tests.length) return null;
  const hasWords: Test = ({ text: instruction }) => words.every((word) => instruction.toLowerCase().includes(word));
  const test: Test = (facts) => hasWords(facts) && tests.every((fits) => fits(facts));
  return { test, registers, ...(by ? { by } : {}) };
}
