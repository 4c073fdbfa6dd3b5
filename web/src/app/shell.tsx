// Above the views: which document, search, views, settings; and below that what is wrong with it, if anything is.
import { useSignal } from "@preact/signals";
import { counted, exact } from "../base/format";
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
import { Icon } from "../widgets/icon";
import { Bookmarks } from "./bookmarks";
import { UndoClose } from "./closed_view";
import { CopyLink } from "./copy_link";
import { factsText, kernelsOf } from "./facts";
import { Headline } from "./headline";
import { Help } from "./help";
import { bookmarksAreOpen, helpIsOpen, paletteIsOpen, settingsAreOpen } from "./keys";
import type { Layout } from "./layout";
import { LayoutMenu } from "./layout_menu";
import { layouts } from "./layouts";
import { OpenButton, Opening } from "./open";
import { Palette } from "./palette";
import { print } from "./printing";
import { SettingsPage } from "./settings_page";
import { TimeMenu } from "./time_bar";
import { ViewsMenu } from "./views_menu";
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
        <Losses />
        <button
          type="button"
          class="search-button"
          onClick={() => (paletteIsOpen.value = true)}
          title="Find anything (/)"
        >
          <Icon name="search" /> Find <kbd>/</kbd>
        </button>
        <TimeMenu />
        <ViewsMenu />
        <LayoutMenu layOut={layOut} now={layout} />
        <button
          type="button"
          class="quiet"
          data-action="bookmarks"
          title="Bookmarks and notes"
          onClick={() => (bookmarksAreOpen.value = !bookmarksAreOpen.value)}
        >
          <Icon name="bookmark" /> {notes.value.length || ""}
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
          <Icon name="printer" />
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
          <Icon name="settings" />
        </button>
        <button
          type="button"
          class={`quiet${settings.value.knowsPage ? "" : " is-new"}`}
          data-action="help"
          aria-label="Help"
          title={`Help: where to start, keys, views (?)`}
          onClick={() => {
            change({ knowsPage: true });
            helpIsOpen.value = true;
          }}
        >
          <Icon name="help" />
        </button>
      </div>
      <Opening />
      <WorstCaveat />
      <Damage />
      <NotKept />
      <Headline />
      <UndoClose layOut={layOut} />
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
        <Icon name="close" />
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
      An answer takes {seconds} s so far: its view can cancel it. Where nothing loads, the server was stopped; the page
      goes on when it answers.
    </p>
  );
}

function Documents({ go }: { go: (document: number) => void }) {
  const lines = documents.value;
  if (lines.length < 2)
    return (
      <span class="document" title={lines[0]?.path}>
        {lines[0]?.label}
      </span>
    );
  return (
    <select
      class="document"
      aria-label="Document"
      value={current.value}
      onChange={(event) => go(Number(event.currentTarget.value))}
    >
      {lines.map((line) => (
        <option key={line.number} value={line.number} title={line.path}>
          {line.label}
        </option>
      ))}
    </select>
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
        aria-label={`${other === "light" ? "Light" : "Dark"} theme`}
        title={`${other === "light" ? "Light" : "Dark"} theme (t)`}
        onClick={toggleTheme}
      >
        <Icon name={other === "light" ? "sun" : "moon"} />
      </button>
      <button
        type="button"
        class="quiet"
        data-action="palette"
        aria-label="Colours for colour-blind readers"
        title={palette === "standard" ? "Colours for colour-blind readers" : "Standard colours"}
        aria-pressed={palette === "colour-blind"}
        onClick={() => change({ palette: palette === "standard" ? "colour-blind" : "standard" })}
      >
        <Icon name="contrast" />
      </button>
    </>
  );
}

const SHOWN_LOSSES = 2;
const LISTED_LOSSES = 20;
const LOSSES_OF: Record<Overview["kind"], string> = {
  trace: "losses",
  run: "run_losses",
  counters: "counter_losses",
  store: "store_losses",
};

/** What is missing: a button in the bar; damage stands below it in words as well. */
function Losses() {
  const facts = overview.value;
  const losses = facts?.losses ?? [];
  if (!facts || !losses.length) return null;
  return (
    <button
      type="button"
      class={`quiet losses${losses.some((loss) => loss.is_damage) ? " damage" : ""}`}
      data-banner="losses"
      title={losses
        .slice(0, LISTED_LOSSES)
        .map((loss) => loss.message)
        .join("\n")}
      onClick={() => frontView(LOSSES_OF[facts.kind])}
    >
      <Icon name="warning" /> {counted(losses.length, "notes")}
    </button>
  );
}

function Damage() {
  const closedFor = useSignal<Overview | null>(null);
  const facts = overview.value;
  const damage = (facts?.losses ?? []).filter((loss) => loss.is_damage);
  if (!damage.length || closedFor.value === facts) return null;
  const more = damage.length - SHOWN_LOSSES;
  return (
    <div class="banner damage" role="status" data-banner="damage">
      <span>
        {damage
          .slice(0, SHOWN_LOSSES)
          .map((loss) => loss.message)
          .join(" · ")}
      </span>
      <button type="button" class="quiet" onClick={() => frontView(LOSSES_OF[facts?.kind ?? "trace"])}>
        {more > 0 ? `and ${exact(more)} more: show all` : "what to do"}
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={() => (closedFor.value = facts)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
