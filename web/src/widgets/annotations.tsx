// Annotations of others: badges where they are about, and their texts. All of it is untrusted and is shown as text.
import { percent } from "../base/format";
import { seriesColour } from "../draw/palette";
import { type Annotation, annotations, colourNumber, pathOf, waveOf } from "../model/annotations";
import { textOf } from "../model/code";
import { select } from "../model/selection";
import { show } from "../model/timewindow";
import { frontView } from "../model/view";
import { Chip } from "./cards";
import { LineLink, RowLink } from "./links";
import "./annotations.css";

const hintOf = ({ severity, title, note, suggestion }: Annotation) =>
  [`${severity}: ${title}`, note, suggestion].filter(Boolean).join("\n");

export function Badges({ of }: { of: Annotation[] | undefined }) {
  return (
    <>
      {of?.map((each) => (
        <span
          key={each.number}
          class="annotation-badge"
          data-annotation={each.number}
          style={{ borderColor: seriesColour(colourNumber(each)) }}
          title={hintOf(each)}
        >
          {each.number}
        </span>
      ))}
    </>
  );
}

const TONES: Record<string, string> = { critical: "bad", high: "bad", medium: "care" };
const MOST_ROWS = 6;

export function Annotations() {
  const list = annotations.value;
  if (!list.length) return null;
  return (
    <>
      <h3>Annotations of others</h3>
      <p class="faint-text">From annotations.json beside the trace; wavewright neither wrote nor checked it.</p>
      <div class="findings">
        {list.map((each) => (
          <Card key={each.number} annotation={each} />
        ))}
      </div>
    </>
  );
}

function Card({ annotation }: { annotation: Annotation }) {
  const { number, title, severity, note, suggestion, category, confidence, rows, line, range } = annotation;
  const path = pathOf(annotation);
  const showTime = () => {
    if (!range) return;
    const margin = Math.max(8, range.end - range.begin);
    const wave = waveOf(annotation)?.wave;
    select({ range, ...(wave === undefined ? {} : { wave }) });
    show({ begin: range.begin - margin, end: range.end + margin });
    frontView("compute_unit");
  };
  return (
    <article
      class="finding annotation"
      data-annotation-card={number}
      style={{ borderLeftColor: seriesColour(colourNumber(annotation)) }}
    >
      <header>
        <span class="finding-number">{number}</span>
        <h3>{title}</h3>
        <Chip tone={TONES[severity] ?? ""}>{severity}</Chip>
      </header>
      {note ? <p>{note}</p> : null}
      {suggestion ? <p>→ {suggestion}</p> : null}
      <p class="finding-facts">
        {category ? <span>{category}</span> : null}
        {confidence === null ? null : <span>confidence {percent(confidence)}</span>}
        {rows.slice(0, MOST_ROWS).map((row) => (
          <RowLink key={row} row={row} text={textOf(row)} />
        ))}
        {rows.length > MOST_ROWS ? <span>and {rows.length - MOST_ROWS} more rows</span> : null}
        {path ? <LineLink file={path} line={line} /> : null}
        {range ? (
          <button type="button" class="link" onClick={showTime}>
            show its time
          </button>
        ) : null}
      </p>
    </article>
  );
}
