// Finding instructions by their text, and leaving out rows that do not matter.
import { exact } from "../../base/format";
import { selectRow } from "../../model/code";
import { selection } from "../../model/selection";
import { Popup } from "../../widgets/popup";
import { executedOnly, hitsOnly, query, stallOver } from "./state";

interface Props {
  /** Rows whose text matches, in order. */
  hits: number[];
  problem: string;
}

function go({ hits }: Props, direction: 1 | -1): void {
  if (!hits.length) return;
  const row = selection.value.row ?? -1;
  const next =
    direction > 0
      ? (hits.find((hit) => hit > row) ?? (hits[0] as number))
      : (hits.findLast((hit) => hit < row) ?? (hits.at(-1) as number));
  selectRow(next);
}

export function Finder(props: Props) {
  return (
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
        if (event.key === "Enter") go(props, event.shiftKey ? -1 : 1);
      }}
    />
  );
}

/** What was found: not beside the field, whose place depends on its width. */
export function Hits(props: Props) {
  const { hits, problem } = props;
  if (!query.value) return null;
  const at = hits.indexOf(selection.value.row ?? -1);
  return (
    <span class="stepper">
      <button type="button" title="Previous (Shift+Enter)" data-find="back" onClick={() => go(props, -1)}>
        ‹
      </button>
      <button type="button" title="Next (Enter)" data-find="on" onClick={() => go(props, 1)}>
        ›
      </button>
      <output data-hits class={problem ? "bad" : ""}>
        {problem || (hits.length ? `${at < 0 ? "–" : exact(at + 1)} of ${exact(hits.length)}` : "not found")}
      </output>
      <Check name="hits" title="List only rows that match" state={hitsOnly} text="only these" />
    </span>
  );
}

export function Filters() {
  const active = Number(executedOnly.value) + Number(stallOver.value > 0);
  return (
    <Popup
      text={active ? `Filters (${active}) ▾` : "Filters ▾"}
      name="Filters"
      hint="Leave out rows that do not matter"
    >
      {() => (
        <div class="popup-list">
          <Check name="executed" title="List only rows that were executed" state={executedOnly} text="only executed" />
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
        </div>
      )}
    </Popup>
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
