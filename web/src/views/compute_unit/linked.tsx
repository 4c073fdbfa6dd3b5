// The links of an execution, to what it waited for and to what waited for it: as a list in the toolbar, as lines of a tooltip.
// A link joins a producer and a wait (model/producers.ts); the execution is one of both, the list shows the other.
import { useSignal } from "@preact/signals";
import { exact } from "../../base/format";
import { selectRow, sourceLineOf, textOf } from "../../model/code";
import { distanceOf, type Link, type Step } from "../../model/producers";
import { reveal } from "../../model/timewindow";

/** Make an execution the selected one, and bring it onto the screen. */
export function goTo(wave: number, step: Step): void {
  selectRow(step.row, { wave, iteration: step.iteration });
  reveal(step.issue);
}

/** Links in a tooltip. */
const MOST_LINES = 3;

/** Lines of a tooltip about the links of an execution and its source line. */
export function linkLines(links: Link[], step: Step): string[] {
  const lines = links.slice(0, MOST_LINES).map((link) => sentence(link, step));
  if (links.length > MOST_LINES) lines.push(`and ${exact(links.length - MOST_LINES)} more`);
  const source = sourceLineOf(step.row);
  return source ? [...lines, `${source.file.split("/").at(-1)}:${source.line}`] : lines;
}

function sentence(link: Link, step: Step): string {
  const { producer, wait } = link;
  const distance = exact(distanceOf(link));
  return wait.position === step.position
    ? `waited for row ${producer.row}: ${textOf(producer.row)}, ${distance} cycles ago`
    : `awaited by row ${wait.row}: ${textOf(wait.row)}, ${distance} cycles later`;
}

export function Linked({ wave, links, step }: { wave: number; links: Link[]; step: Step | null }) {
  const isOpen = useSignal(false);
  const isWait = links.some((link) => link.wait.position === step?.position);
  return (
    <span class="history">
      <button
        type="button"
        class="quiet"
        data-links={links.length}
        aria-expanded={isOpen.value}
        disabled={!links.length}
        title="What the selected execution waited for, or what waited for it: also the arrows in the tracks"
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {isWait || !links.length ? "Waited for" : "Awaited by"} ({links.length})
      </button>
      {isOpen.value && step && links.length ? (
        <ol>
          {links.map((link) => {
            const other = link.wait.position === step.position ? link.producer : link.wait;
            return (
              <li key={other.position}>
                <button
                  type="button"
                  class="quiet"
                  onClick={() => {
                    isOpen.value = false;
                    goTo(wave, other);
                  }}
                >
                  {exact(other.issue)} · {exact(distanceOf(link))} cycles · row {other.row}{" "}
                  <code>{textOf(other.row)}</code>
                </button>
              </li>
            );
          })}
        </ol>
      ) : null}
    </span>
  );
}
