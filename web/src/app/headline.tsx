// What a document says first: one sentence, three numbers, and what to look at. All of them are answers of other views.
import type { ComponentChildren } from "preact";
import { exact, nanoseconds, percent, short } from "../base/format";
import type {
  CounterDiagnosisAnswer,
  DiagnoseAnswer,
  RunDiagnosisAnswer,
  SampleHotspotsAnswer,
  StallsAnswer,
  UtilizationAnswer,
} from "../data/answers.gen";
import { json, type Question } from "../data/ask";
import { besideBaseline } from "../model/baseline";
import { chosenKernel, ofChosen } from "../model/counters";
import { current, overview, type RunOverview, type TraceOverview } from "../model/document";
import { ofKernel } from "../model/kernels";
import { useAnswer } from "../model/loaded";
import { frontView } from "../model/view";
import "./headline.css";

interface Figure {
  value: string;
  /** What the value is, below it; each is one of a kind. */
  words: string;
  /** The view that has more about it: a click goes there. */
  view: string;
}

interface Story {
  sentence: string;
  /** What forbids to take it at its word; empty = nothing. */
  caution?: string;
  figures: Figure[];
  /** The first finding with its bound, or what to do about it; `bound`: by how much that helps at most, empty = not known. */
  first?: { text: string; bound: string; view: string } | undefined;
}

export function Headline() {
  const facts = overview.value;
  if (!facts) return null;
  const key = `${facts.kind} ${current.value}`;
  if (facts.kind === "run") return <OfRun key={key} />;
  if (facts.kind === "counters") return <OfCounters key={key} />;
  if (facts.kind === "store") return null; // the headline of the trend stands above its picture
  return facts.instruction_count ? (
    <OfTrace key={key} facts={facts} />
  ) : facts.holds.samples ? (
    <OfSamples key={key} />
  ) : (
    <OfNothing key={key} facts={facts} />
  );
}

/** The answer once it is there; its question is that of a view, so it is asked and computed once. */
function useReady<T>(question: Question<T> | null): T | null {
  const answer = useAnswer(question).value;
  return answer.state === "ready" ? answer.value : null;
}

/** Of a large trace the diagnosis takes a minute: until then the strip says what is known. */
function OfTrace({ facts }: { facts: TraceOverview }) {
  const plan = useReady(json<DiagnoseAnswer>(current.value, "diagnose", ofKernel()));
  const stalls = useReady(json<StallsAnswer>(current.value, "stalls", ofKernel()));
  const pipes = useReady(json<UtilizationAnswer>(current.value, "utilization"));
  const figures = figuresOf(stalls, pipes);
  const memory = facts.losses.find(({ kind }) => kind === "all_in_memory");
  const memoryCaution = memory ? capital(`${memory.message}; ${memory.advice}`) : "";
  if (!plan) {
    const known = { sentence: READING, caution: memoryCaution, figures: figures.length ? figures : contentsOf(facts) };
    return <Strip story={known} isBusy />;
  }
  const remedy = plan.findings[0]?.remedies[0];
  return (
    <Strip
      story={{
        sentence: plan.headline,
        caution: memoryCaution || cautionOf(plan),
        figures,
        first: remedy && { text: remedy.text, bound: "", view: "diagnosis" },
      }}
    />
  );
}

/** The share of stall, its largest class, and the busiest pipe, as far as they are known. */
function figuresOf(stalls: StallsAnswer | null, pipes: UtilizationAnswer | null): Figure[] {
  const figures: Figure[] = [];
  if (stalls?.latency_cycles_total) {
    const share = stalls.stall_cycles_total / stalls.latency_cycles_total;
    figures.push({ value: percent(share), words: "of latency is stall", view: "stalls" });
  }
  const [cause] = stalls?.classes.rows ?? [];
  if (cause?.stall_cycles_total) {
    figures.push({ value: percent(cause.stall_share), words: `of the stall: ${cause.class}`, view: "stalls" });
  }
  const [pipe] = [...(pipes?.pipes.rows ?? [])].sort((a, b) => (b.busy_share ?? 0) - (a.busy_share ?? 0));
  if (pipe?.busy_share) {
    figures.push({ value: percent(pipe.busy_share), words: `busy: pipe ${pipe.pipe}`, view: "utilization" });
  }
  return figures;
}

/** The first caveat between a note and a fatal one, which has a banner of its own; empty = there is none. */
function cautionOf({ trust }: DiagnoseAnswer): string {
  const caveats = [...trust.caveats_of_cycles, ...trust.caveats_of_lines];
  return caveats.find(({ severity }) => severity !== "note" && severity !== "fatal")?.sentence ?? "";
}

/** What there is to look at, while nothing is known about it. */
const contentsOf = (facts: TraceOverview): Figure[] => [
  { value: short(facts.instruction_count), words: "instructions", view: "isa" },
  { value: short(facts.wave_count), words: "traced waves", view: "waves" },
  { value: short(facts.span_cycles), words: "cycles", view: "summary" },
];

function OfSamples() {
  const answer = useReady(json<SampleHotspotsAnswer>(current.value, "sample_hotspots"));
  if (!answer) return <Strip story={null} />;
  const known = answer.sample_count - answer.unknown_count;
  const [reason] = [...answer.reasons.rows].sort((a, b) => b.count - a.count);
  const share = known ? percent(answer.stalled_count / known) : "";
  return (
    <Strip
      story={{
        sentence: `${exact(answer.sample_count)} PC samples${reason ? `; stalled waves were most often in: ${reason.reason}` : ""}`,
        caution: "Samples show where waves were, not how long an instruction took",
        figures: share ? [{ value: share, words: "of the samples did not issue", view: "stalls" }] : [],
      }}
    />
  );
}

