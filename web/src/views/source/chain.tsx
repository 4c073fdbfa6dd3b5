// From where the selected line was called, and what was inlined into it.
import { short } from "../../base/format";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { selectSourceLine } from "../../model/code";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview, selection } from "../../model/selection";
import { settings } from "../../model/settings";
import { type Sources, shortLine } from "../../model/source";

/** A line that code was inlined from, or into. */
interface Neighbour {
  file: string;
  line: number;
  /** Of the inlined code. */
  cycles: number;
}

/** Further places are only counted. */
const MOST = 8;

interface Inlining {
  calls: Columns;
  sources: Sources;
  /** Number of the file of the selected line, and the line. */
  file: number;
  line: number;
}

/** The lines from which the selected one was called, costliest first. */
const callersOf = (inlining: Inlining) => neighboursOf(inlining, { own: "inlined_", other: "" });

/** The lines that were inlined into the selected one, costliest first. */
const inlinedInto = (inlining: Inlining) => neighboursOf(inlining, { own: "", other: "inlined_" });

/** A row of `calls` is a call site (`file`, `line`) with what was inlined there (`inlined_file`, `inlined_line`). */
function neighboursOf(
  { calls, sources, file, line }: Inlining,
  prefix: { own: "" | "inlined_"; other: "" | "inlined_" },
): Neighbour[] {
  const [ownFile, ownLine] = [calls.numbers(`${prefix.own}file`), calls.numbers(`${prefix.own}line`)];
  const [otherFile, otherLine] = [calls.numbers(`${prefix.other}file`), calls.numbers(`${prefix.other}line`)];
  const [latency, idle] = [calls.numbers("latency_cycles_total"), calls.numbers("idle_cycles_total")];
  const neighbours: Neighbour[] = [];
  for (let row = 0; row < calls.length; row++) {
    if (ownFile[row] !== file || ownLine[row] !== line) continue;
    const cycles = (latency[row] ?? 0) + (settings.value.withIdle ? (idle[row] ?? 0) : 0);
    neighbours.push({ file: sources.files[otherFile[row] ?? -1]?.file ?? "", line: otherLine[row] ?? 0, cycles });
  }
  return neighbours.sort((a, b) => b.cycles - a.cycles);
}

export function Chain({ sources }: { sources: Sources }) {
  const answer = useAnswer(arrow(current.value, "source_calls"));
  const place = selection.value.sourceLine;
  const file = place ? sources.files.find((candidate) => candidate.file === place.file) : undefined;
  if (answer.value.state !== "ready" || !place || !file) return null;
  const inlining = { calls: answer.value.value, sources, file: file.number, line: place.line };
  const callers = callersOf(inlining);
  const inlined = inlinedInto(inlining);
  if (!callers.length && !inlined.length) return null;
  return (
    <div class="chain">
      <Places title="called from" places={callers} />
      {callers.length ? " › " : ""}
      <strong>{shortLine(place.file, place.line)}</strong>
      {inlined.length ? " › " : ""}
      <Places title="inlined here" places={inlined} />
    </div>
  );
}

function Places({ title, places }: { title: string; places: Neighbour[] }) {
  if (!places.length) return null;
  return (
    <span>
      {title}:
      {places.slice(0, MOST).map((place) => (
        <button
          type="button"
          key={`${place.file}:${place.line}`}
          title={`${place.file}:${place.line}`}
          onClick={() => selectSourceLine({ file: place.file, line: place.line })}
          onPointerEnter={() => {
            preview.value = { sourceLine: { file: place.file, line: place.line } };
          }}
          onPointerLeave={() => {
            preview.value = {};
          }}
        >
          {shortLine(place.file, place.line)} ({short(place.cycles)})
        </button>
      ))}
      {places.length > MOST ? ` and ${places.length - MOST} more` : ""}
    </span>
  );
}
