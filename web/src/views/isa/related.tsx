// Rows that arrows connect with the selected one: what a wait waited for, the waits for a memory instruction, where a
// branch led. A click follows the arrow.
import { exact, short } from "../../base/format";
import { selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import type { Arrow } from "./arrows";
import type { Sheet } from "./sheet";
import { isOneWave } from "./state";

interface Group {
  title: string;
  kind: string;
  arrows: Arrow[];
  /** The row at the other end of an arrow. */
  other: (arrow: Arrow) => number;
}

const fromOf = ({ from }: Arrow) => from;
const toOf = ({ to }: Arrow) => to;

/** The arrows that begin or end at a row, by what they mean. */
function groupsOf({ waits, branches }: Sheet, row: number): Group[] {
  const costliestFirst = (a: Arrow, b: Arrow) => b.stall - a.stall || b.count - a.count;
  const starting = (arrows: Arrow[]) => arrows.filter(({ from }) => from === row);
  const ending = (arrows: Arrow[]) => arrows.filter(({ to }) => to === row);
  const groups: Group[] = [
    { title: "waited for", kind: "producer", arrows: ending(waits).sort(costliestFirst), other: fromOf },
    { title: "awaited by", kind: "wait", arrows: starting(waits).sort(costliestFirst), other: toOf },
    { title: "jumped to", kind: "target", arrows: starting(branches), other: toOf },
    { title: "reached from", kind: "origin", arrows: ending(branches), other: fromOf },
  ];
  return groups.filter(({ arrows }) => arrows.length);
}

export function Related({ sheet }: { sheet: Sheet }) {
  const row = selection.value.row;
  if (row === undefined) return null;
  const groups = groupsOf(sheet, row);
  if (!groups.length) return null;
  const stallHint = isOneWave(sheet.mode)
    ? "Stall of the executions of the wait in which this was awaited"
    : "Stall of the executions of the wait that this certainly ended";
  return (
    <div class="isa-related">
      {groups.map(({ title, arrows, other, kind }) => (
        <table key={title}>
          <thead>
            <tr>
              <th>
                Row {row} {title}
              </th>
              <th title="How often">times</th>
              {arrows[0]?.counter ? (
                <>
                  <th>counter</th>
                  <th title={stallHint}>stall</th>
                  <th title="Mean number of cycles from its issue to the first attempt of the wait">cycles ahead</th>
                  <th title="Mean number of instructions of the wave from it to the wait">instr. ahead</th>
                  <th title="Mean number of cycles from its issue to the end of the wait">latency</th>
                </>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {arrows.map((arrow) => {
              const target = other(arrow);
              const text = `${target} ${sheet.code.text[target]}`;
              return <ArrowRow key={`${target} ${arrow.counter}`} {...{ arrow, kind, target, text }} />;
            })}
          </tbody>
        </table>
      ))}
    </div>
  );
}

function ArrowRow({ arrow, kind, target, text }: { arrow: Arrow; kind: string; target: number; text: string }) {
  return (
    <tr
      data-related={kind}
      data-row={target}
      onPointerEnter={() => {
        preview.value = { row: target };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
    >
      <td>
        <button type="button" class="link mono" onClick={() => selectRow(target)}>
          {text}
        </button>
      </td>
      <td>{exact(arrow.count)}</td>
      {arrow.counter ? (
        <>
          <td>{arrow.counter}</td>
          <td>{exact(Math.round(arrow.stall))}</td>
          <td>{short(Math.round(arrow.distanceCycles))}</td>
          <td>{short(Math.round(arrow.distanceInstructions))}</td>
          <td>{short(Math.round(arrow.latency))}</td>
        </>
      ) : null}
    </tr>
  );
}
