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

interface Neighbour {
  file: string;
  line: number;
  cycles: number;
}

const MOST = 8;

function neighbours(calls: Columns, sources: Sources, file: number, line: number, inwards: boolean): Neighbour[] {
  const names = inwards
    ? ["file", "line", "inlined_file", "inlined_line"]
    : ["inlined_file", "inlined_line", "file", "line"];
  const [ofFile, ofLine, toFile, toLine] = names.map((name) => calls.numbers(name));
  const [latency, idle] = [calls.numbers("latency_cycles_total"), calls.numbers("idle_cycles_total")];
  const list: Neighbour[] = [];
  for (let row = 0; row < calls.length; row++) {
    if (ofFile?.[row] !== file || ofLine?.[row] !== line) continue;
    const cycles = (latency[row] ?? 0) + (settings.value.withIdle ? (idle[row] ?? 0) : 0);
    list.push({ file: sources.files[toFile?.[row] ?? -1]?.file ?? "", line: toLine?.[row] ?? 0, cycles });
  }
  return list.sort((a, b) => b.cycles - a.cycles);
}

export function Chain({ sources }: { sources: Sources }) {
  const answer = useAnswer(arrow(current.value, "source_calls"));
  const place = selection.value.sourceLine;
  const file = place ? sources.files.find((candidate) => candidate.file === place.file) : undefined;
  if (answer.value.state !== "ready" || !place || !file) return null;
  const calls = answer.value.value;
  const callers = neighbours(calls, sources, file.number, place.line, false);
  const inlined = neighbours(calls, sources, file.number, place.line, true);
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
