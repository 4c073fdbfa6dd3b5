// Keys that act on the page, wherever the focus is.

/** Whether keys go into a field. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Whether a key without Ctrl, Meta or Alt was pressed for the page: not into a field, and nobody else took it. */
export function isForPage(event: KeyboardEvent): boolean {
  return !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target));
}
