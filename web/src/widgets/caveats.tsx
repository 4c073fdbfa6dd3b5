// What limits the trust in the numbers of a counter capture.
import "./caveats.css";

export function Caveats({ caveats }: { caveats: string[] }) {
  if (!caveats.length) return null;
  return (
    <details class="counter-caveats" data-caveats={caveats.length}>
      <summary title="Caveats for these numbers">
        {caveats[0]}
        {caveats.length > 1 ? ` · and ${caveats.length - 1} more` : ""}
      </summary>
      <ul>
        {caveats.slice(1).map((caveat) => (
          <li key={caveat}>{caveat}</li>
        ))}
      </ul>
    </details>
  );
}
