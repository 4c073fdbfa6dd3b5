// Finding instructions by their text, and leaving out rows that do not matter.
import { exact } from "../../base/format";
import { selectRow } from "../../model/code";
import { selection } from "../../model/selection";
import { Menu } from "./menu";
import { executedOnly, hitsOnly, inRange, query, stallOver } from "./state";

interface Props {
  /** Rows whose text matches, in order. */
  hits: number[];
  problem: string;
  hasCosts: boolean;
}

export function Finder({ hits, problem, hasCosts }: Props) {
  const row = selection.value.row ?? -1;
  const at = hits.indexOf(row);
  const go = (direction: 1 | -1) => {
    if (!hits.length) return;
    const next =
      direction > 0
        ? (hits.find((hit) => hit > row) ?? (hits[0] as number))
        : (hits.findLast((hit) => hit < row) ?? (hits.at(-1) as number));
    selectRow(next);
  };
  const range = selection.value.range;
  const active = Number(executedOnly.value) + Number(stallOver.value > 0);
  return (
    <span class="group">
      <input
        type="search"
        class="find"
        placeholder="find, or /regex/"
        aria-label="Find in the instructions"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
        }}
      />
      {query.value ? (
        <>
          <button type="button" title="Previous (Shift+Enter)" data-find="back" onClick={() => go(-1)}>
            ‹
          </button>
          <button type="button" title="Next (Enter)" data-find="on" onClick={() => go(1)}>
            ›
          </button>
          <output data-hits class={problem ? "bad" : ""}>
            {problem || (hits.length ? `${at < 0 ? "–" : exact(at + 1)} of ${exact(hits.length)}` : "not found")}
          </output>
          <Check name="hits" title="List only rows that match" state={hitsOnly} text="only these" />
        </>
      ) : null}
      {hasCosts && range ? (
        <Check
          name="range"
          state={inRange}
          text="only the selected time"
          title={`Costs of instructions first tried between ${exact(range.begin)} and ${exact(range.end)}, over all waves`}
        />
      ) : null}
      {hasCosts ? (
        <Menu name={active ? `Filters (${active})` : "Filters"} hint="Leave out rows that do not matter">
          {() => (
            <>
              <Check
                name="executed"
                title="List only rows that were executed"
                state={executedOnly}
                text="only executed"
              />
              <label title="List only rows with at least this share of all stall; 0 = all rows">
                stall at least
                <input
                  type="number"
                  min={0}
                  max={100}
                  step={0.1}
                  data-filter="stall"
                  value={stallOver.value}
                  onChange={(event) => {
                    stallOver.value = Math.max(0, Number(event.currentTarget.value) || 0);
                  }}
                />
                % of all
              </label>
            </>
          )}
        </Menu>
      ) : null}
    </span>
  );
}

interface CheckProps {
  name: string;
  title: string;
  text: string;
  state: { value: boolean };
}

function Check({ name, title, text, state }: CheckProps) {
  return (
    <label title={title}>
      <input
        type="checkbox"
        data-filter={name}
        checked={state.value}
        onChange={() => {
          state.value = !state.value;
        }}
      />
      {text}
    </label>
  );
}
