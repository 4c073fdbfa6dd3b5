// What the colours of a bar of parts mean.
import "./part_legend.css";

export function PartLegend({ parts }: { parts: readonly { words: string; colour: string }[] }) {
  return (
    <p class="part-legend">
      {parts.map(({ words, colour }) => (
        <span key={words}>
          <i style={{ background: colour }} /> {words}
        </span>
      ))}
    </p>
  );
}
