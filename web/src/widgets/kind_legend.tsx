// The colours of a timeline and what they mean: a line of names, and all of them with their definitions in a list.
import { nameOfKind } from "../draw/palette";
import { type SpanStyle, spanColour } from "../draw/timeline_spans";
import type { Layer } from "../model/layers";
import { Popup } from "./popup";

export interface LegendEntry {
  kind: number;
  name: string;
  colour: string;
  meaning: string;
  /** What it is when it is not a kind that can be lit up. */
  isFixed?: boolean;
}

/** The kinds of a layer, but those that say nothing. */
export function entriesOf(layer: Layer, style: SpanStyle = {}): LegendEntry[] {
  return layer.kinds
    .filter(({ name }) => name !== "NONE" && name !== "UNFINISHED")
    .map(({ kind, name, meaning }) => ({
      kind,
      name: nameOfKind(name),
      colour: spanColour(layer, kind, style),
      meaning: meaning ?? "",
    }));
}

interface Props {
  /** What has these colours: "Kinds of instructions". */
  label: string;
  entries: LegendEntry[];
  onKind?: (kind: number) => void;
  chosen?: number | undefined;
}

const MOST = 24;

export function KindLegend({ label, entries, onKind, chosen }: Props) {
  const shown = entries.slice(0, MOST);
  const swatch = ({ colour }: LegendEntry) => <i style={{ background: colour }} />;
  const hintOf = ({ name, meaning, isFixed }: LegendEntry) =>
    `${meaning ? `${name}: ${meaning}` : name}${onKind && !isFixed ? "\nClick: only this one in full colour" : ""}`;
  return (
    <span class="kind-legend" role="group" aria-label={label}>
      <span class="kinds">
        {shown.map((entry) =>
          onKind && !entry.isFixed ? (
            <button
              type="button"
              class={`quiet${entry.kind === chosen ? " selected" : ""}`}
              key={entry.kind}
              title={hintOf(entry)}
              data-kind={entry.kind}
              aria-pressed={entry.kind === chosen}
              onClick={() => onKind(entry.kind)}
            >
              {swatch(entry)}
              {entry.name}
            </button>
          ) : (
            <span key={`${entry.kind}${entry.name}`} title={hintOf(entry)}>
              {swatch(entry)}
              {entry.name}
            </span>
          ),
        )}
        {entries.length > MOST ? <span>and {entries.length - MOST} more</span> : null}
      </span>
      <Popup text="Legend ▾" name="Legend" hint={`${label}: what they mean`}>
        {() => (
          <dl class="legend-list">
            {entries.map((entry) => (
              <div key={`${entry.kind}${entry.name}`}>
                <dt>
                  {swatch(entry)}
                  {entry.name}
                </dt>
                <dd>{entry.meaning}</dd>
              </div>
            ))}
          </dl>
        )}
      </Popup>
    </span>
  );
}
