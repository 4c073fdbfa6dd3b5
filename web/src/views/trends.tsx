// How a quantity of a store of captures went on: its picture, its changes, and what the last one came from.
import { signal } from "@preact/signals";
import { json } from "../data/ask";
import { current, overview, type StoreOverview } from "../model/document";
import { useAnswer } from "../model/loaded";
import { theme } from "../model/settings";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { type Block, Blocks } from "../widgets/blocks";
import { Definition } from "../widgets/cards";
import "./trends.css";

interface TrendAnswer {
  /** The same picture as `wavewright store trend -o`. */
  picture: string;
  headline: string;
  blocks: Block[];
  definition: string;
}

/** The series that was chosen last, by the number of the document. */
const chosen = signal<Record<number, number>>({});

function Trends() {
  const { series } = overview.value as StoreOverview;
  const number = chosen.value[current.value] ?? 0;
  if (!series.length) return <Nothing>No undamaged capture of this store has a quantity to follow.</Nothing>;
  return (
    <div class="view">
      <div class="toolbar">
        <label>
          Quantity{" "}
          <select
            value={number}
            onChange={(event) => {
              chosen.value = { ...chosen.value, [current.value]: Number(event.currentTarget.value) };
            }}
          >
            {series.map(({ title, capture_count: count }, n) => (
              <option key={n} value={n}>
                {title} ({count})
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="scroll">
        <Trend key={number} series={number} />
      </div>
    </div>
  );
}

function Trend({ series }: { series: number }) {
  const asked = { series, theme: theme.value };
  const answer = useAnswer(json<TrendAnswer>(current.value, "store_trend", asked));
  return (
    <Answered answer={answer}>
      {({ picture, headline, blocks, definition }) => (
        <>
          <img class="trend-picture" alt={headline} src={`data:image/svg+xml,${encodeURIComponent(picture)}`} />
          <Blocks blocks={blocks} />
          <Definition text={definition} />
        </>
      )}
    </Answered>
  );
}

function Captures() {
  const answer = useAnswer(json<{ blocks: Block[] }>(current.value, "store_captures"));
  return (
    <Answered answer={answer}>
      {({ blocks }) => (
        <div class="view">
          <div class="scroll">
            <Blocks blocks={blocks} />
          </div>
        </div>
      )}
    </Answered>
  );
}

export const trends: View = {
  id: "trends",
  title: "Trends",
  hint: "How did a kernel, a step or the GPU time go on, and where did its level change?",
  about: "store",
  missing: () => "",
  component: Trends,
};

export const storeCaptures: View = {
  id: "store_captures",
  title: "Captures",
  hint: "Which captures are in it, and what did they measure?",
  about: "store",
  missing: () => "",
  component: Captures,
};
