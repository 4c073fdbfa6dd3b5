// Why there is no answer: what happened, where, what was kept, what to do. The server says the same four things.

interface ErrorParts {
  /** The file or place that it is about; empty = none. */
  where?: string | undefined;
  /** What is still there in spite of it; empty = nothing is said. */
  kept?: string | undefined;
  /** What to try; empty = nothing is known. */
  advice?: string | undefined;
  /** Whether the server could not be reached at all. */
  isConnection?: boolean;
}

export class AnswerError extends Error {
  readonly where: string;
  readonly kept: string;
  readonly advice: string;
  readonly isConnection: boolean;

  constructor(
    readonly what: string,
    { where = "", kept = "", advice = "", isConnection = false }: ErrorParts = {},
  ) {
    super(what);
    this.where = where;
    this.kept = kept;
    this.advice = advice;
    this.isConnection = isConnection;
  }
}

/** An error as the server sends it. */
export interface SentError {
  what?: string;
  where?: string;
  kept?: string;
  advice?: string;
}

export function errorFrom({ what = "", ...parts }: SentError): AnswerError {
  return new AnswerError(what, parts);
}

/** The error in a body that the server sent or an exported page holds. */
export function errorIn(body: string): AnswerError {
  return errorFrom((JSON.parse(body) as { error: SentError }).error);
}
