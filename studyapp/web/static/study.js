// Comfort on top of pages that work without it: keys, large pictures, saving that never loses what was typed.
"use strict";

(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const ratingForm = () => $("form[data-rating]");

  // --- what was typed, kept until the study has it -------------------------------------------------------------
  // The same address may ask about other results later: a page whose lease was over. `form` holds a mark of what it asks.
  const asked = (form) => form.elements.form ? form.elements.form.value.split(".")[0].split("-").pop() : "";
  const draftName = (form) => `typed:${form.elements.csrf.value.slice(0, 12)}:${new URL(form.action).pathname}:${asked(form)}`;
  const storage = {
    read(name) { try { return JSON.parse(sessionStorage.getItem(name)) || {}; } catch { return {}; } },
    write(name, value) { try { sessionStorage.setItem(name, JSON.stringify(value)); } catch { /* private mode: go on without */ } },
    drop(name) { try { sessionStorage.removeItem(name); } catch { /* as above */ } },
  };
  const keepDraft = (form) => {
    const typed = {};
    for (const input of $$("input[type=radio]:checked, input[type=number], textarea", form)) {
      if (input.value || input.matches("textarea")) typed[input.name] = input.value; // words that were erased stay away
    }
    storage.write(draftName(form), typed);
  };
  const restoreDraft = (form) => {
    for (const [name, value] of Object.entries(storage.read(draftName(form)))) {
      const input = $$("input[type=radio]", form).find((radio) => radio.name === name && radio.value === value);
      if (input) input.checked = true;
      const number = input ? null : $$("input[type=number]", form).find((field) => field.name === name);
      if (number) { number.value = value; for (const radio of radios(number.form)) if (radio.name === name) radio.checked = !radio.value; }
      const words = $$("textarea", form).find((area) => area.name === name);
      if (words) words.value = value;
    }
  };

  // --- moving over the results and what is asked of each: a scale or a field for words ----------------------------
  const results = (form) => $$(".result", form);
  const asks = (form) => $$(".result [data-ask]", form);
  const radios = (within) => $$("input[type=radio]", within);
  const slider = (within) => $("input[type=range]", within);
  const numberOf = (within) => $("input[type=number]", within);
  const chosen = (within) => radios(within).find((radio) => radio.checked && radio.value) || (slider(within) && numberOf(within).value ? slider(within) : undefined);
  const inWords = (ask) => ask.matches("textarea");
  const isLost = (result) => radios(result).some((radio) => radio.checked && radio.value === "not_shown");
  const lacks = (ask) => "required" in ask.dataset && !(inWords(ask) ? ask.value.trim() : chosen(ask)) && !isLost(ask.closest(".result"));
  const asksOf = (result) => $$("[data-ask]", result);
  // A ring on a value before anybody chose one would look like an answer, and the first value would be it: the focus is
  // on the whole scale until then.
  const ownPlace = (ask) => inWords(ask) ? ask : chosen(ask) || slider(ask) || ask;
  const focusAsk = (ask) => {
    ownPlace(ask).focus({ preventScroll: true });
    ask.closest(".result").scrollIntoView({ block: "nearest" });
    ask.scrollIntoView({ block: "nearest" });
  };
  const firstOf = (result) => asksOf(result).find(lacks) || asksOf(result)[0];
  const current = (form) => {
    const focused = document.activeElement && document.activeElement.closest(".result");
    if (focused) return document.activeElement.closest("[data-ask]") || firstOf(focused);
    // Focus on nothing in particular: the keys mean the first question that lacks an answer.
    return document.activeElement === document.body || document.activeElement === $("main") ? asks(form).find(lacks) : null;
  };
  const moveOn = (form, ask) => {
    const all = asks(form);
    const after = all.slice(all.indexOf(ask) + 1).filter((other) => !isLost(other.closest(".result")) || asksOf(other.closest(".result"))[0] === other);
    const next = after.find((other) => !inWords(other) || lacks(other)) || all.find(lacks);
    if (next) focusAsk(next); else $("button[type=submit]", form).focus();
  };
  const columns = (all) => {
    const top = all[0].offsetTop;
    const second = all.findIndex((result) => result.offsetTop > top + 5);
    return second < 1 ? all.length : second;
  };
  const move = (form, arrow) => {
    const key = root.dir === "rtl" ? { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" }[arrow] || arrow : arrow;
    const button = $("button[type=submit]", form);
    const ask = current(form) || asks(form)[0];
    // Where a result has several questions, up and down go over these, and left and right over the results.
    const overAsks = ["ArrowUp", "ArrowDown"].includes(key) && (asksOf(results(form)[0]).length > 1 || Boolean(slider(ask)));
    const all = overAsks ? asks(form) : results(form);
    const here = document.activeElement === button ? all.length : all.indexOf(overAsks ? ask : ask.closest(".result"));
    const rows = overAsks ? 1 : columns(all);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -rows, ArrowDown: rows }[key];
    let there = here + step;
    if (here === all.length && step < 0) there = all.length - 1;
    if (there >= all.length) return button.focus();
    const target = all[there < 0 ? here : there]; // above the first row, and before the first of all, is nothing
    focusAsk(overAsks ? target : asksOf(target)[0]);
  };

  const keysOn = () => { const box = $("[data-keys]"); return !box || box.checked; };
  const typing = (element) => element && element.matches("textarea, select, input:not([type=radio]):not([type=checkbox]):not([type=range])");

  document.addEventListener("keydown", (event) => {
    const form = ratingForm();
    const written = event.target.closest && event.target.closest("form[data-rating] textarea");
    if (written && event.key === "Enter" && (event.ctrlKey || event.metaKey)) return written.form.requestSubmit();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || $("dialog[open]")) return;
    const go = $("[data-go]");
    if (!form) {
      if (event.key === "Enter" && go && (document.activeElement === document.body || document.activeElement === $("main"))) go.click();
      return;
    }
    if (event.key === "Enter") {
      const plain = event.target === document.body || event.target.matches("main, fieldset.scale, input[type=radio], input[type=range]");
      if (plain) { event.preventDefault(); form.requestSubmit(); }
      return;
    }
    if (!keysOn()) return;
    if (event.key === "Backspace") {
      const back = $("[data-back]", form);
      if (back) { event.preventDefault(); back.click(); }
      return;
    }
    if (event.key.startsWith("Arrow")) {
      // With one result on the page the browser's own way stays: arrows move along the scale. What scrolls, scrolls.
      if (event.target.closest("[data-scroll], audio, video")) return;
      if (event.target.matches("input[type=range]") && (asks(form).length < 2 || ["ArrowLeft", "ArrowRight"].includes(event.key))) return;
      const over = results(form).length > 1 || (asks(form).length > 1 && ["ArrowUp", "ArrowDown"].includes(event.key));
      if (over && (event.target === document.body || event.target.closest(".result, main") ) && !event.shiftKey) {
        event.preventDefault();
        move(form, event.key);
      } else if (event.target.matches("fieldset.scale")) {
        event.preventDefault();
        radios(event.target)[0].focus();
      }
      return;
    }
    const ask = current(form);
    if (!ask || event.key.length !== 1) return;
    const isX = ["x", "X"].includes(event.key);
    const asked = isX ? asksOf(ask.closest(".result"))[0] : ask;
    const options = radios(asked);
    // On keyboards whose digits need Shift (French), the bare key counts as its digit, too.
    const key = /^[^a-z0-9]$/i.test(event.key) && /^Digit\d$/.test(event.code) && !event.shiftKey ? event.code.slice(5) : event.key;
    if (key === " " && slider(asked) === event.target) { event.preventDefault(); setSlider(event.target); return; }
    const undecided = ["u", "U"].includes(key) || (key === "0" && !slider(asked) && !options.some((radio) => radio.value === "0"));
    const input = options.find((radio) => radio.dataset.key === (undecided ? "U" : isX ? "X" : key));
    if (!input) return;
    event.preventDefault();
    if (event.repeat) return; // a key held down is one answer
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    moveOn(form, asked);
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-keys]")) {
      storage.write("keys", { off: !event.target.checked });
      return;
    }
    const form = event.target.closest("form[data-rating]");
    if (!form) return;
    const scale = event.target.closest("fieldset.slider");
    if (scale && !event.target.matches("input[type=range]")) showSlider(scale);
    settle(event.target);
    keepDraft(form);
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-rating]");
    if (!form || !event.target.matches("textarea, input[type=range]")) return;
    if (event.target.matches("input[type=range]")) return setSlider(event.target);
    settle(event.target);
    keepDraft(form);
  });
  // A tap where the hidden handle stands changes nothing, and means it all the same; a finger that scrolls past does not.
  document.addEventListener("pointerup", (event) => {
    if (event.target.matches("form[data-rating] input[type=range]")) setSlider(event.target);
  });

  // --- a slider: a range beside the field for a number, which is what is sent; it has no value until it is given one ---
  const setSlider = (range) => {
    const scale = range.closest("fieldset");
    numberOf(scale).value = range.value;
    for (const radio of radios(scale)) radio.checked = !radio.value;
    showSlider(scale);
    settle(range);
    keepDraft(range.form);
  };
  const showSlider = (scale) => {
    const range = slider(scale), number = numberOf(scale);
    if (!number) { range.classList.add("unset"); return; } // shown in the instructions
    if (radios(scale).some((radio) => radio.checked && radio.value)) number.value = "";
    range.classList.toggle("unset", !number.value);
    range.value = number.value || (Number(range.min) + Number(range.max)) / 2;
    const tick = $$(".ticks > span", scale).find((mark) => $(".value", mark).textContent === number.value);
    range.setAttribute("aria-valuetext", number.value ? (tick || number).textContent.trim() || number.value : range.dataset.unset);
  };
  const settle = (input) => {
    const result = input.closest(".result"), ask = input.closest("[data-ask]");
    if (!result || !ask) return;
    const problem = (ask.closest(".words-field") || ask).nextElementSibling;
    if (problem && problem.matches(".problem")) problem.remove();
    if (!asksOf(result).some(lacks)) result.classList.remove("lacking");
  };

  // --- time with the page in sight; the study keeps its own count where there is no script -----------------------
  const timer = {
    sum: 0, since: 0,
    begin() { this.sum = 0; this.since = document.hidden ? 0 : performance.now(); },
    turn() {
      if (document.hidden && this.since) { this.sum += performance.now() - this.since; this.since = 0; }
      else if (!document.hidden && !this.since) this.since = performance.now();
    },
    stamp(form) {
      const field = form.elements.seconds;
      const seconds = (this.sum + (this.since ? performance.now() - this.since : 0)) / 1000;
      if (field) field.value = seconds.toFixed(2);
      this.page = seconds;
    },
  };
  document.addEventListener("visibilitychange", () => timer.turn());

  // --- how long it will still take, from the pages so far ---------------------------------------------------------
  const pace = {
    name: `pace:${root.dataset.root}`, // another study of this host has pages of its own kind
    add(seconds) {
      const { sum = 0, pages = 0 } = storage.read(this.name);
      storage.write(this.name, { sum: sum + seconds, pages: pages + 1 });
    },
    show() {
      const { sum = 0, pages = 0 } = storage.read(this.name);
      const left = $("[data-left]"), bar = $(".progress progress");
      if (!left || !bar) return;
      const each = pages < 3 ? Number(left.dataset.pace) : sum / pages; // that of the others until one's own is known
      if (!each) return;
      const minutes = Math.ceil((bar.max - bar.value) * each / 60);
      left.textContent = left.dataset.left.replace("{minutes}", minutes);
    },
  };

  // --- sounds and films that are to be played to their end before the page is sent -------------------------------
  // One that cannot be played asks for nothing: the page must never be a dead end.
  const heard = (media) => {
    let played = 0;
    for (let k = 0; k < media.played.length; k += 1) played += media.played.end(k) - media.played.start(k);
    return media.error !== null || "done" in media.dataset || (media.ended && played >= 0.9 * media.duration);
  };
  const unplayed = (form) => form.dataset.unplayed
    ? $$(".query [data-media], .result [data-media]", form).filter((media) => !heard(media) && !(media.closest(".result") && isLost(media.closest(".result")))) : [];
  const playedName = (form) => `${draftName(form)}:played`;
  document.addEventListener("ended", (event) => {
    const form = event.target.closest && event.target.closest("form[data-rating]");
    if (!form || !heard(event.target)) return;
    event.target.dataset.done = "";
    const done = storage.read(playedName(form));
    done[new URL(event.target.src).pathname] = true;
    storage.write(playedName(form), done);
  }, true);
  const restorePlayed = (form) => {
    const done = storage.read(playedName(form));
    for (const media of $$("[data-media]", form)) if (done[new URL(media.src).pathname]) media.dataset.done = "";
  };

  // --- saving ---------------------------------------------------------------------------------------------------
  const note = (form, kind, strong, words, button) => {
    const box = $("[data-alerts]", form);
    box.replaceChildren();
    if (!strong && !words) return null;
    const div = document.createElement("div");
    div.className = `note ${kind}`;
    const paragraph = document.createElement("p");
    if (strong) { const head = document.createElement("strong"); head.textContent = strong; paragraph.append(head); }
    paragraph.append(words);
    div.append(paragraph);
    if (button) {
      const again = document.createElement("button");
      again.type = "submit";
      again.className = "small";
      again.textContent = button;
      div.append(again);
    }
    box.append(div);
    div.scrollIntoView({ block: "nearest" });
    return div;
  };
  let waiting = 0;
  const stopWaiting = () => { clearInterval(waiting); waiting = 0; };
  const tryLater = (form, seconds, reason) => {
    const box = note(form, "bad", form.dataset.unsaved, `${reason} ${form.dataset.kept} `, form.dataset.again);
    const count = document.createElement("span");
    count.setAttribute("aria-hidden", "true"); // a screen reader is told once, not every second
    $("p", box).append(count);
    let left = seconds;
    const show = () => { count.textContent = form.dataset.waiting.replace("{seconds}", left); };
    show();
    waiting = setInterval(() => {
      left -= 1;
      if (left <= 0) { stopWaiting(); send(form, Math.min(60, seconds * 2)); }
      else show();
    }, 1000);
  };

  // A failed save must not take the page away, so the answer is fetched first and shown only when it is a next page.
  const send = async (form, patience = 5) => {
    stopWaiting();
    const button = $(".actions button[type=submit]", form);
    if (form.dataset.busy) return;
    form.dataset.busy = "yes";
    form.setAttribute("aria-busy", "true");
    let response, html;
    try {
      timer.stamp(form);
      response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), credentials: "same-origin", headers: { Accept: "text/html", "X-Relstudy-Page": "next" } });
      html = await response.text();
    } catch {
      return tryLater(form, patience, form.dataset.offline);
    } finally {
      delete form.dataset.busy;
      form.removeAttribute("aria-busy");
    }
    const answer = new DOMParser().parseFromString(html, "text/html");
    // The study names the next page's address, or redirects, once the ratings are on disk, and only then.
    const next = response.headers.get("X-Relstudy-Page");
    if (next || response.redirected) {
      const address = next ? new URL(next, location.href).href : response.url;
      storage.drop(draftName(form));
      storage.drop(playedName(form));
      pace.add(timer.page);
      return response.ok ? show(answer, address) : location.assign(address);
    }
    if ([409, 422].includes(response.status) && $("form[data-rating]", answer)) {
      if (response.status === 409) storage.drop(draftName(form)); // it was for the page as it was
      return show(answer, location.href);
    }
    const words = $("[data-message]", answer);
    const told = words ? words.textContent : form.dataset.offline;
    if (response.status === 503) return tryLater(form, patience, told); // busy: it passes
    note(form, "bad", form.dataset.unsaved, `${told} ${form.dataset.kept} `, form.dataset.again);
    button.focus({ preventScroll: true });
  };
  let shown = location.pathname;
  const show = (page, address) => {
    document.title = page.title;
    document.body.replaceWith(document.adoptNode(page.body));
    if (address !== location.href) history.pushState(null, "", address);
    shown = location.pathname;
    scrollTo(0, 0);
    start(true);
  };
  // The browser fires it for an address within the page, too: the skip link must not load anew what is being filled in.
  addEventListener("popstate", () => { if (location.pathname !== shown) location.reload(); });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-rating]");
    if (!form) return;
    event.preventDefault();
    const lacking = asks(form).filter(lacks);
    for (const result of results(form)) result.classList.toggle("lacking", lacking.some((ask) => result.contains(ask)));
    if (lacking.length) {
      const isMain = lacking.some((ask) => asksOf(ask.closest(".result"))[0] === ask);
      note(form, "bad", "", isMain ? form.dataset.lacking : form.dataset.unanswered);
      focusAsk(lacking[0]);
    } else if (unplayed(form).length) {
      const media = unplayed(form)[0];
      note(form, "bad", "", form.dataset.unplayed);
      media.focus({ preventScroll: true });
      media.scrollIntoView({ block: "nearest" });
    } else {
      note(form);
      send(form);
    }
  });

  // --- a picture, large, beside its query -----------------------------------------------------------------------
  const figure = (link, caption) => {
    const box = document.createElement("figure");
    const image = document.createElement("img");
    image.src = link.href;
    image.alt = $("img", link).alt;
    const words = document.createElement("figcaption");
    words.textContent = caption;
    box.append(image, words);
    return box;
  };
  const tagOf = (link) => { const tag = $(".tag", link.closest(".query, .couple > div, .result, .pictures > div") || link); return tag ? tag.textContent : ""; };
  const enlarge = (link) => {
    const dialog = document.createElement("dialog");
    dialog.className = "large";
    dialog.setAttribute("aria-label", $("img", link).alt || tagOf(link));
    const inside = document.createElement("div");
    inside.className = "inside";
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = $("[data-close]").dataset.close;
    const sides = document.createElement("div");
    sides.className = "sides";
    const query = $(".query [data-enlarge]");
    if (query && query !== link) sides.append(figure(query, tagOf(query)));
    sides.append(figure(link, tagOf(link)));
    inside.append(close, sides);
    dialog.append(inside);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    // The browser gives the focus back to where it is now, which Safari does not move when a link is clicked.
    link.focus({ preventScroll: true });
    dialog.showModal();
  };

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-enlarge]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      enlarge(link);
    }
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const target = $(copy.dataset.copy);
      try {
        await navigator.clipboard.writeText(target.value || target.textContent);
        copy.textContent = copy.dataset.done;
      } catch {
        // No clipboard here, as on a page that came by http: at least mark it, ready for Ctrl+C.
        if (target.select) { target.focus(); target.select(); } else getSelection().selectAllChildren(target);
      }
    }
  });

  document.addEventListener("submit", (event) => {
    const sure = event.target.dataset.sure;
    if (sure && !confirm(sure)) event.preventDefault();
  });

  // --- the answer, as high as what it shows ----------------------------------------------------------------------
  const frame = $("iframe.answer");
  const fit = () => {
    const inside = frame.contentDocument && frame.contentDocument.documentElement;
    if (inside && inside.scrollHeight > 100) { frame.style.height = "auto"; frame.style.height = `${inside.scrollHeight + 2}px`; }
  };
  if (frame) { frame.addEventListener("load", fit); addEventListener("resize", fit); fit(); }

  // --- the researcher's figures, kept up to date while somebody looks --------------------------------------------
  const inHand = (part) => part.contains(document.activeElement) || $("details[open]", part);
  const renew = (part, fresh) => {
    const along = $$(".scroll", part).map((table) => table.scrollLeft);
    part.replaceWith(document.adoptNode(fresh));
    $$(".scroll", fresh).forEach((table, place) => { table.scrollLeft = along[place] || 0; });
  };
  setInterval(async () => {
    const box = $("[data-live-switch]");
    if (!box || !box.checked || document.hidden || inHand($("[data-live=figures]"))) return;
    try {
      const response = await fetch(location.href, { credentials: "same-origin" });
      if (!response.ok || response.redirected) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const part of $$("[data-live]")) {
        const fresh = $(`[data-live="${part.dataset.live}"]`, page);
        if (fresh && !inHand(part)) renew(part, fresh);
      }
    } catch { /* the next turn tries again */ }
  }, 10000);

  // --- each page, once it is there ------------------------------------------------------------------------------
  const start = (swapped = false) => {
    const form = ratingForm();
    for (const mark of $$(".slider .ticks > span")) mark.style.insetInlineStart = `${mark.dataset.along}%`;
    if (!form) {
      for (const scale of $$("fieldset.slider")) showSlider(scale);
      if (swapped) $("main").focus({ preventScroll: true });
      return;
    }
    timer.begin();
    pace.show();
    for (const scale of $$("fieldset.scale", form)) scale.tabIndex = -1; // takes the focus, and is no stop of the tab key
    form.noValidate = true; // the browser's bubbles give way to words of the study's own language
    restoreDraft(form);
    for (const scale of $$("fieldset.slider", form)) showSlider(scale);
    restorePlayed(form);
    const box = $("[data-keys]");
    if (box) box.checked = !storage.read("keys").off;
    const first = asks(form).find(lacks) || asks(form)[0];
    if (first && keysOn() && matchMedia("(any-pointer: fine)").matches) {
      ownPlace(first).focus({ preventScroll: true });
    } else if (swapped) {
      $("main").focus({ preventScroll: true }); // a screen reader begins with the new page, not where the old one ended
    }
    const listed = (name) => (form.dataset[name] || "").split(" ").filter(Boolean);
    for (const address of listed("preload")) new Image().src = address;
    form.ahead = listed("preloadMedia").map((address) =>
      Object.assign(document.createElement("video"), { preload: "metadata", muted: true, src: address }));
  };
  start();
})();
