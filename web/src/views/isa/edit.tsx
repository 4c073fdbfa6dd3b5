// What if a row stood elsewhere: it is dragged by its number, or moved with Alt and the arrow keys; where it may stand,
// what is in its way, the waits that follow, and what the edit gains. The server judges and times every edit.
import { useSignal } from "@preact/signals";
import { exact, percent } from "../../base/format";
import type { EditAnswer, EditEditsRow, EditExecutionRow } from "../../data/answers.gen";
import { askJson, json } from "../../data/ask";
import { classMeaning, colourOf } from "../../draw/palette";
import type { Code } from "../../model/code";
import { current, ofDocument } from "../../model/document";
import { answering, useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import { Answered } from "../../widgets/answered";
import { save } from "../../widgets/saving";
import type { Sheet } from "./sheet";

/** Of the question `edit_reach`: analysis/trace/what_if/reach.py. */
interface Reach {
  row: number;
  upper_row: number;
  lower_row: number;
  above_row: number | null;
  above: string;
  below_row: number | null;
  below: string;
  refusal: string;
}

export const isEditing = ofDocument(false);
/** The edit in words, as `wavewright whatif --edit` takes them; empty = none. */
const edit = ofDocument("");
/** A row that the pointer holds, and the row that it is over; null = it holds none. */
const held = ofDocument<{ row: number; over: number } | null>(null);

const reachAnswer = answering(() => {
  const row = selection.value.row;
  return isEditing.value && row !== undefined ? json<Reach>(current.value, "edit_reach", { row }) : null;
});

function reachNow(): Reach | null {
  const answer = reachAnswer.value;
  return isEditing.value && answer.state === "ready" && answer.value?.row === selection.value.row ? answer.value : null;
}

/** How a row of the listing is marked: where the selected one may stand, and what is in its way. */
export function editClass(row: number): string {
  const reach = reachNow();
  if (held.value?.over === row) return "edit-here";
  if (!reach || reach.refusal) return "";
  if (row === reach.above_row || row === reach.below_row) return "edit-blocks";
  return row >= reach.upper_row && row <= reach.lower_row ? "edit-free" : "";
}

/** Pointers on the number of a row take hold of it, while edits are on. */
export function dragOf(row: number) {
  if (!isEditing.value) return {};
  const overOf = (event: PointerEvent) => {
    const line = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>(".isa-list [data-row]");
    return line ? Number(line.dataset.row) : undefined;
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      held.value = { row, over: row };
    },
    onPointerMove: (event: PointerEvent) => {
      const over = held.value ? overOf(event) : undefined;
      if (over === undefined || held.value?.over === over) return;
      held.value = { row, over };
      edit.value = over === row ? "" : `move ${row} before ${over}`;
    },
    onPointerUp: () => {
      held.value = null;
    },
    onPointerCancel: () => {
      held.value = null;
      edit.value = "";
    },
  };
}

/** An edit that moves one row by some places: Alt with an arrow adds to it. */
const MOVED_BY = /^move (\d+) (up|down) (\d+)$/;

/** Alt with an arrow moves the selected row by one place more, Escape takes the edit back; true = it was for edits. */
export function editKey(event: KeyboardEvent): boolean {
  const row = selection.value.row;
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.key === "Escape" && isEditing.value && edit.value) {
    edit.value = "";
    return true;
  }
  if (!event.altKey || by === undefined || row === undefined) return false;
  isEditing.value = true;
  const [, movedRow, way, count] = MOVED_BY.exec(edit.value) ?? [];
  const before = Number(movedRow) === row ? Number(count) * (way === "up" ? -1 : 1) : 0;
  const steps = before + by;
  edit.value = steps ? `move ${row} ${steps < 0 ? "up" : "down"} ${Math.abs(steps)}` : "";
  return true;
}

