// Above the views: which document, search, views, settings; and below that what is wrong with it, if anything is.
import { useSignal } from "@preact/signals";
import { exact } from "../base/format";
import type { Trust } from "../data/answers.gen";
import { json } from "../data/ask";
import type { AnswerError } from "../data/source";
import { trouble, waitingSeconds } from "../model/connection";
import { current, documents, type Overview, opening, overview, unreadable } from "../model/document";
import { answering } from "../model/loaded";
import { notes } from "../model/notes";
import { change, settings, theme, toggleTheme } from "../model/settings";
import { storageProblem } from "../model/user_storage";
import { frontView } from "../model/view";
import { Problem } from "../widgets/answered";
import { BaselineChooser } from "../widgets/baseline_chooser";
import { Bookmarks } from "./bookmarks";
import { CopyLink } from "./copy_link";
import { factsText, kernelsOf } from "./facts";
import { Help } from "./help";
import { bookmarksAreOpen, helpIsOpen, paletteIsOpen, settingsAreOpen } from "./keys";
import type { Layout } from "./layout";
import { LayoutMenu } from "./layout_menu";
import { layouts } from "./layouts";
import { OpenButton, Opening } from "./open";
import { Palette } from "./palette";
import { print } from "./printing";
import { SettingsPage } from "./settings_page";
import { TimeBar } from "./time_bar";
import { ViewsMenu } from "./views_menu";
import { Welcome } from "./welcome";
import "./menus.css";

interface Props {
  go: (document: number) => void;
  layOut: (layout: Layout) => void;
  /** What is on screen, as text. */
  layout: () => string;
}

export function Shell({ go, layOut, layout }: Props) {
  const facts = overview.value;
  return (
    <header class="shell">
      <div class="shell-bar">
        <h1 class="brand">wavewright</h1>
        <Documents go={go} />
        <BaselineChooser />
        <OpenButton />
        <span class="facts" title={facts ? kernelsOf(facts).join("\n") : ""}>
          {facts ? factsText(facts) : ""}
        </span>
        <button
          type="button"
          class="search-button"
          onClick={() => (paletteIsOpen.value = true)}
          title="Find anything (/)"
        >
          Find <kbd>/</kbd>
        </button>
        <ViewsMenu />
        <LayoutMenu layOut={layOut} now={layout} />
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
        <button
          type="button"
          class="quiet"
          data-action="print"
          title="Print diagnosis, summary and the current view (p)"
          aria-label="Print"
          onClick={() => void print()}
        >
          <PrinterIcon />
        </button>
        <Looks />
        <button
          type="button"
          class="quiet"
          data-action="settings"
          title="Settings (o)"
          aria-label="Settings"
          onClick={() => (settingsAreOpen.value = true)}
        >
          ⚙
        </button>
        <button type="button" class="quiet" onClick={() => (helpIsOpen.value = true)} title="Keyboard map (?)">
          ?
        </button>
      </div>
      <Opening />
      <TimeBar />
      <WorstCaveat />
      <Losses />
      <NotKept />
      <Welcome />
      {trouble.value ? <NoServer error={trouble.value} /> : <LongWait />}
      {unreadable.value && !unreadable.value.isConnection ? <Problem error={unreadable.value} /> : null}
      {helpIsOpen.value ? <Help /> : null}
      {paletteIsOpen.value ? <Palette go={go} resetLayout={() => layOut(firstLayout())} /> : null}
      {settingsAreOpen.value ? <SettingsPage resetLayout={() => layOut(firstLayout())} /> : null}
      {bookmarksAreOpen.value ? <Bookmarks close={() => (bookmarksAreOpen.value = false)} /> : null}
    </header>
  );
}

/** The layout that the page comes with for this document. */
const firstLayout = () => layouts.value[0]?.layout ?? { tabs: [] };

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

/** Below everything, over nothing that moves: the page stays as it was. */
function NoServer({ error }: { error: AnswerError }) {
  return (
    <p class="bottom-line problem" role="alert" title={error.advice}>
      {error.what}: what is on screen stays, and the page goes on as soon as it answers. {error.advice}
    </p>
  );
}

function LongWait() {
  const seconds = waitingSeconds.value;
  if (opening.value) return <p class="note waiting">Opening {opening.value}…</p>;
  if (!seconds) return null;
  return (
    <p class="bottom-line" role="status" data-banner="long-wait">
      No answer from the server for {seconds} s: it is busy, or it was stopped. This page continues as soon as it
      answers.
    </p>
  );
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

function PrinterIcon() {
  return (
    <svg viewBox="0 0 16 16" width="1em" height="1em" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="M4.5 6V2h7v4M4.5 12h-3V6h13v6h-3M4.5 9.5h7V14h-7z" />
    </svg>
  );
}

function Looks() {
  const { palette } = settings.value;
  const other = theme.value === "dark" ? "light" : "dark";
  return (
    <>
      <button
        type="button"
        class="quiet"
        data-action="theme"
        title={`${other === "light" ? "Light" : "Dark"} theme (t)`}
        onClick={toggleTheme}
      >
        {other === "light" ? "☀" : "☾"}
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
