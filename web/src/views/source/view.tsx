// The source with what each line cost: heat, bars, figures; linked with the instructions of the lines.
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { matcher } from "../../base/matcher";
import { type LineState, languageOf, lineStates } from "../../base/syntax";
import { askJson } from "../../data/ask";
import { source as answers } from "../../data/source";
import { chainOf, selectPlace } from "../../model/code";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview, selection } from "../../model/selection";
import { change, settings } from "../../model/settings";
import {
  attribution,
  baseName,
  hottestLine,
  isSampled,
  openedFile,
  type SourceFile,
  type Sources,
  setAttribution,
  sourcesAnswer,
  wantSources,
  weightOf,
} from "../../model/source";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { csv, SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { useCategories, useReasons } from "./breakdown";
import { Chain } from "./chain";
import { LineRow } from "./line_row";
import { type FileText, indexOf, type Listed, listed } from "./lines";
import "./source.css";

const ROW_HEIGHT = 18;
const MOST_TABS = 12;

function Source() {
  useEffect(wantSources, []);
  return <Answered answer={sourcesAnswer}>{(sources) => <Files sources={sources} />}</Answered>;
}

function Files({ sources }: { sources: Sources }) {
  const files = useMemo(() => sources.files.filter((file) => file.file), [sources]);
  const place = selection.value.place;
  const at = useSignal("");
  // the last thing that was asked for wins: a selected line, or a file opened elsewhere
  useEffect(() => {
    if (place) openedFile.value = place.file;
  }, [place?.file, place?.line]);
  const wanted = files.find((file) => file.file === openedFile.value);
  const file = wanted ?? hottestLine(sources)?.file ?? files[0];
  if (!file) return <Nothing>Nothing to show: no instruction has a debug line. Compile with -g to get lines.</Nothing>;
  return (
    <div class={`view source${isSampled.value ? " sampled" : ""}`}>
      <Tabs files={files} shown={file} total={weightOf(sources.total)} />
      <OneFile key={file.number} sources={sources} file={file} search={at} />
      <Chain sources={sources} />
    </div>
  );
}

function Tabs({ files, shown, total }: { files: SourceFile[]; shown: SourceFile; total: number }) {
  const first = files.slice(0, MOST_TABS);
  const tabs = first.includes(shown) ? first : [...first.slice(0, -1), shown];
  const share = (file: SourceFile) => percent(total ? weightOf(file[attribution.value]) / total : null);
  const open = (file: SourceFile) => {
    openedFile.value = file.file;
  };
  return (
    <div class="tabs" role="tablist">
      {tabs.map((file) => (
        <button
          type="button"
          role="tab"
          key={file.number}
          title={file.file}
          aria-selected={file === shown}
          onClick={() => open(file)}
        >
          {baseName(file.file)} <small>{share(file)}</small>
        </button>
      ))}
      {files.length > tabs.length ? (
        <select
          aria-label="All files"
          value={shown.number}
          onChange={(event) => {
            const chosen = files.find((file) => file.number === Number(event.currentTarget.value));
            if (chosen) open(chosen);
          }}
        >
          {files.map((file) => (
            <option key={file.number} value={file.number}>
              {file.file} {share(file)}
            </option>
          ))}
        </select>
      ) : null}
    </div>
  );
}

interface FileProps {
  sources: Sources;
  file: SourceFile;
  search: { value: string };
}

function OneFile({ sources, file, search }: FileProps) {
  const answer = useAnswer(() => askJson<FileText>(current.value, "source", { file: file.number }));
  return (
    <Answered answer={answer}>{(text) => <Lines sources={sources} file={file} text={text} search={search} />}</Answered>
  );
}

function Lines({ sources, file, text, search }: FileProps & { text: FileText }) {
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
  const place = selection.value.place;
  const chosen = place?.file === file.file ? indexOf(lines, place.line) : -1;
  const hottest = useMemo(() => {
    const at = lines.reduce((best, line, index) => {
      return ownWeight(line, which) > (best < 0 ? 0 : ownWeight(lines[best] as Listed, which)) ? index : best;
    }, -1);
    return at;
  }, [lines, which]);
  const previewed = useComputed(() => previewedLines(file.file));
  const go = (index: number) => {
    const line = lines[index];
    if (line) selectPlace({ file: file.file, line: line.line });
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
        <select
          aria-label="Attribution"
          title="Own: instructions compiled from the line. With inlined: also those of functions inlined into it"
          value={which}
          onChange={(event) => setAttribution(event.currentTarget.value === "inclusive" ? "inclusive" : "own")}
        >
          <option value="own">own</option>
          <option value="inclusive">with inlined</option>
        </select>
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
            title="What bars are stacked of: stall, issue, idle and what other waves hid, or categories of instructions"
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
        rowHeight={ROW_HEIGHT}
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
              height={ROW_HEIGHT}
              look={{
                isSelected: index === chosen,
                isPreviewed: previewed.value.has(entry.line),
                isFound: search.value !== "" && query.test(entry.text),
              }}
              onSelect={() => go(index)}
              onHover={(isOver) => {
                preview.value = isOver ? { place: { file: file.file, line: entry.line } } : {};
              }}
            />
          );
        }}
      />
    </>
  );
}

