// One pattern as a table: phases by banks of LDS, or groups of lanes by cache segments.
import type { ComponentChildren } from "preact";
import { exact } from "../../base/format";
import type { LaneServiceAnswer, LaneServiceBankCellsRow } from "../../data/answers.gen";
import { laneRanges, numberRange } from "./words";

/** A table whose rows have a name, some costs and a cell for each further column. */
interface Grid {
  caption: string;
  /** Titles of the first column, of those of costs, and of the cells. */
  head: string;
  costs: string[];
  columns: string[];
  rows: GridRow[];
}

interface GridRow {
  head: string;
  costs: (string | number)[];
  /** Whether it costs more than it must. */
  isLosing: boolean;
  cells: ComponentChildren[];
}

/** Which lanes want which banks, a row for each phase (lanes that LDS serves together). */
function bankGrid(answer: LaneServiceAnswer, pattern: number): Grid {
  const step = answer.banks_per_column;
  const banks = Array.from({ length: (answer.banks ?? 0) / step }, (_, column) => column * step);
  const rows = answer.phases.rows.filter((phase) => phase.pattern === pattern);
  return {
    caption: "Lanes that want each bank, phase by phase in the order of service",
    head: "Phase",
    costs: ["Cycles"],
    columns: banks.map((bank) => numberRange(bank, step)),
    rows: rows.map(({ phase, cycles }) => {
      const cells = answer.bank_cells.rows.filter((cell) => cell.pattern === pattern && cell.phase === phase);
      return {
        head: String(phase + 1),
        costs: [cycles > 1 ? `1 + ${cycles - 1}` : 1], // without conflicts a phase takes one cycle
        isLosing: cycles > 1,
        cells: banks.map((bank) => {
          const cell = cells.find(({ first_bank }) => first_bank === bank);
          return cell ? <BankCell key={bank} cell={cell} cycles={cycles} /> : <td key={bank} />;
        }),
      };
    }),
  };
}

/** The lanes that want a bank. It serves one dword per cycle: the fullest bank decides the cycles of the phase. */
function BankCell({ cell, cycles }: { cell: LaneServiceBankCellsRow; cycles: number }) {
  const count = cell.dword_count;
  const collision = count === cycles ? "collides most" : "collides";
  return (
    <td class={count > 1 ? collision : "wanted"}>
      {laneRanges(cell.lanes)} {count > 1 ? <b>×{count}</b> : null}
    </td>
  );
}

/** Which segments of the cache are touched, a row for each group of lanes. */
function segmentGrid(answer: LaneServiceAnswer, pattern: number): Grid {
  const size = answer.segment_bytes ?? 1;
  const groups = answer.groups.rows.filter((group) => group.pattern === pattern);
  const most = Math.max(0, ...groups.map((group) => group.segment_count));
  return {
    caption: `Segments of ${size} bytes that each group touches: the lanes, where it starts, how many of its bytes they use`,
    head: "Lanes",
    costs: ["Touched", "Least"],
    columns: Array.from({ length: most }, (_, column) => String(column + 1)),
    rows: groups.map(({ group, lanes, segment_count: touched, least_segment_count: least }) => ({
      head: laneRanges(lanes),
      costs: [touched, least],
      isLosing: touched > least,
      cells: answer.segment_cells.rows
        .filter((cell) => cell.pattern === pattern && cell.group === group)
        .map((cell) => (
          <td key={cell.offset_bytes} class="segment" style={{ "--heat": (1 - cell.used_bytes / size).toFixed(3) }}>
            {laneRanges(cell.lanes)}
            <br />
            <span class="faint">
              +{exact(cell.offset_bytes)}: {cell.used_bytes} B
            </span>
          </td>
        )),
    })),
  };
}

interface Props {
  answer: LaneServiceAnswer;
  pattern: number;
  label: string;
}

export function PatternGrid({ answer, pattern, label }: Props) {
  const grid = (answer.banks === null ? segmentGrid : bankGrid)(answer, pattern);
  const columnWidth = answer.banks_per_column > 1 || answer.banks === null ? 4 : 2.4; // em
  return (
    <div class="lane-grid-box" tabIndex={0} role="region" aria-label={label}>
      <table class="lane-grid" style={{ minWidth: `${12 + grid.columns.length * columnWidth}em` }}>
        <caption>{grid.caption}</caption>
        <thead>
          <tr>
            <th scope="col" class="phase">
              {grid.head}
            </th>
            {grid.costs.map((title) => (
              <th key={title} scope="col" class="cost">
                {title}
              </th>
            ))}
            {grid.columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {grid.rows.map(({ head, costs, isLosing, cells }) => (
            <tr key={head}>
              <th scope="row" class="phase">
                {head}
              </th>
              {costs.map((cost, number) => (
                <td key={grid.costs[number]} class={isLosing && !number ? "lost" : ""}>
                  {cost}
                </td>
              ))}
              {cells}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