/** Of a trace without instructions and samples. */
function OfNothing({ facts }: { facts: TraceOverview }) {
  const reason = facts.holds.occupancy
    ? "waves came and went, but no instruction was traced"
    : "no instruction was traced";
  return (
    <Strip
      story={{
        sentence: `Nothing to diagnose: ${reason}`,
        figures: [],
        first: { text: "What was traced, and what to record", bound: "", view: "coverage" },
      }}
    />
  );
}

function OfRun() {
  const answer = useReady(json<RunDiagnosisAnswer>(current.value, "run_diagnosis"));
  if (!answer) return <Strip story={null} />;
  const isOfGpus = answer.gpus.rows.length > 0;
  const [finding] = answer.findings;
  const steps = answer.step_count ? ` in ${exact(answer.step_count)} steps` : "";
  return (
    <Strip
      story={{
        sentence: answer.headline,
        caution: answer.trust === "good" ? "" : (answer.caveats[0]?.text ?? ""),
        figures: isOfGpus
          ? [
              { value: nanoseconds(answer.window_ns), words: `per GPU${steps}`, view: "run_summary" },
              { value: percent(1 - answer.idle_share), words: "busy", view: "busy" },
              { value: percent(answer.communication_share), words: "exposed communication", view: "overlap" },
            ]
          : [
              {
                value: nanoseconds((overview.value as RunOverview).duration_ns),
                words: "of calls; no GPU work recorded",
                view: "regions",
              },
            ],
        first: finding && {
          text: finding.verdict,
          bound: finding.gain_share_max === null ? "" : `at most ${percent(finding.gain_share_max)}`,
          view: "run_diagnosis",
        },
      }}
    />
  );
}

function OfCounters() {
  const answer = useReady(json<CounterDiagnosisAnswer>(current.value, "counter_diagnosis", ofChosen()));
  if (!answer) return <Strip story={null} />;
  const [kernel] = answer.kernels;
  if (!kernel) return <Strip story={{ sentence: "The capture has no dispatches", figures: [] }} />;
  const limiter = kernel.limiters.find(({ verdict }) => verdict === "at limit" || verdict === "likely");
  const caution = answer.caveats.find(({ severity }) => severity !== "note");
  return (
    <Strip
      story={{
        sentence: capital(`${chosenKernel() ? "" : "the longest kernel: "}${kernel.summary}`),
        caution: caution?.sentence ?? "",
        figures: figuresOfKernel(kernel),
        first: limiter && {
          text: limiter.remedy || limiter.reason,
          bound: limiter.gain_share_max === null ? "" : `at most ${percent(limiter.gain_share_max)} of its time`,
          view: "counter_diagnosis",
        },
      }}
    />
  );
}

function figuresOfKernel(kernel: CounterDiagnosisAnswer["kernels"][number]): Figure[] {
  const figures: Figure[] = [];
  const whole = kernel.is_time_of_run ? "run" : "capture";
  if (kernel.duration_share !== null) {
    const words = `of the time of the ${whole}`;
    figures.push({ value: percent(kernel.duration_share), words, view: "counter_kernels" });
  }
  if (kernel.duration_ns_mean !== null) {
    figures.push({ value: nanoseconds(kernel.duration_ns_mean), words: "mean of a dispatch", view: "by_dispatch" });
  }
  return [...figures, { value: short(kernel.dispatch_count), words: "dispatches", view: "counter_kernels" }];
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const READING = "Reading what set the time…";

/** Letters that two lines of a small window hold: a warning below them may have two as well. */
const TWO_LINES = 120;

/** Of one height, so that nothing moves when the answer arrives. */
function Strip({ story, isBusy = story === null }: { story: Story | null; isBusy?: boolean }) {
  const beside = besideBaseline();
  return (
    <section class="headline-strip" aria-label="In short" aria-busy={isBusy} data-headline>
      {story === null ? (
        <p class="headline-sentence faint">{READING}</p>
      ) : (
        <>
          <div class={`headline-words${story.sentence.length < TWO_LINES ? " short" : ""}`}>
            <p class="headline-sentence" data-field="sentence" title={story.sentence}>
              {beside ? <strong>{beside.of} alone: </strong> : null}
              {story.sentence}
            </p>
            {story.caution ? (
              <p class="headline-caution" data-field="caution" title={story.caution}>
                {story.caution}
              </p>
            ) : null}
          </div>
          {beside ? (
            <Go view={beside.view} class="headline-figure" hint={`Changes from ${beside.base} to ${beside.of}`}>
              <strong>Changes</strong>
              <span>from {beside.base}</span>
            </Go>
          ) : null}
          {story.figures.slice(0, beside ? 2 : 3).map((figure) => (
            <Go key={figure.words} view={figure.view} class="headline-figure">
              <strong>{figure.value}</strong>
              <span title={figure.words}>{figure.words}</span>
            </Go>
          ))}
          {story.first ? (
            <Go view={story.first.view} class="headline-first" hint={story.first.text}>
              <span class="headline-label">
                Do first{story.first.bound ? <strong> {story.first.bound}</strong> : null}
              </span>
              <span>{story.first.text}</span>
            </Go>
          ) : null}
        </>
      )}
    </section>
  );
}

interface GoProps {
  view: string;
  class: string;
  hint?: string;
  children: ComponentChildren;
}

function Go({ view, class: look, hint, children }: GoProps) {
  return (
    <button type="button" class={look} title={hint} data-go-to={view} onClick={() => frontView(view)}>
      {children}
    </button>
  );
}