const ownWeight = (entry: Listed, which: "own" | "inclusive") => (entry.cost ? weightOf(entry.cost[which]) : 0);

/** Lines of a file that the pointer is over somewhere: in the listing of instructions its whole inline chain. */
function previewedLines(file: string): Set<number> {
  const { place, row } = preview.value;
  const places = place ? [place] : row === undefined ? [] : chainOf(row);
  return new Set(places.filter((one) => one.file === file).map((one) => one.line));
}

const EXPORT_ADVICE =
  "export the page again without --no-source, with the source files in a folder src inside the capture";

function Missing({ text }: { text: FileText }) {
  if (text.lines) {
    return text.lines.length < text.line_count ? (
      <p class="missing">
        Showing the first {exact(text.lines.length)} of {exact(text.line_count)} lines.
      </p>
    ) : null;
  }
  return (
    <p class="missing">
      <strong title={text.file ?? ""}>{baseName(text.file ?? "")}</strong>: {text.reason}. Below are its lines that cost
      something. Try: {answers.isExport ? EXPORT_ADVICE : text.advice}.
    </p>
  );
}

function Header() {
  const idle = settings.value.withIdle ? " with the idle cycles before them" : "";
  return (
    <div class="row head">
      <span class="line-number">Line</span>
      <span title="Red: stall, green: issue, grey: idle, blue: hidden by work of other waves">Cost</span>
      <span class="number" title={isSampled.value ? "PC samples" : `Cycles of all executions in all waves${idle}`}>
        {isSampled.value ? "Samples" : "Cycles"}
      </span>
      <span class="number" title="Of all instructions of the trace, with and without a line">
        Share
      </span>
      <span class="number" data-column="stall" title={isSampled.value ? "Samples not issued" : "Stall, of the latency"}>
        Stall
      </span>
      {isSampled.value ? (
        <span data-column="reason" title="Why samples were not issued, most frequent first">
          Reasons
        </span>
      ) : (
        <span class="number" data-column="hits" title="Executions of its instructions in all waves">
          Hits
        </span>
      )}
      <span />
    </div>
  );
}

function asCsv(lines: Listed[], total: number): string {
  const which = attribution.value;
  const header = [
    "line",
    "hit_count",
    "latency_cycles",
    "stall_cycles",
    "idle_cycles",
    "exposed_cycles",
    "issued_count",
    "stalled_count",
    "share",
    "stall_class",
    "text",
  ];
  return csv(
    header,
    lines.map((entry) => {
      const cost = entry.cost?.[which];
      if (!cost) return [entry.line, 0, 0, 0, 0, 0, 0, 0, 0, "", entry.text];
      const exposed = cost.exposedStall + cost.exposedIssue + cost.exposedIdle;
      const share = total ? weightOf(cost) / total : 0;
      const cycles = [cost.hits, cost.latency, cost.stall, cost.idle, exposed, cost.issued, cost.stalled];
      return [entry.line, ...cycles, share, entry.cost?.stallClass, entry.text];
    }),
  );
}

export const source: View = {
  id: "source",
  title: "Source",
  hint: "The source line by line with what it cost; a click selects its instructions",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples)
      ? ""
      : "no instruction was traced or sampled",
  component: Source,
};
