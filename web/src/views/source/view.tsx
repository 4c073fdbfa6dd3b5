// The source with what each line cost: heat, bars, figures; linked with the instructions of the lines.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { percent } from "../../base/format";
import { baseName } from "../../base/path";
import { ASKED } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { changesAgainst } from "../../model/baseline";
import { current, unlessUnknown } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import {
  attribution,
  hottestLine,
  isSampled,
  openedFile,
  type SourceFile,
  type Sources,
  sourcesAnswer,
  weightOf,
} from "../../model/source";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Chain } from "./chain";
import { FileLines } from "./file_lines";
import type { FileText } from "./lines";
import "./source.css";

const MOST_TABS = 12;

function Source() {
  return <Answered answer={sourcesAnswer}>{(sources) => <Files sources={sources} />}</Answered>;
}

function Files({ sources }: { sources: Sources }) {
  const files = useMemo(() => sources.files.filter((file) => file.file), [sources]);
  const place = selection.value.sourceLine;
  const search = useSignal("");
  // the last thing that was asked for wins: a selected line, or a file opened elsewhere
  useEffect(() => {
    if (place) openedFile.value = place.file;
  }, [place?.file, place?.line]);
  const wanted = files.find((file) => file.file === openedFile.value);
  const file = wanted ?? hottestLine(sources)?.file ?? files[0];
  if (!file) {
    const nothing = "no instruction has a debug line. Compile with -g to get lines";
    return <Nothing>Nothing to show: {unlessUnknown(nothing)}.</Nothing>;
  }
  return (
    <div
      class={`view source${isSampled.value ? " sampled" : ""}${changesAgainst.value === null ? "" : " with-changes"}`}
    >
      <Tabs files={files} shown={file} total={weightOf(sources.total)} />
      <OneFile key={file.number} sources={sources} file={file} search={search} />
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
  const answer = useAnswer(json<FileText>(current.value, "source", { file: file.number }));
  return (
    <Answered answer={answer}>
      {(text) => <FileLines sources={sources} file={file} text={text} search={search} />}
    </Answered>
  );
}

export const source: View = {
  id: "source",
  title: "Source",
  hint: ASKED.source,
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples)
      ? ""
      : "no instruction was traced or sampled",
  component: Source,
};
