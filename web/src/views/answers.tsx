// The answer to any question that is declared for this kind of document, in the words of reports: also to those that
// have no view of their own.
import { signal } from "@preact/signals";
import { json } from "../data/ask";
import { source } from "../data/source";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { frontView, type View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { type Block, Blocks } from "../widgets/blocks";
import { Definition } from "../widgets/cards";

interface DeclaredQuestion {
  name: string;
  title: string;
  sentence: string;
  /** The view that shows the same; empty = none does. */
  view: string;
  /** Names of the parameters that may be set. */
  parameters: string[];
}

interface DeclaredAnswer {
  /** Why there is no answer; empty = there is. */
  reason: string;
  blocks: Block[];
  /** SVG. */
  pictures: string[];
  definition: string;
  /** Questions that go on from this answer, and why. */
  next: { name: string; reason: string }[];
}

/** The question that was chosen last, by the number of the document. */
const chosen = signal<Record<number, string>>({});
/** The parameters that were set, as a URL query, by document and name of the question (`keyOf`). */
const setParameters = signal<Record<string, string>>({});

function Answers() {
  const list = useAnswer(json<DeclaredQuestion[]>(current.value, "declared_questions"));
  return <Answered answer={list}>{(questions) => <Chooser questions={questions} />}</Answered>;
}

function Chooser({ questions }: { questions: DeclaredQuestion[] }) {
  // At first a question that has no view of its own: the others are answered there.
  const first = questions.find((question) => !question.view) ?? questions[0];
  const asked = questions.find((question) => question.name === chosen.value[current.value]) ?? first;
  if (!asked) return <Nothing>Nothing can be asked about this document.</Nothing>;
  const choose = (name: string) => {
    chosen.value = { ...chosen.value, [current.value]: name };
  };
  return (
    <div class="view">
      <div class="toolbar">
        <label>
          Question{" "}
          <select value={asked.name} onChange={(event) => choose(event.currentTarget.value)}>
            {questions.map((question) => (
              <option key={question.name} value={question.name}>
                {question.title}
              </option>
            ))}
          </select>
        </label>
        {asked.view ? (
          <button type="button" class="link" onClick={() => frontView(asked.view)}>
            show its view
          </button>
        ) : null}
      </div>
      <div class="scroll">
        <p class="faint-text">{asked.sentence}</p>
        <ParameterFields key={`parameters ${asked.name}`} question={asked} />
        <AnswerInWords key={asked.name} name={asked.name} questions={questions} choose={choose} />
      </div>
    </div>
  );
}

const keyOf = (name: string) => `${current.value} ${name}`;

/** Fields for the parameters of a question; it is asked again when one has changed. */
function ParameterFields({ question }: { question: DeclaredQuestion }) {
  const values = new URLSearchParams(setParameters.value[keyOf(question.name)] ?? "");
  const setParameter = (name: string, value: string) => {
    if (value.trim()) values.set(name, value.trim());
    else values.delete(name);
    setParameters.value = { ...setParameters.value, [keyOf(question.name)]: values.toString() };
  };
  if (source.isExport || !question.parameters.length) return null;
  return (
    <details class="answer-given" open={values.toString() !== ""}>
      <summary>What is known or chosen</summary>
      {question.parameters.map((name) => (
        <label key={name}>
          {name}{" "}
          <input
            type="text"
            name={name}
            value={values.get(name) ?? ""}
            onChange={(event) => setParameter(name, event.currentTarget.value)}
          />
        </label>
      ))}
    </details>
  );
}

interface AnswerProps {
  name: string;
  questions: DeclaredQuestion[];
  choose: (name: string) => void;
}

function AnswerInWords({ name, questions, choose }: AnswerProps) {
  const parameters = setParameters.value[keyOf(name)];
  const asked = parameters ? { name, given: parameters } : { name };
  const loaded = useAnswer(json<DeclaredAnswer>(current.value, "declared_answer", asked));
  return (
    <Answered answer={loaded}>
      {(answer) => (
        <>
          {answer.reason ? <Nothing>{answer.reason}</Nothing> : null}
          <Blocks blocks={answer.blocks} />
          {(answer.pictures ?? []).map((picture, number) => (
            <img key={number} class="answer-picture" alt="" src={`data:image/svg+xml,${encodeURIComponent(picture)}`} />
          ))}
          {answer.next.map(({ name: next, reason }) => (
            <p key={`${next} ${reason}`}>
              next:{" "}
              <button type="button" class="link" onClick={() => choose(next)}>
                {questions.find((question) => question.name === next)?.title ?? next}
              </button>
              , {reason}
            </p>
          ))}
          <Definition text={answer.definition} />
        </>
      )}
    </Answered>
  );
}

export const answers: View = {
  id: "answers",
  title: "Answers",
  hint: "The answer to any question about this document, in words and tables",
  about: "trace",
  missing: () => "",
  component: Answers,
};

export const runAnswers: View = { ...answers, id: "run_answers", about: "run" };
export const counterAnswers: View = { ...answers, id: "counter_answers", about: "counters" };
