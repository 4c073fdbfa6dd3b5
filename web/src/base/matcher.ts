// Substring or regular expression, never an exception: a pattern that does not compile says so.

export interface Matcher {
  test(text: string): boolean;
  /** Why the pattern cannot be used; empty when it can. */
  problem: string;
}

/** `/pattern/` or `/pattern/i` is a regular expression, anything else a substring without regard to case. */
export function matcher(query: string): Matcher {
  const asRegex = /^\/(.+)\/(i?)$/.exec(query);
  if (asRegex) {
    try {
      const regex = new RegExp(asRegex[1] ?? "", asRegex[2]);
      return { test: (text) => regex.test(text), problem: "" };
    } catch (error) {
      return { test: () => false, problem: `not a regular expression: ${(error as Error).message}` };
    }
  }
  const needle = query.toLowerCase();
  return { test: (text) => needle !== "" && text.toLowerCase().includes(needle), problem: "" };
}