export function EditToggle() {
  return (
    <button
      type="button"
      aria-pressed={isEditing.value}
      title="What if a row stood elsewhere: drag it by its number, or press Alt and an arrow key"
      onClick={() => {
        isEditing.value = !isEditing.value;
        edit.value = "";
      }}
    >
      Move rows
    </button>
  );
}

export function EditPanel({ sheet }: { sheet: Sheet }) {
  const isAsked = isEditing.value && edit.value !== "";
  const answer = useAnswer(isAsked ? json<EditAnswer>(current.value, "edit", { edit: edit.value }) : null);
  if (!isEditing.value) return null;
  const reach = reachNow();
  return (
    <section class="isa-edit" aria-label="What if">
      <input
        type="text"
        class="mono"
        aria-label="An edit as wavewright whatif --edit takes it"
        placeholder="drag a row by its number, or: lds first; move 214 up 8; waits"
        value={edit.value}
        onChange={(event) => {
          edit.value = event.currentTarget.value.trim();
        }}
      />
      <WhyNot reach={reach} />
      {isAsked ? <Answered answer={answer}>{(value) => <Judged answer={value} code={sheet.code} />}</Answered> : null}
    </section>
  );
}

/** Of the question `edit_assembly`: page/trace/edits.py. */
interface Assembly {
  text: string;
  checked: string;
  command: string;
}

/** The kernel with the edit as assembly: made when it is asked for. */
function Emitted({ edit }: { edit: string }) {
  const emitted = useSignal<Assembly | string>("");
  const ask = async (use: (assembly: Assembly) => Promise<void>) => {
    try {
      const assembly = await askJson<Assembly>(current.value, "edit_assembly", { edit });
      await use(assembly);
      emitted.value = assembly;
    } catch (error) {
      emitted.value = (error as Error).message;
    }
  };
  const value = emitted.value;
  return (
    <div class="isa-emit">
      <button type="button" onClick={() => ask(({ text }) => save("edited", { format: "s", make: () => text }))}>
        Save as assembly
      </button>
      <button type="button" onClick={() => ask(({ text }) => navigator.clipboard.writeText(text))}>
        Copy assembly
      </button>
      {typeof value === "string" ? (
        <span data-emit-problem>{value}</span>
      ) : (
        <p>
          <span data-emitted>{value.checked}</span> <code class="mono">{value.command}</code>
        </p>
      )}
    </div>
  );
}

function WhyNot({ reach }: { reach: Reach | null }) {
  if (!reach) return null;
  if (reach.refusal) return <p data-refusal>{`Row ${reach.row}: ${reach.refusal}`}</p>;
  const ends = [
    reach.above ? `not above ${reach.above_row}: ${reach.above}` : "up to the start of the block",
    reach.below ? `not behind ${reach.below_row}: ${reach.below}` : "down to the end of the block",
  ];
  return (
    <p
      class="faint-text"
      data-reach={`${reach.upper_row} ${reach.lower_row}`}
    >{`Row ${reach.row} by itself: ${ends.join("; ")}`}</p>
  );
}

function Judged({ answer, code }: { answer: EditAnswer; code: Code }) {
  const row = answer.edits.rows[0];
  if (!row) return null;
  const registers =
    row.vgprs === null ? "" : `${row.vgprs} vector registers (${row.vgprs_more ? `+${row.vgprs_more}` : "as before"})`;
  const waves = row.waves_per_simd_limit ? `, ${row.waves_per_simd_limit} waves per SIMD` : "";
  return (
    <>
      <p data-verdict={row.verdict}>{answer.verdict}</p>
      <Ruler row={row} />
      {row.vgprs === null ? null : <Emitted edit={edit.value} key={edit.value} />}
      {registers ? (
        <p class="faint-text">{`${registers}${waves}${row.is_extrapolated ? "; extrapolated: fewer operations are in flight at a wait than in any recorded execution" : ""}`}</p>
      ) : null}
      <Executions rows={answer.execution.rows} code={code} />
      <Changes answer={answer} />
    </>
  );
}

