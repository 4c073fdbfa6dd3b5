// Answers inside the page's own file: an index, and blocks of compressed bytes in base64, unpacked when they are asked for.
import { AnswerError, errorIn } from "./answer_error";

/** Of an answer: the number of its block, where it begins in it and how long it is (in characters), and 1 = it is an error. */
type Entry = [block: number, begin: number, length: number, isError: 0 | 1];

export class EmbeddedSource {
  readonly isExport = true;
  readonly canOpen = false;

  private constructor(
    /** The same in every copy of the file, whatever notes are in it; another export has another one. */
    readonly identity: string,
    private readonly index: Map<string, Entry>,
    private readonly block: (number: number) => string,
  ) {}

  /** The answers in this page; null = there are none, because a server has them. */
  static ofPage(): EmbeddedSource | null {
    const text = (id: string) => (typeof document === "undefined" ? null : document.getElementById(id)?.textContent);
    const index = text("answers");
    return index ? EmbeddedSource.of(index, (number) => text(`answers-${number}`) ?? "") : null;
  }

  static of(index: string, block: (number: number) => string): EmbeddedSource {
    const entries = JSON.parse(new TextDecoder().decode(fromBase64(index))) as Record<string, Entry>;
    return new EmbeddedSource(fingerprint(index), new Map(Object.entries(entries)), block);
  }

  async get(path: string): Promise<Uint8Array> {
    const entry = this.index.get(path);
    if (!entry) {
      throw new AnswerError("this is not part of the exported page", {
        kept: "it holds what was chosen at the export",
        advice: "`wavewright open` shows everything",
      });
    }
    const [block, begin, length, isError] = entry;
    const answer = await unpacked(fromBase64(this.block(block).slice(begin, begin + length)));
    if (isError) throw errorIn(new TextDecoder().decode(answer));
    return answer;
  }
}

/** FNV-1a of a text, in hexadecimal: the index tells exports apart by the lengths of all their answers. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return `${hash.toString(16)}-${text.length.toString(16)}`;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
