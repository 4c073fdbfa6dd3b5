// The text of an instruction in colours; all places of the register under the pointer light up.
import { operandsOf, overlap, type Register, registerOf, type Token, tokensOf } from "../../base/isa_text";
import { highlightedRegister } from "./state";

const cache = new Map<string, Token[]>();
const MOST_KEPT = 5000;

function tokens(text: string): Token[] {
  const cached = cache.get(text);
  if (cached) return cached;
  if (cache.size > MOST_KEPT) cache.clear();
  const tokens = tokensOf(text);
  cache.set(text, tokens);
  return tokens;
}

export function InstructionText({ text }: { text: string }) {
  const highlighted = highlightedRegister.value ? registerOf(highlightedRegister.value) : null;
  const written = highlighted ? operandsOf(text).written : [];
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
            class={`asm-register${highlightClass(highlighted, registerOf(token.text), place < written.length)}`}
            onPointerEnter={() => {
              highlightedRegister.value = token.text;
            }}
            onPointerLeave={() => {
              highlightedRegister.value = "";
            }}
          >
            {token.text}
          </span>
        );
      })}
    </span>
  );
}

function highlightClass(highlighted: Register | null, own: Register | null, isWritten: boolean): string {
  if (!highlighted || !own || !overlap(highlighted, own)) return "";
  return isWritten ? " highlighted written" : " highlighted";
}
