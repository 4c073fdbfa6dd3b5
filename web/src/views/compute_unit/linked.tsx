// What the selected execution waited for, or what waited for it: a list that goes there.
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

const MOST_LINES = 3;

/** Lines of a tooltip about the links of an execution and its source line. */
export function linkLines(links: Link[], at: Step): string[] {
  const lines = links.slice(0, MOST_LINES).map((link) => sentence(link, at));
  if (links.length > MOST_LINES) lines.push(`and ${exact(links.length - MOST_LINES)} more`);
  const source = sourceLineOf(at.row);
  return source ? [...lines, `${source.file.split("/").at(-1)}:${source.line}`] : lines;
}

function sentence(link: Link, at: Step): string {
  const { producer, wait } = link;
  const distance = exact(distanceOf(link));
  return wait.position === at.position
    ? `waited for row ${producer.row}: ${textOf(producer.row)}, ${distance} cycles ago`
    : `awaited by row ${wait.row}: ${textOf(wait.row)}, ${distance} cycles later`;
}

export function Linked({ wave, links, at }: { wave: number; links: Link[]; at: Step | null }) {
  const isOpen = useSignal(false);
  const isWait = links.some((link) => link.wait.position === at?.position);
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
      {isOpen.value && at && links.length ? (
        <ol>
          {links.map((link) => {
            const other = link.wait.position === at.position ? link.producer : link.wait;
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
