// The instructions that were clicked, newest first: a click goes back to one.
import { useSignal } from "@preact/signals";
import { exact } from "../../base/format";
import { selectRow, textOf } from "../../model/code";
import type { Execution } from "../../model/executions";
import { reveal } from "../../model/timewindow";

/** Instructions that are remembered. */
const MOST = 100;

/** The list with one more in front; the same again is not added. */
export function remembered(list: Execution[], next: Execution): Execution[] {
  const last = list[0];
  if (last && last.wave.wave === next.wave.wave && last.position === next.position) return list;
  return [next, ...list].slice(0, MOST);
}

export function History({ list }: { list: Execution[] }) {
  const isOpen = useSignal(false);
  return (
    <span class="history">
      <button
        type="button"
        class="quiet"
        aria-expanded={isOpen.value}
        disabled={!list.length}
        title="Instructions that were clicked, newest first"
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        History ({list.length})
      </button>
      {isOpen.value && list.length ? (
        <ol>
          {list.map((execution) => (
            <li key={`${execution.wave.wave}/${execution.position}`}>
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  isOpen.value = false;
                  selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
                  reveal(execution.time);
                }}
              >
                {exact(execution.time)} · wave {execution.wave.wave} · <code>{textOf(execution.row)}</code>
              </button>
            </li>
          ))}
        </ol>
      ) : null}
    </span>
  );
}
