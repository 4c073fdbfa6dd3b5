// A page in a frame of a notebook: where it starts, and the widget around the frame that answers and follows it.
import { errorIn } from "./answer_error";

interface Reply {
  id: number;
  bytes: ArrayBuffer;
  isError: boolean;
}

const asked = typeof document === "undefined" ? undefined : document.getElementById("app")?.dataset;

/** What to show first, as in a URL after `#`: a frame has no URL of its own. */
export const startPlace = asked?.at ?? "";

/** Tells the widget what is on screen; elsewhere nobody listens. */
export function tellPlace(place: string): void {
  if (asked?.live) parent.postMessage({ place }, "*");
}

export class HostSource {
  readonly isExport = false;
  readonly canOpen = false;
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private count = 0;

  private constructor() {
    addEventListener("message", ({ source, data }) => {
      if (source === parent) this.waiting.get((data as Reply).id)?.(data as Reply);
    });
  }

  /** The widget that answers this page; null = there is none. */
  static ofPage(): HostSource | null {
    return asked?.live ? new HostSource() : null;
  }

  async get(path: string): Promise<Uint8Array> {
    const id = ++this.count;
    const reply = await new Promise<Reply>((answer) => {
      this.waiting.set(id, answer);
      parent.postMessage({ id, path }, "*"); // the frame is of no origin, and what it asks is no secret of its widget
    });
    this.waiting.delete(id);
    const bytes = new Uint8Array(reply.bytes);
    if (reply.isError) throw errorIn(new TextDecoder().decode(bytes));
    return bytes;
  }
}
