// What the selected row hangs together with: a wait with what it waited for, a memory instruction with its waits, a
// branch with where it led. A click follows the arrow.
import { exact, short } from "../../base/format";
import { selectRow } from "../../model/code";
import { preview, selection } from "../../model/selection";
import type { Arrow } from "./arrows";
import type { Sheet } from "./sheet";
import { isOneWave } from "./state";

interface Group {
  title: string;
  arrows: Arrow[];
  other: (arrow: Arrow) => number;
  kind: string;
}

export function Related({ sheet }: { sheet: Sheet }) {
  const row = selection.value.row;
  if (row === undefined) return null;
  const { waits, branches, code } = sheet;
  const costliestFirst = (a: Arrow, b: Arrow) => b.stall - a.stall || b.count - a.count;
  const groups = (
    [
      {
        title: "waited for",
        kind: "producer",
        arrows: waits.filter(({ to }) => to === row).sort(costliestFirst),
        other: ({ from }) => from,
      },
      {
        title: "awaited by",
        kind: "wait",
        arrows: waits.filter(({ from }) => from === row).sort(costliestFirst),
        other: ({ to }) => to,
      },
      {
        title: "jumped to",
        kind: "target",
        arrows: branches.filter(({ from }) => from === row),
        other: ({ to }) => to,
      },
      {
        title: "reached from",
        kind: "origin",
        arrows: branches.filter(({ to }) => to === row),
        other: ({ from }) => from,
      },
    ] satisfies Group[]
  ).filter(({ arrows }) => arrows.length);
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
            {arrows.map((arrow) => (
              <tr
                key={`${other(arrow)} ${arrow.counter}`}
                data-related={kind}
                data-row={other(arrow)}
                onPointerEnter={() => {
                  preview.value = { row: other(arrow) };
                }}
                onPointerLeave={() => {
                  preview.value = {};
                }}
              >
                <td>
                  <button type="button" class="link mono" onClick={() => selectRow(other(arrow))}>
                    {other(arrow)} {code.text[other(arrow)]}
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
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}
