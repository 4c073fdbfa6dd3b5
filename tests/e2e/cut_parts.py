"""What a reader of the page cannot read: texts that are cut, that lie on each other, controls beyond an edge."""

from __future__ import annotations

DRAWN_TEXTS = """(() => {
    const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
    const drawn = (window.drawnTexts = new Map());
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
        drawn.set(this.canvas, []);
        return clearRect.apply(this, area);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
        const [size, place] = [this.measureText(text), this.getTransform()];
        drawn.get(this.canvas)?.push({
            text,
            left: (x - size.actualBoundingBoxLeft) * place.a + place.e,
            right: (x + size.actualBoundingBoxRight) * place.a + place.e,
        });
        return fillText.call(this, text, x, y, ...more);
    };
})()"""
"""For `add_init_script`: the page remembers where it draws texts on canvases."""

CUT = """(view) => {
    const pen = document.createElement("canvas").getContext("2d");
    const wide = (element, text) => {
        const style = getComputedStyle(element);
        pen.font = style.font;
        const sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + 2;
        return pen.measureText(text).width + sides + (element.matches("select") ? 16 : 0);
    };
    const found = [];
    const page = document.scrollingElement;
    if (page.scrollWidth > page.clientWidth + 1) found.push("the page scrolls sideways");
    const parts = [...document.querySelectorAll(view ? `.dock [data-view="${view}"]` : ".shell, .dock .panel")];
    for (const part of parts.filter((each) => each.checkVisibility())) {
        const box = part.getBoundingClientRect();
        const say = (what, text) => found.push(`${part.dataset.view ?? "shell"}: ${what}: ${text.trim().slice(0, 50)}`);
        const isSeen = (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        const all = [...part.querySelectorAll("*")].filter(isSeen);
        const those = (selector) => all.filter((each) => each.matches(selector));
        if (part.dataset.view && !part.textContent.trim() && !part.querySelector("canvas, svg")) say("empty", "");

        const names = ".document, .baseline select"; // names of files may be shortened
        for (const field of those("select, input:not([type]), input[type=search], input[type=text]")) {
            const text = field.selectedOptions?.[0]?.text ?? field.placeholder;
            if (!field.matches(names) && wide(field, text) > field.offsetWidth + 2) say("cut field", text);
        }
        const scrolls = ".list, .scroll, .small-table-box, .popup, .bar-more";
        for (const control of those("button, select, input, label").filter((each) => !each.closest(scrolls))) {
            if (control.getBoundingClientRect().right > box.right + 1)
                say("beyond the edge", control.textContent || control.title);
        }
        for (const bar of those(".toolbar")) if (bar.scrollWidth > bar.clientWidth + 1) say("cut bar", bar.textContent);

        const seen = [];
        for (const element of all) {
            const own = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
            const isForReaders = element.clientWidth === 1; // of screens: nobody else sees it
            if (!own.length || isForReaders || element.closest("select, [aria-hidden=true]")) continue;
            const { overflowX, textOverflow } = getComputedStyle(element);
            const width = element.clientWidth;
            const isCut = overflowX !== "visible" && width && element.scrollWidth > width + 1;
            const mayBeShort = textOverflow === "ellipsis" && !element.closest(".number, .head, th, .headline-figure");
            if (isCut && !mayBeShort && !["auto", "scroll"].includes(overflowX)) say("cut", element.textContent);
            for (const node of own) {
                const range = document.createRange();
                range.selectNodeContents(node);
                for (const rect of range.getClientRects()) {
                    let [left, right, top, bottom] = [rect.left, rect.right, rect.top, rect.bottom];
                    for (let around = element; around && around !== part; around = around.parentElement) {
                        if (getComputedStyle(around).overflow === "visible") continue;
                        const edge = around.getBoundingClientRect();
                        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
                        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
                    }
                    const above = element.closest(".list-head, thead, .save, [popover], dialog");
                    if (right > left && bottom > top) seen.push({ element, above, left, right, top, bottom, node });
                }
            }
        }
        seen.sort((a, b) => a.top - b.top);
        seen.forEach((a, at) => {
            for (let next = at + 1; next < seen.length && seen[next].top < a.bottom - 4; next++) {
                const b = seen[next];
                const isOver = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2;
                if (isOver && a.element !== b.element && a.above === b.above && b.bottom - b.top > 4)
                    say("over each other", `${a.node.textContent} / ${b.node.textContent}`);
            }
        });
        for (const [canvas, texts] of window.drawnTexts ?? []) {
            if (!part.contains(canvas) || !canvas.checkVisibility()) continue;
            for (const { text, left, right } of texts)
                if (left < canvas.width && right > canvas.width + 2) say("drawn beyond the edge", text);
        }
    }
    return [...new Set(found)];
}"""
"""What is cut in the view with this id, or with `null` on the whole screen; names may be shortened by an ellipsis."""
