// Any text on the page that is cut with an ellipsis gets a tooltip with the full text.

const named = new WeakSet<HTMLElement>();

export function nameCutTexts(): void {
  document.addEventListener("pointerover", ({ target }) => {
    if (!(target instanceof HTMLElement) || (target.closest("[title]") && !named.has(target))) return;
    const isCut = target.scrollWidth > target.clientWidth && getComputedStyle(target).textOverflow === "ellipsis";
    if (isCut) {
      named.add(target);
      target.title = target.textContent ?? "";
    } else if (named.delete(target)) target.removeAttribute("title");
  });
}
