// The text of an instruction in colours; all places of the register under the pointer light up.
import { operandsOf, overlap, type Register, registerOf, type Token, tokensOf } from "../../base/isa_text";
import { litRegister } from "./state";

const kept = new Map<string, Token[]>();
const MOST_KEPT = 5000;

function tokens(text: string): Token[] {
  const known = kept.get(text);
  if (known) return known;
  if (kept.size > MOST_KEPT) kept.clear();
  const made = tokensOf(text);
  kept.set(text, made);
  return made;
}

export function InstructionText({ text }: { text: string }) {
  const lit = litRegister.value ? registerOf(litRegister.value) : null;
  const written = lit ? operandsOf(text).written : [];
  let registers = 0;
  return (
    <span class="asm">
      {tokens(text).map((token, i) => {
        if (token.kind === "plain") return token.text;
        if (token.kind !== "register") {
          return (
            <span key={i} class={`asm-${token.kind}`}>
              {token.text}
            </span>
          );
        }
        const place = registers++;
        return (
          <span
            key={i}
            class={`asm-register${litClass(lit, registerOf(token.text), place < written.length)}`}
            onPointerEnter={() => {
              litRegister.value = token.text;
            }}
            onPointerLeave={() => {
              litRegister.value = "";
            }}
          >
            {token.text}
          </span>
        );
      })}
    </span>
  );
}

function litClass(lit: Register | null, own: Register | null, isWritten: boolean): string {
  if (!lit || !own || !overlap(lit, own)) return "";
  return isWritten ? " lit written" : " lit";
}
