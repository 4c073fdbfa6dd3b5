// Above the views: which document, search, views, settings; and below that what is wrong with it, if anything is.
import { useSignal } from "@preact/signals";
import { exact, nanoseconds } from "../base/format";
import type { Trust } from "../data/answers.gen";
import { json } from "../data/ask";
import { trouble, waitingSeconds } from "../model/connection";
import {
  type CountersOverview,
  current,
  documents,
  type Overview,
  opening,
  overview,
  type RunOverview,
  unreadable,
} from "../model/document";
import { answering } from "../model/loaded";
import { notes } from "../model/notes";
import { change, settings } from "../model/settings";
import { openCommand, storageProblem } from "../model/user_storage";
import { frontView } from "../model/view";
import { Problem } from "../widgets/answered";
import { Bookmarks } from "./bookmarks";
import { Help } from "./help";
import { bookmarksAreOpen, helpIsOpen, searchIsOpen } from "./keys";
import { place } from "./location";
import { VIEWS } from "./registry";
import { Search } from "./search";
import { Welcome } from "./welcome";

interface Props {
  go: (document: number) => void;
  resetLayout: () => void;
}

export function Shell({ go, resetLayout }: Props) {
  const facts = overview.value;
  return (
    <header class="shell">
      <div class="shell-bar">
        <strong class="brand">wavescope</strong>
        <Documents go={go} />
        <span class="facts" title={facts ? kernelsOf(facts).join("\n") : ""}>
          {facts ? words(facts) : ""}
        </span>
        <button type="button" class="search-button" onClick={() => (searchIsOpen.value = true)} title="Search (/)">
          Search <kbd>/</kbd>
        </button>
        <ViewsMenu resetLayout={resetLayout} />
        <button
          type="button"
          class="quiet"
          data-action="bookmarks"
          title="Bookmarks and notes"
          onClick={() => (bookmarksAreOpen.value = !bookmarksAreOpen.value)}
        >
          ★ {notes.value.length || ""}
        </button>
        <CopyLink />
        <Looks />
        <button type="button" class="quiet" onClick={() => (helpIsOpen.value = true)} title="Keyboard map (?)">
          ?
        </button>
      </div>
      <WorstCaveat />
      <Losses />
      <NotKept />
      <Welcome />
      {trouble.value ? <Problem error={trouble.value} /> : <LongWait />}
      {unreadable.value && !unreadable.value.isConnection ? <Problem error={unreadable.value} /> : null}
      {helpIsOpen.value ? <Help /> : null}
      {searchIsOpen.value ? <Search /> : null}
      {bookmarksAreOpen.value ? <Bookmarks close={() => (bookmarksAreOpen.value = false)} /> : null}
    </header>
  );
}

const caveatsAnswer = answering(() =>
  overview.value?.kind === "trace" ? json<Trust>(current.value, "caveats") : null,
);

/** A fatal caveat comes first and cannot be closed. */
function WorstCaveat() {
  const answer = caveatsAnswer.value;
  const worst =
    answer.state === "ready" ? answer.value.caveats_of_cycles.find(({ severity }) => severity === "fatal") : undefined;
  if (!worst) return null;
  return (
    <div class="banner fatal" role="alert" data-banner="caveat" data-caveat={worst.name}>
      <span title={`${worst.sentence}\n${worst.advice}`}>
        Do not draw conclusions from this trace: {worst.sentence}
      </span>
      <button type="button" class="quiet" onClick={() => frontView("coverage")}>
        why, and what to do
      </button>
    </div>
  );
}

/** Settings that were not read, or cannot be stored: said once, above the views. */
function NotKept() {
  const problem = storageProblem.value;
  if (!problem || problem.isConnection) return null;
  return (
    <div class="banner" role="status" data-banner="not-kept">
      <span title={[problem.where, problem.advice].filter(Boolean).join("\n")}>{problem.what}</span>
      <button type="button" class="quiet" aria-label="Close" onClick={() => (storageProblem.value = null)}>
        ×
      </button>
    </div>
  );
}

function LongWait() {
  const seconds = waitingSeconds.value;
  if (opening.value) return <p class="note waiting">Opening {opening.value}…</p>;
  if (!seconds) return null;
  return (
    <p class="note waiting" role="status" data-banner="long-wait">
      No answer from the server for {seconds} s: it is busy, or it was stopped. This page continues as soon as it
      answers.
    </p>
  );
}

function words(facts: Overview): string {
  if (facts.kind === "run") return wordsOfRun(facts);
  if (facts.kind === "counters") return wordsOfCounters(facts);
  const parts = [
    facts.source.target ?? (facts.gfxip ? `gfx${facts.gfxip} family` : "unknown GPU"),
    shortened(facts.kernels[0]?.demangled ?? ""),
  ];
  if (facts.kernels.length > 1) parts[1] += ` and ${facts.kernels.length - 1} more`;
  if (facts.holds.samples && !facts.instruction_count) parts.push("PC samples");
  else {
    parts.push(`${exact(facts.wave_count)} waves`, `${exact(facts.instruction_count)} instructions`);
    parts.push(`${exact(facts.span_cycles || facts.end_cycles - facts.start_cycles)} cycles`);
  }
  return parts.filter(Boolean).join(" · ");
}

const LONGEST_NAME = 60;
const MOST_NAMES = 20;

/** Names of kernels can be as long as a page; what follows one is wanted, too. */
function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

