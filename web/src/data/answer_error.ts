// Why there is no answer: what happened, where, what was kept, what to do. The server says the same four things.

export class AnswerError extends Error {
  constructor(
    readonly what: string,
    readonly where = "",
    readonly kept = "",
    readonly advice = "",
    /** Whether the server could not be reached at all. */
    readonly isConnection = false,
  ) {
    super(what);
  }
}

/** The error in a body that the server sent or an exported page holds. */
export function errorIn(body: string): AnswerError {
  const { error } = JSON.parse(body) as { error: Record<string, string> };
  return new AnswerError(error.what ?? "", error.where, error.kept, error.advice);
}
