// One pattern as a table: phases by banks of LDS, or groups of lanes by cache segments.
import { exact } from "../../base/format";
import type { LaneServiceAnswer } from "../../data/answers.gen";
import { laneRanges, span } from "./words";

interface Props {
  answer: LaneServiceAnswer;
  pattern: number;
  label: string;
}

export function BankGrid({ answer, pattern, label }: Props) {
  const step = answer.banks_per_column;
  const banks = Array.from({ length: (answer.banks ?? 0) / step }, (_, column) => column * step);
  const cells = new Map(
    answer.bank_cells.rows
      .filter((cell) => cell.pattern === pattern)
      .map((cell) => [`${cell.phase} ${cell.first_bank}`, cell]),
  );
  const phases = answer.phases.rows.filter((phase) => phase.pattern === pattern);
  return (
    <div class="lane-grid-box" tabIndex={0} role="region" aria-label={label}>
      <table class="lane-grid" style={{ minWidth: `${9 + banks.length * (step > 1 ? 3.4 : 2.4)}em` }}>
        <caption>Lanes that want each bank, phase by phase in the order of service</caption>
        <thead>
          <tr>
            <th scope="col" class="phase">
              Phase
            </th>
            <th scope="col" class="cost" title="Cycles of the phase: 1, and those of bank conflicts">
              Cycles
            </th>
            {banks.map((bank) => (
              <th key={bank} scope="col" title={`Bank${step > 1 ? "s" : ""} ${span(bank, step)}`}>
                {span(bank, step)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {phases.map(({ phase, lanes, cycles }) => (
            <tr key={phase} data-phase={phase} data-cycles={cycles}>
              <th scope="row" class="phase" title={`Lanes ${laneRanges(lanes)}`}>
                {phase + 1}
              </th>
              <td class={cycles > 1 ? "cycles lost" : "cycles"}>{cycles > 1 ? `1 + ${cycles - 1}` : "1"}</td>
              {banks.map((bank) => {
                const cell = cells.get(`${phase} ${bank}`);
                if (!cell) return <td key={bank} />;
                const { dword_count: count } = cell;
                const words = `Banks ${span(bank, step)}: lane${cell.lanes.length > 1 ? "s" : ""} ${laneRanges(cell.lanes)}`;
                const wanted = count > 1 ? `${count} different dwords: ${count - 1} extra cycles` : "one dword";
                return (
                  <td
                    key={bank}
                    class={count > 1 ? (count === cycles ? "collides most" : "collides") : "wanted"}
                    title={`${words} want ${wanted}`}
                  >
                    {laneRanges(cell.lanes)}
                    {count > 1 ? <b> ×{count}</b> : null}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function SegmentGrid({ answer, pattern, label }: Props) {
  const size = answer.segment_bytes ?? 1;
  const cells = answer.segment_cells.rows.filter((cell) => cell.pattern === pattern);
  const groups = answer.groups.rows.filter((group) => group.pattern === pattern);
  const columns = Math.max(0, ...groups.map((group) => group.segment_count));
  return (
    <div class="lane-grid-box" tabIndex={0} role="region" aria-label={label}>
      <table class="lane-grid" style={{ minWidth: `${14 + columns * 5}em` }}>
        <caption>
          Segments of {exact(size)} bytes that each group of lanes touches: the lanes, where it starts, how many of its
          bytes they use
        </caption>
        <thead>
          <tr>
            <th scope="col" class="phase">
              Lanes
            </th>
            <th scope="col" class="cost">
              Touched
            </th>
            <th scope="col" class="cost">
              Least
            </th>
            {Array.from({ length: columns }, (_, column) => (
              <th key={column} scope="col">
                {column + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.group} data-group={group.group} data-segments={group.segment_count}>
              <th scope="row" class="phase">
                {laneRanges(group.lanes)}
              </th>
              <td class={group.segment_count > group.least_segment_count ? "cycles lost" : "cycles"}>
                {group.segment_count}
              </td>
              <td class="cycles">{group.least_segment_count}</td>
              {cells
                .filter((cell) => cell.group === group.group)
                .map((cell) => (
                  <td
                    key={cell.offset_bytes}
                    class="segment"
                    style={{ "--heat": (1 - cell.used_bytes / size).toFixed(3) }}
                    title={`Bytes ${exact(cell.offset_bytes)} to ${exact(cell.offset_bytes + size - 1)}: lanes ${laneRanges(cell.lanes)} use ${cell.used_bytes} of ${size}`}
                  >
                    {laneRanges(cell.lanes)}
                    <br />
                    <span class="faint">
                      +{exact(cell.offset_bytes)}: {cell.used_bytes} B
                    </span>
                  </td>
                ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