function kernelsOf(facts: Overview): string[] {
  if (facts.kind === "trace") return facts.kernels.map((kernel) => kernel.demangled);
  return facts.kind === "counters" ? facts.kernels.slice(0, MOST_NAMES).map((kernel) => kernel.kernel_name) : [];
}

const counted = (count: number, one: string, many: string) =>
  count ? `${exact(count)} ${count === 1 ? one : many}` : "";

function wordsOfCounters(facts: CountersOverview): string {
  const first = shortened(facts.kernels[0]?.kernel_name ?? "");
  const parts = [
    facts.target ?? "unknown GPU",
    facts.product ?? "",
    facts.kernel_count > 1 ? `${first} and ${exact(facts.kernel_count - 1)} more` : first,
    counted(facts.dispatch_count, "dispatch", "dispatches"),
    counted(facts.counter_count, "counter", "counters"),
    counted(facts.pass_count, "pass", "passes"),
    facts.gpu_count > 1 ? counted(facts.gpu_count, "GPU", "GPUs") : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

function wordsOfRun(facts: RunOverview): string {
  const targets = [...new Set(facts.gpus.map((gpu) => gpu.target).filter(Boolean))];
  const parts = [
    facts.formats.join(", "),
    counted(facts.clocks.nodes.length, "node", "nodes"),
    counted(facts.processes.length, "process", "processes"),
    `${counted(facts.gpus.length, "GPU", "GPUs")}${targets.length ? ` (${targets.join(", ")})` : ""}`,
    counted(facts.holds.kernels ?? 0, "dispatch", "dispatches"),
    nanoseconds(facts.duration_ns),
  ];
  return parts.filter(Boolean).join(" · ");
}

function Documents({ go }: { go: (document: number) => void }) {
  const lines = documents.value;
  if (lines.length < 2) return <span title={lines[0]?.path}>{lines[0]?.label}</span>;
  return (
    <select aria-label="Document" value={current.value} onChange={(event) => go(Number(event.currentTarget.value))}>
      {lines.map((line) => (
        <option key={line.number} value={line.number} title={line.path}>
          {line.label}
        </option>
      ))}
    </select>
  );
}

function ViewsMenu({ resetLayout }: { resetLayout: () => void }) {
  const facts = overview.value;
  const views = VIEWS.filter((view) => view.about === facts?.kind);
  return (
    <select
      aria-label="Views"
      class="views-menu"
      value=""
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        event.currentTarget.value = "";
        if (chosen === "reset") resetLayout();
        else frontView(chosen);
      }}
    >
      <option value="" disabled>
        Views
      </option>
      {views.map((view) => {
        const missing = facts ? view.missing(facts) : "";
        return (
          <option key={view.id} value={view.id} disabled={missing !== ""} title={missing || view.hint}>
            {view.title}
            {missing ? ` (${missing})` : ""}
          </option>
        );
      })}
      <option value="reset">Reset the layout</option>
    </select>
  );
}

/** What shows this place again: the command, or the address of an exported page. A server's own address ends with it. */
function CopyLink() {
  const copied = useSignal("");
  const copy = () => {
    const text = openCommand.value ? `${openCommand.value} --at '${place()}'` : location.href;
    const refused = () => prompt("Copy this:", text);
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => (copied.value = text), refused);
    else refused();
  };
  return (
    <button
      type="button"
      class="quiet"
      data-action="copy-link"
      title={
        openCommand.value ? "Copy the command that shows exactly this again" : "Copy the address of what is on screen"
      }
      onClick={copy}
      onBlur={() => (copied.value = "")}
    >
      Copy link
      {copied.value ? (
        <output class="copied" data-copied>
          copied: {copied.value}
        </output>
      ) : null}
    </button>
  );
}

function Looks() {
  const { theme, palette } = settings.value;
  return (
    <>
      <button
        type="button"
        class="quiet"
        data-action="theme"
        title={`${theme === "dark" ? "Light" : "Dark"} theme (t)`}
        onClick={() => change({ theme: theme === "dark" ? "light" : "dark" })}
      >
        {theme === "dark" ? "☀" : "☾"}
      </button>
      <button
        type="button"
        class="quiet"
        data-action="palette"
        title={palette === "standard" ? "Colours for colour-blind readers" : "Standard colours"}
        aria-pressed={palette === "colour-blind"}
        onClick={() => change({ palette: palette === "standard" ? "colour-blind" : "standard" })}
      >
        {palette === "standard" ? "◐" : "◑"}
      </button>
    </>
  );
}

const SHOWN_LOSSES = 2;
const LOSSES_OF: Record<Overview["kind"], string> = { trace: "losses", run: "run_losses", counters: "counter_losses" };

function Losses() {
  const closedFor = useSignal<Overview | null>(null);
  const facts = overview.value;
  const losses = facts?.losses ?? [];
  const worst = [...losses].sort((a, b) => Number(b.is_damage) - Number(a.is_damage));
  if (!losses.length || closedFor.value === facts) return null;
  const more = losses.length - SHOWN_LOSSES;
  return (
    <div class={`banner${worst[0]?.is_damage ? " damage" : ""}`} role="status" data-banner="losses">
      <span>
        {worst
          .slice(0, SHOWN_LOSSES)
          .map((loss) => loss.message)
          .join(" · ")}
      </span>
      <button type="button" class="quiet" onClick={() => frontView(LOSSES_OF[facts?.kind ?? "trace"])}>
        {more > 0 ? `and ${exact(more)} more: show all` : "what to do"}
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={() => (closedFor.value = facts)}>
        ×
      </button>
    </div>
  );
}
