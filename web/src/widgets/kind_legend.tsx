// The colours of a timeline and what they mean.
import { spanColour } from "../draw/timeline_spans";
import type { Track } from "../model/tracks";

interface Props {
  track: Track;
  /** Kinds to leave out. */
  without?: string[];
  onKind?: (kind: number) => void;
  chosen?: number | undefined;
}

const MOST = 24;

export function KindLegend({ track, without = [], onKind, chosen }: Props) {
  const kinds = track.kinds.filter((kind) => !without.includes(kind.name));
  return (
    <span class="kind-legend">
      {kinds.slice(0, MOST).map(({ kind, name }) => {
        const content = (
          <>
            <i style={{ background: spanColour(track, kind, {}) }} />
            {name}
          </>
        );
        return onKind ? (
          <button
            type="button"
            class={`quiet${kind === chosen ? " selected" : ""}`}
            key={kind}
            title={name}
            data-kind={kind}
            aria-pressed={kind === chosen}
            onClick={() => onKind(kind)}
          >
            {content}
          </button>
        ) : (
          <span key={kind}>{content}</span>
        );
      })}
      {kinds.length > MOST ? <span>and {kinds.length - MOST} more</span> : null}
    </span>
  );
}
