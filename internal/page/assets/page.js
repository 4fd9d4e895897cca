// The page works without this. With it, it follows the loops: when the server says that something has changed, it asks
// for the same page again and puts the new content in the place of the old one.
"use strict";
(() => {
  const said = document.getElementById("following");
  const live = () => document.getElementById("live");
  let asking = false, again = false;

  const toEnd = (pre, top) => { pre.scrollTop = top === undefined ? pre.scrollHeight : top; };

  const keep = (old, fresh) => {
    const open = new Map();
    for (const d of old.querySelectorAll("details[data-key]")) open.set(d.dataset.key, d.open);
    for (const d of fresh.querySelectorAll("details[data-key]"))
      if (open.has(d.dataset.key)) d.open = open.get(d.dataset.key);
  };

  const refresh = async () => {
    if (!live()) return;
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(answer.statusText);
      const text = await answer.text();
      const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
      const old = live();
      if (fresh && old && fresh.innerHTML !== old.dataset.was) {
        const was = fresh.innerHTML;
        keep(old, fresh);
        const tops = new Map();
        for (const pre of old.querySelectorAll("pre[id]"))
          if (pre.scrollTop + pre.clientHeight < pre.scrollHeight - 4) tops.set(pre.id, pre.scrollTop);
        const focus = document.activeElement;
        const inside = focus && old.contains(focus);
        const id = inside ? focus.id : "";
        const key = inside && focus.parentElement ? focus.parentElement.dataset.key : "";
        fresh.dataset.was = was;
        old.replaceWith(fresh);
        for (const pre of fresh.querySelectorAll("pre[data-end]")) toEnd(pre, tops.get(pre.id));
        const next = id ? document.getElementById(id)
          : key ? fresh.querySelector('details[data-key="' + CSS.escape(key) + '"] > summary') : null;
        if (next) next.focus({ preventScroll: true });
      }
    } catch (e) {
      said.textContent = "The server does not answer. Start it again to go on.";
    }
    asking = false;
    if (again) { again = false; refresh(); }
  };

  if (!live()) return;
  for (const pre of document.querySelectorAll("pre[data-end]")) toEnd(pre);
  const events = new EventSource("/events");
  events.addEventListener("open", () => { said.textContent = "Following the loops."; refresh(); });
  events.addEventListener("change", refresh);
  events.addEventListener("error", () => { said.textContent = "The server does not answer; trying again."; });
  setInterval(() => { if (live() && live().dataset.live === "true" && !document.hidden) refresh(); }, 3000);

  const form = document.getElementById("filter");
  if (form) {
    let wait;
    form.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(() => {
        const query = new URLSearchParams(new FormData(form)).toString();
        history.replaceState(null, "", "/?" + query);
        refresh();
      }, 200);
    });
  }
})();
