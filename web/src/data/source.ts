// Where answers come from: the local server, the page's own file when it was exported, or a widget of a notebook.
import { AnswerError, errorIn } from "./answer_error";
import { EmbeddedSource } from "./embedded";
import { HostSource } from "./host";

export { AnswerError };

export interface AnswerSource {
  /** Whether the page was exported: some questions have no answer then, and notes cannot be saved beside the trace. */
  readonly isExport: boolean;
  /** Of an exported page: what tells it from other exports. */
  readonly identity?: string;
  /** Whether more can be opened: a server takes what is dropped on the page. */
  readonly canOpen: boolean;
  /** The bytes of `documents` or `<number>/<question>?<parameters>`. */
  get(path: string, stop?: AbortSignal): Promise<Uint8Array>;
}

/** What is asked no longer: the server stops its work on it. */
export const CANCELLED = new AnswerError("cancelled");

class ServerSource implements AnswerSource {
  readonly isExport = false;
  readonly canOpen = true;

  async get(path: string, stop?: AbortSignal): Promise<Uint8Array> {
    let response: Response;
    let body: ArrayBuffer;
    try {
      response = await fetch(`api/${path}`, stop ? { signal: stop } : {});
      body = await response.arrayBuffer(); // which fails, too, when the server ends in the middle of it
    } catch {
      if (stop?.aborted) throw CANCELLED;
      throw new AnswerError("the server does not answer", {
        kept: "what is on screen stays",
        advice:
          "if it was stopped, start `wavewright open` again and open the URL that it prints; otherwise this page reconnects by itself",
        isConnection: true,
      });
    }
    if (!response.ok) throw problem(response.status, new TextDecoder().decode(body));
    return new Uint8Array(body);
  }
}

function problem(status: number, body: string): AnswerError {
  try {
    return errorIn(body);
  } catch {
    return new AnswerError(`the server answered with status ${status}`);
  }
}

export const source: AnswerSource = EmbeddedSource.ofPage() ?? HostSource.ofPage() ?? new ServerSource();