/** The interval around 0; each end says which replay it is of. */
function Ruler({ row }: { row: EditEditsRow }) {
  const { gain_low_share: low, gain_high_share: high, gain_about_share: about } = row;
  if (low === null || high === null || about === null) return null;
  const reach = Math.max(Math.abs(low), Math.abs(high), 0.01) * 1.1;
  const at = (share: number) => 50 + (50 * share) / reach;
  return (
    <div class="isa-ruler" data-low={low} data-high={high}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect x={at(low)} y="2" width={Math.max(0.5, at(high) - at(low))} height="4" />
        <line x1={at(about)} x2={at(about)} y1="1" y2="7" />
        <line class="zero" x1="50" x2="50" y1="0" y2="8" />
      </svg>
      <span>{`${percent(low)} ${row.gain_low_end ?? ""}`}</span>
      <span>{`about ${percent(about)}, latencies typical`}</span>
      <span>{`${percent(high)} ${row.gain_high_end ?? ""}`}</span>
    </div>
  );
}

/** Stall classes whose colours stand for kinds of instructions, by how the kind starts; the last fits all others. */
const CLASSES: [start: string, name: string][] = [
  ["valu", "VALU issue"],
  ["matrix", "matrix pipe busy"],
  ["wait", "wait vector load"],
  ["vmem", "VMEM issue"],
  ["lds", "LDS issue"],
  ["smem", "SMEM issue"],
  ["branch", "branch issue"],
  ["barrier", "barrier"],
  ["nop", "s_nop"],
  ["", "SALU issue"],
];
const classOf = (kind: string) => CLASSES.find(([start]) => kind.startsWith(start))?.[1] ?? "";

/** One execution of the median wave: as recorded, and below it as it would be. */
function Executions({ rows, code }: { rows: EditExecutionRow[]; code: Code }) {
  const most = Math.max(...rows.map((row) => row.end_cycles), 1);
  const lines = [false, true].map((isEdited) => rows.filter((row) => row.is_edited === isEdited));
  if (!rows.length) return null;
  const cycles = (line: EditExecutionRow[]) => exact(line[line.length - 1]?.end_cycles ?? 0);
  return (
    <figure class="isa-ghost">
      <svg viewBox="0 0 1000 26" preserveAspectRatio="none" role="img" aria-label="One execution, recorded and edited">
        {lines.flatMap((line, at) =>
          line.map((row, index) => (
            <rect
              key={`${at} ${index}`}
              x={(1000 * row.begin_cycles) / most}
              y={at * 14}
              width={Math.max(0.4, (1000 * (row.end_cycles - row.begin_cycles)) / most - 0.4)}
              height="12"
              opacity={at ? 0.6 : 1}
              fill={colourOf(classMeaning(classOf(row.row === null ? "wait" : (code.kind[row.row] ?? ""))))}
            >
              <title>{`${row.row ?? ""} ${row.row === null ? "put in" : code.text[row.row]}: ${exact(row.end_cycles - row.begin_cycles)} cycles`}</title>
            </rect>
          )),
        )}
      </svg>
      <figcaption>{`one execution of the median wave: ${cycles(lines[0] ?? [])} cycles recorded, ${cycles(lines[1] ?? [])} with the edit (latencies typical)`}</figcaption>
    </figure>
  );
}

const MOST_CHANGES = 24;

function Changes({ answer }: { answer: EditAnswer }) {
  const changed = answer.listing.rows.filter((row) => row.is_changed || Math.abs(row.moved_by ?? 0) > 1);
  if (!changed.length) return null;
  return (
    <ol class="isa-changes mono">
      {changed.slice(0, MOST_CHANGES).map((row) => (
        <li key={row.place} data-put-in={row.row === null}>
          {row.row === null ? `+ ${row.text}` : `${row.row} ${row.text}`}
        </li>
      ))}
      {changed.length > MOST_CHANGES ? <li>{`and ${exact(changed.length - MOST_CHANGES)} more`}</li> : null}
    </ol>
  );
}
