// What the colours of the listing mean, in the words of the analyses.
import type { StallsAnswer } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { seriesColour } from "../../draw/palette";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { Popup } from "../../widgets/popup";
import type { LegendEntry } from "./bars";
import { isArrows } from "./canvas_column";
import type { Sheet } from "./sheet";
import { CANVAS_MODES, isOneWave } from "./state";

/** Meanings of stall classes by their names: they come with the answer about stalls. */
function useMeanings({ canvas }: Sheet): Map<string, string> {
  const isWanted = canvas === "classes" && traceOverview().instruction_count > 0;
  const answer = useAnswer(isWanted ? json<StallsAnswer>(current.value, "stalls") : null);
  const classes = answer.value.state === "ready" ? answer.value.value.classes.rows : [];
  return new Map(classes.map((each) => [each.class, each.meaning]));
}

/** What the colours of the bars mean, in one line; arrows are explained in the menu. */
export function LegendStrip({ sheet }: { sheet: Sheet }) {
  const meanings = useMeanings(sheet);
  const legend = sheet.bars?.legend ?? [];
  if (!legend.length) return null;
  return (
    <div class="isa-legend">
      {legend.map(({ name, colour, meaning }) => (
        <span key={name} title={meaning ?? meanings.get(name) ?? name}>
          <i style={{ background: colour }} />
          {name}
        </span>
      ))}
      {isOneWave(sheet.mode) && (sheet.canvas === "classes" || sheet.canvas === "memory") ? "over all waves" : ""}
    </div>
  );
}

export function LegendMenu({ sheet }: { sheet: Sheet }) {
  return (
    <Popup text="Legend ▾" name="Legend" hint="What colours, bars and arrows mean">
      {() => <Meanings sheet={sheet} />}
    </Popup>
  );
}

function Meanings({ sheet }: { sheet: Sheet }) {
  const meanings = useMeanings(sheet);
  const [name, hint] = CANVAS_MODES[sheet.canvas];
  const entries: LegendEntry[] = sheet.bars?.legend ?? [];
  return (
    <dl class="isa-meanings">
      <dt>{name}</dt>
      <dd>{hint}</dd>
      {isArrows(sheet.canvas) ? (
        <>
          <dt>
            <i style={{ background: seriesColour(0) }} />
            <i style={{ background: seriesColour(1) }} />
          </dt>
          <dd>One colour and one line per row that arrows lead to; thicker ones were taken or awaited more often</dd>
        </>
      ) : (
        entries.map((entry) => [
          <dt key={`${entry.name} name`} data-legend={entry.name}>
            <i style={{ background: entry.colour }} />
            {entry.name}
          </dt>,
          <dd key={`${entry.name} meaning`}>{entry.meaning ?? meanings.get(entry.name) ?? ""}</dd>,
        ])
      )}
      <dt>
        <i class="of-heat" /> instruction
      </dt>
      <dd>Latency, and idle where that is counted, as a share of that of the costliest row</dd>
      <dt>
        <i class="of-reads" /> <i class="of-writes" /> register
      </dt>
      <dd>Registers under the pointer: where they are read, and where they are written</dd>
      <dt class="never">faint</dt>
      <dd>Rows that were not executed</dd>
    </dl>
  );
}
