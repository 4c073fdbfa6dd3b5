// Panels keep their shares of the window: Lumino takes the same pixels from each when the window shrinks.
import { MessageLoop } from "@lumino/messaging";
import { type DockPanel, Widget } from "@lumino/widgets";

/** What Lumino's layout holds of a row or column of panels, as far as it is used here. */
interface Split {
  children: object[];
  sizers: { size: number; sizeHint: number }[];
  /** Whether the hints are shares, to be multiplied with the room there is. */
  normalized: boolean;
}

interface Known {
  shares: number[];
  /** Sizes that came of them in pixels: with least sizes, less than the shares of a narrow window. */
  sizes: number[];
}

const isSplit = (node: object | null): node is Split => node !== null && "sizers" in node && "children" in node;

function splits(node: object | null): Split[] {
  return isSplit(node) ? [node, ...node.children.flatMap((child) => splits(child))] : [];
}

const sizesOf = (split: Split) => split.sizers.map((sizer) => (split.normalized ? sizer.sizeHint : sizer.size));

export class Proportions {
  private readonly known = new WeakMap<Split, Known>();

  constructor(private readonly dock: DockPanel) {}

  /** The user changed the layout: what is on screen is what shares are taken from now on. */
  remember(): void {
    for (const split of this.all()) {
      const sizes = sizesOf(split);
      const before = this.known.get(split)?.sizes;
      const isSame = before?.length === sizes.length && sizes.every((size, i) => Math.abs(size - (before[i] ?? 0)) < 1);
      const sum = sizes.reduce((total, size) => total + size, 0);
      if (!isSame && sum > 0) this.known.set(split, { shares: sizes.map((size) => size / sum), sizes });
    }
  }

  /** The window has another size. */
  resize(): void {
    for (const split of this.all()) {
      const shares = this.known.get(split)?.shares;
      if (shares?.length !== split.sizers.length) continue;
      split.sizers.forEach((sizer, i) => {
        sizer.sizeHint = shares[i] ?? 0;
      });
      split.normalized = true;
    }
    MessageLoop.sendMessage(this.dock, Widget.ResizeMessage.UnknownSize);
    // the sizes that came of the resize are no change by the user: `remember` must not take shares from them
    for (const split of this.all()) {
      const known = this.known.get(split);
      if (known) known.sizes = sizesOf(split);
    }
  }

  /** Lumino does not tell its tree; without it panels are resized as Lumino does. */
  private all(): Split[] {
    const layout = this.dock.layout as unknown as { _root?: object | null };
    return splits(layout._root ?? null);
  }
}
