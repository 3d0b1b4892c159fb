// A page opened from disk may not start a worker, and search runs in one. Here that script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      this.frame = frame;
      this.ready = new Promise((done) => {
        document.body.append(frame);
        const inner = frame.contentWindow;
        inner.IFrameWorker = true;
        inner.postMessage = (data) => this.answer(data);
        const script = inner.document.createElement("script");
        script.src = new URL(address, document.baseURI).href;
        script.onload = done;
        inner.document.body.append(script);
      });
    }
    answer(data) {
      const message = new MessageEvent("message", { data });
      this.dispatchEvent(message);
      if (this.onmessage) this.onmessage(message);
    }
    postMessage(data) {
      this.ready.then(() => {
        const inner = this.frame.contentWindow;
        inner.dispatchEvent(new inner.MessageEvent("message", { data }));
      });
    }
    terminate() {
      this.frame.remove();
    }
  };
}
