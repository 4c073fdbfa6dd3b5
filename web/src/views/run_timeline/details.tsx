// Everything that is known about the selected event.
import type { ReadonlySignal } from "@preact/signals";
import { exact, nanoseconds } from "../../base/format";
import type { Flows } from "../../model/flows";
import type { Loaded } from "../../model/loaded";
import { isDispatch, type RunLayer, spanKey } from "../../model/run_layer";
import { select } from "../../model/selection";
import { reveal, show } from "../../model/timewindow";
import { Answered } from "../../widgets/answered";

/** One event of a run; times are absent of what is not on the timeline. */
export interface EventAnswer {
  item: number;
  table: string;
  what: string;
  name: string;
  track?: number;
  kind?: number;
  begin?: number;
  end?: number;
  duration_ns?: number;
  facts: { name: string; value: string }[];
  arguments?: { name: string | null; type: string | null; value: string | null }[];
  frames?: string[];
  counters?: { name: string | null; units: string | null; value: number }[];
  flows: Flows;
}

/** Links to launched work; the timeline shows arrows to all of it. */
const MOST_LAUNCHED = 8;

interface Props {
  answer: ReadonlySignal<Loaded<EventAnswer>>;
  layer: RunLayer;
}

export function EventDetails({ answer, layer }: Props) {
  return (
    <aside class="event-details" aria-label="The selected event">
      <button
        type="button"
        class="quiet"
        title="Close, and clear the selection"
        onClick={() => select({ span: undefined })}
      >
        ×
      </button>
      <Answered answer={answer}>{(event) => <Event event={event} layer={layer} />}</Answered>
    </aside>
  );
}

interface EventProps {
  event: EventAnswer;
  layer: RunLayer;
}

function Event({ event, layer }: EventProps) {
  return (
    <>
      <h2>{event.name || "(no name)"}</h2>
      <p class="faint-text">{event.what}</p>
      <dl>
        <Times event={event} />
        <Launch event={event} layer={layer} />
        {event.facts.map((fact) => (
          <Fact key={fact.name} name={fact.name} value={fact.value} />
        ))}
      </dl>
      {event.arguments?.length ? (
        <>
          <h3>Arguments</h3>
          <dl>
            {event.arguments.map((argument, n) => (
              <Fact key={n} name={`${argument.name ?? n}`} value={argument.value ?? ""} hint={argument.type ?? ""} />
            ))}
          </dl>
        </>
      ) : null}
      {event.counters?.length ? (
        <>
          <h3>Counters</h3>
          <dl>
            {event.counters.map(({ name, value, units }) => (
              <Fact key={name} name={name ?? ""} value={exact(value)} hint={units ?? ""} />
            ))}
          </dl>
        </>
      ) : null}
      {event.frames?.length ? (
        <>
          <h3>Call stack, innermost first</h3>
          <ol>
            {event.frames.map((frame, n) => (
              <li key={n}>{frame}</li>
            ))}
          </ol>
        </>
      ) : null}
    </>
  );
}

function Times({ event: { begin, end, duration_ns } }: { event: EventAnswer }) {
  if (begin === undefined || end === undefined) return <dd>It has no time and is not on the timeline.</dd>;
  const margin = (end - begin) / 4;
  return (
    <>
      <dt title="Since the first event of its node">begin</dt>
      <dd data-fact="begin" title={`${exact(begin)} ns`}>
        {nanoseconds(begin)}
      </dd>
      <dt>duration</dt>
      <dd data-fact="duration" title={`${exact(duration_ns)} ns`}>
        {nanoseconds(duration_ns ?? 0)}{" "}
        <button type="button" class="quiet" onClick={() => show({ begin: begin - margin, end: end + margin })}>
          zoom to it
        </button>
      </dd>
    </>
  );
}

/** Of GPU work the call that launched it, of a call the work that it launched. */
function Launch({ event, layer }: EventProps) {
  const { count, flows } = event.flows;
  const launch = flows.find((flow) => flow.to_item === event.item);
  const showEvent = (item: number, time: number) => {
    select({ span: spanKey(layer, item) });
    reveal(time);
  };
  if (launch) {
    if (event.begin === undefined) return null;
    const latency = event.begin - launch.from_begin;
    return (
      <>
        <dt title="From the start of the launching call to the start of the work, queueing included">launch latency</dt>
        <dd data-fact="launch_latency" title={`${exact(latency)} ns`}>
          {nanoseconds(latency)}{" "}
          <button
            type="button"
            class="quiet"
            data-go="launch"
            onClick={() => showEvent(launch.from_item, launch.from_begin)}
          >
            to the launching call
          </button>
        </dd>
      </>
    );
  }
  if (!flows.length) return null;
  return (
    <>
      <dt>launched</dt>
      <dd data-fact="launched">
        {exact(count)} {count > flows.length ? `(showing ${exact(flows.length)})` : ""}
        {flows.slice(0, MOST_LAUNCHED).map((flow) => (
          <button
            type="button"
            class="quiet"
            key={flow.to_item}
            data-go="work"
            onClick={() => showEvent(flow.to_item, flow.to_begin)}
          >
            to the {isDispatch(layer, flow.to_item) ? "dispatch" : "copy"} at {nanoseconds(flow.to_begin)}
          </button>
        ))}
      </dd>
    </>
  );
}

function Fact({ name, value, hint }: { name: string; value: string; hint?: string }) {
  return (
    <>
      <dt title={hint}>{name}</dt>
      <dd data-fact={name} title={value}>
        {value}
      </dd>
    </>
  );
}
