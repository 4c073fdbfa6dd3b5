// Blocks of an answer as reports have them: headings, sentences, tables.
import "./blocks.css";

export interface Block {
  /** plain, headline, note, loss, preformatted or table. */
  kind: string;
  text: string;
  columns?: { heading: string; is_number: boolean }[];
  rows?: string[][];
}

export function Blocks({ blocks }: { blocks: Block[] }) {
  return (
    <>
      {blocks.map((block, number) => (
        <Part key={number} block={block} />
      ))}
    </>
  );
}

function Part({ block }: { block: Block }) {
  if (block.kind === "preformatted") return <pre>{block.text}</pre>;
  if (block.kind === "headline") return <h3>{block.text}</h3>;
  if (block.kind !== "table") return <p class={block.kind === "plain" ? "" : "faint-text"}>{block.text}</p>;
  const columns = block.columns ?? [];
  return (
    <figure class="answer-table">
      <figcaption class="faint-text">{block.text}</figcaption>
      <table>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={place} class={column.is_number ? "number" : ""}>
                {column.heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(block.rows ?? []).map((cells, number) => (
            <tr key={number}>
              {cells.map((cell, place) => (
                <td key={place} class={columns[place]?.is_number ? "number" : ""}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
