// What limits the trust in the numbers of a counter capture.
import "./doubts.css";

export function Doubts({ doubts }: { doubts: string[] }) {
  if (!doubts.length) return null;
  return (
    <details class="counter-doubts" data-doubts={doubts.length}>
      <summary title="Caveats for these numbers">
        {doubts[0]}
        {doubts.length > 1 ? ` · and ${doubts.length - 1} more` : ""}
      </summary>
      <ul>
        {doubts.slice(1).map((doubt) => (
          <li key={doubt}>{doubt}</li>
        ))}
      </ul>
    </details>
  );
}
