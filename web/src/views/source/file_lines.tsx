// The lines of one file: find, select, step through them.

import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { matcher } from "../../base/matcher";
import { baseName } from "../../base/path";
import { type LineState, languageOf, lineStates } from "../../base/syntax";
import { textScale } from "../../draw/painter";
import { lineChange } from "../../model/changes";
import { chainOf, selectSourceLine } from "../../model/code";
import { preview, selection } from "../../model/selection";
import { change, settings } from "../../model/settings";
import { attribution, isSampled, type SourceFile, type Sources, weightOf } from "../../model/source";
import { CostSwitches } from "../../widgets/cost_switches";
import { SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { useCategories, useReasons } from "./breakdown";
import { LineRow } from "./line_row";
import { asCsv, type FileText, indexOf, type Listed, listed } from "./lines";
import { Header, Missing } from "./parts";

const rowHeight = () => 18 * textScale();

interface Props {
  sources: Sources;
  file: SourceFile;
  text: FileText;
  /** What is looked for: kept when another file is shown. */
  search: { value: string };
}

export function FileLines({ sources, file, text, search }: Props) {
  const which = attribution.value;
  const lines = useMemo(
    () => listed(sources, file, text, (line) => weightOf(line[which]) > 0),
    [sources, file, text, which],
  );
  const language = languageOf(file.file);
  const states = useMemo(
    () =>
      lineStates(
        lines.map((line) => line.text),
        language,
      ),
    [lines, language],
  );
  const reasons = useReasons(file);
  const byCategory = settings.value.sourceBars === "category" && !isSampled.value;
  const categories = useCategories(file, byCategory);
  const ofAll = settings.value.sourceScale !== "file";
  const total = weightOf(sources.total);
  const { withIdle } = settings.value;
  const scale = useMemo(() => {
    const scaled = ofAll ? sources.lines : (sources.linesOf.get(file) ?? []);
    return scaled.reduce((most, line) => Math.max(most, weightOf(line[which])), 0);
  }, [sources, file, ofAll, which, withIdle]);
  const query = useMemo(() => matcher(search.value), [search.value]);
  const hits = useMemo(() => lines.flatMap((line, at) => (query.test(line.text) ? [at] : [])), [lines, query]);
  const place = selection.value.sourceLine;
  const chosen = place?.file === file.file ? indexOf(lines, place.line) : -1;
  const hottest = useMemo(() => {
    const at = lines.reduce((best, line, index) => {
      return weightIn(line, which) > (best < 0 ? 0 : weightIn(lines[best] as Listed, which)) ? index : best;
    }, -1);
    return at;
  }, [lines, which]);
  const previewed = useComputed(() => previewedLines(file.file));
  const go = (index: number) => {
    const line = lines[index];
    if (line) selectSourceLine({ file: file.file, line: line.line });
  };
  const next = (back: boolean) => {
    const after = back ? [...hits].reverse().find((at) => at < chosen) : hits.find((at) => at > chosen);
    const target = after ?? (back ? hits[hits.length - 1] : hits[0]);
    if (target !== undefined) go(target);
  };
  const step = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 30, PageUp: -30 }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const from = chosen < 0 ? hottest : chosen;
    go(Math.min(Math.max(from + move, 0), lines.length - 1));
  };
  return (
    <>
      <div class="toolbar">
        <CostSwitches />
        <select
          aria-label="Scale"
          title="What a full bar stands for: the costliest line of all files, or of this file"
          value={ofAll ? "all" : "file"}
          onChange={(event) => change({ sourceScale: event.currentTarget.value })}
        >
          <option value="all">scale: all files</option>
          <option value="file">scale: this file</option>
        </select>
        {isSampled.value ? null : (
          <select
            aria-label="Bars"
            title="Parts of the bars: stall, issue, idle and hidden cycles, or categories of instructions"
            value={byCategory ? "category" : "parts"}
            onChange={(event) => change({ sourceBars: event.currentTarget.value })}
          >
            <option value="parts">bars: parts</option>
            <option value="category">bars: category</option>
          </select>
        )}
        <input
          type="search"
          placeholder="find: text or /regex/"
          aria-label="Find in this file"
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") next(event.shiftKey);
          }}
        />
        {search.value ? <span role="status">{query.problem || `${exact(hits.length)} lines`}</span> : null}
        <SaveMenu name={baseName(file.file)} offers={[{ format: "csv", make: () => asCsv(lines, total) }]} />
      </div>
      <Missing text={text} />
      <VirtualList
        label={`Source of ${file.file}`}
        count={lines.length}
        rowHeight={rowHeight()}
        reveal={chosen >= 0 ? chosen : hottest}
        header={<Header />}
        onKeyDown={step}
        row={(index) => {
          const entry = lines[index] as Listed;
          return (
            <LineRow
              key={index}
              entry={entry}
              language={language}
              state={(states[index] ?? 0) as LineState}
              scale={scale}
              total={total}
              reason={reasons.get(entry.line) ?? ""}
              categories={byCategory ? (categories.get(entry.line) ?? []) : null}
              height={rowHeight()}
              change={lineChange(file.file, entry.line)}
              look={{
                isSelected: index === chosen,
                isPreviewed: previewed.value.has(entry.line),
                isFound: search.value !== "" && query.test(entry.text),
              }}
              onSelect={() => go(index)}
              onHover={(isOver) => {
                preview.value = isOver ? { sourceLine: { file: file.file, line: entry.line } } : {};
              }}
            />
          );
        }}
      />
    </>
  );
}

const weightIn = (entry: Listed, which: "own" | "inclusive") => (entry.cost ? weightOf(entry.cost[which]) : 0);

/** Lines of a file that the pointer is over somewhere: in the listing of instructions its whole inline chain. */
function previewedLines(file: string): Set<number> {
  const { sourceLine, row } = preview.value;
  const places = sourceLine ? [sourceLine] : row === undefined ? [] : chainOf(row);
  return new Set(places.filter((line) => line.file === file).map((line) => line.line));
}
