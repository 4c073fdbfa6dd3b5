// In the notebook's own page: makes the frame, and carries questions and answers between it and the kernel.
function render({ model, el }) {
  const view = Math.random().toString(36).slice(2);
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.title = "wavewright";
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:1px solid #8884;border-radius:4px`;
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || !data) return;
    if (typeof data.path === "string") {
      // 0 is the page itself
      if (Number.isSafeInteger(data.id) && data.id > 0) model.send({ view, id: data.id, path: data.path });
    } else if (typeof data.place === "string") {
      model.set("place", data.place);
      model.save_changes();
    }
  };
  const answer = (message, buffers) => {
    if (message.view !== view) return;
    const { buffer, byteOffset, byteLength } = buffers[0];
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength);
    if (message.id === 0) frame.srcdoc = new TextDecoder().decode(bytes);
    else frame.contentWindow?.postMessage({ id: message.id, bytes, isError: message.is_error }, "*", [bytes]);
  };
  window.addEventListener("message", hear);
  model.on("msg:custom", answer);
  el.append(frame);
  model.send({ view, id: 0, path: "page" });
  return () => {
    window.removeEventListener("message", hear);
    model.off("msg:custom", answer);
  };
}
export default { render };
