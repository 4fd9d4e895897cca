// The page works without this. With it, the page asks for itself again and again, and takes over what has changed, node
// by node: so a selection, an open part and the focus stay. A page that nobody sees asks for nothing, unless a person
// wants to be told when a loop needs them.
"use strict";
(() => {
  const root = new URL(".", document.currentScript.src); // with the token; nothing else may know it
  const every = 2000, unseen = 30000;
  const at = id => document.getElementById(id);
  const live = () => at("live");
  const said = at("following"), lost = at("lost"), notify = at("notify");
  let tag = "", answered = new Date(), asking = false, timer;
  let filter = location.search; // of what is shown: another one brings loops that are not new

  const key = node => node.nodeType === 1 ? node.dataset.key || node.id : "";
  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && key(a) === key(b);
  const selected = node => { const s = getSelection(); return !s.isCollapsed && s.containsNode(node, true); };

  const takeText = (old, fresh) => {
    if (old.data === fresh.data) return;
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.data.length));
    else if (!selected(old)) old.data = fresh.data;
  };

  const take = (old, fresh) => {
    if (old.nodeType === 3) return takeText(old, fresh);
    if (old.nodeType !== 1 || old.isEqualNode(fresh)) return;
    if (old.matches("time") && old.outerHTML.split(">")[0] === fresh.outerHTML.split(">")[0]) return;
    for (const { name } of [...old.attributes])
      if (!fresh.hasAttribute(name) && name !== "open" && name !== "hidden") old.removeAttribute(name);
    for (const { name, value } of fresh.attributes)
      if (name !== "open" && name !== "hidden" && name !== "value") old.setAttribute(name, value);
    if (old.matches("select, input, textarea")) return;
    const end = old.matches("pre[data-end]") && old.scrollTop + old.clientHeight >= old.scrollHeight - 4;
    const keyed = new Map([...old.childNodes].filter(key).map(n => [key(n), n]));
    let here = old.firstChild;
    for (const want of [...fresh.childNodes]) {
      const have = key(want) ? keyed.get(key(want)) : here;
      if (!have || !alike(have, want)) { old.insertBefore(want, here); continue; }
      if (have === here) here = here.nextSibling; else old.insertBefore(have, here);
      take(have, want);
    }
    while (here) { const next = here.nextSibling; here.remove(); here = next; }
    if (end) old.scrollTop = old.scrollHeight;
  };

  const ago = seconds => seconds < 60 ? Math.floor(seconds) + " s" : seconds < 3600 ? Math.floor(seconds / 60) + " min"
    : seconds < 86400 ? Math.floor(seconds / 3600) + " h" : Math.floor(seconds / 86400) + (seconds < 172800 ? " day" : " days");
  const units = (large, of, small, ofSmall) => large + " " + of + (small ? " " + small + " " + ofSmall : "");
  const span = seconds => {
    const s = Math.floor(seconds), m = Math.floor(s / 60), h = Math.floor(m / 60);
    return s < 60 ? s + " s" : m < 60 ? m + " min" : h < 24 ? units(h, "h", m % 60, "min")
      : units(Math.floor(h / 24), "d", h % 24, "h");
  };
  const tick = () => {
    if (document.hidden || document.body.classList.contains("lost")) return;
    for (const t of document.querySelectorAll("time")) {
      const at = new Date(t.dateTime), seconds = Math.max(0, (Date.now() - at) / 1000);
      const text = t.dataset.runs ? span(seconds) : ago(seconds) + " ago";
      if (t.textContent !== text && !selected(t)) { t.textContent = text; t.title = at.toLocaleString(); }
    }
  };

  const dress = () => {
    for (const b of document.querySelectorAll("button.copy, #show-keys")) b.hidden = false;
    for (const b of document.querySelectorAll("#filter button")) b.hidden = true; // it filters while one types
    tick();
  };

  const needing = root => new Map([...root.querySelectorAll("[data-needs]")].map(n => [n.dataset.key, n.dataset.needs]));
  const tell = (before, after) => {
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    for (const [id, name] of after) if (!before.has(id)) new Notification(name + " needs you", { tag: id });
  };

  let title = document.title; // while there is contact
  const lose = why => {
    document.title = "no contact · ralph";
    document.body.classList.add("lost");
    lost.textContent = why;
    lost.hidden = false;
    said.textContent = "no contact since " + answered.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  };
  const refusals = {
    401: "The server has another token now. Type 'ralph-runner serve' and open the address that it prints.",
    404: "There is no such loop any more: it was deleted, or its project is gone.",
  };

  const refresh = async () => {
    if (asking) return;
    asking = true;
    const asked = location.search;
    try {
      const answer = await fetch(location.href, {
        headers: tag ? { "If-None-Match": tag } : {},
        signal: AbortSignal.timeout(8000), // a server that hangs is lost, too
      });
      if (answer.status === 200) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        tag = answer.headers.get("ETag") || "";
        const before = needing(live()), focus = document.activeElement;
        take(live(), fresh.getElementById("live"));
        if (focus.isConnected && focus !== document.activeElement) focus.focus({ preventScroll: true }); // it has moved
        if (asked === filter) tell(before, needing(live()));
        filter = asked;
        title = fresh.title;
        at("icon").href = fresh.getElementById("icon").getAttribute("href");
        dress();
      }
      if (answer.ok || answer.status === 304) {
        answered = new Date();
        document.title = title;
        document.body.classList.remove("lost");
        lost.hidden = true;
        said.textContent = "live";
      } else lose(refusals[answer.status] || "The server answers: " + answer.status + " " + answer.statusText);
    } catch (e) {
      lose("No contact with the server since " + answered.toLocaleTimeString() + ": what you see is old. To start it: " +
        "ralph-runner serve" + (location.port ? " --port " + location.port : ""));
    }
    asking = false;
  };

  const follows = () => live() && live().dataset.live === "true";
  const wanted = () => "Notification" in window && Notification.permission === "granted";
  const again = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (follows() && (!document.hidden || wanted())) await refresh();
      again();
    }, document.hidden ? unseen : every);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden && follows()) refresh(); again(); });

  document.addEventListener("click", async e => {
    const from = e.target.dataset && e.target.dataset.copy;
    if (!from) return;
    const was = e.target.textContent;
    try {
      await navigator.clipboard.writeText(at(from).textContent);
      e.target.textContent = "copied";
    } catch (refused) {
      getSelection().selectAllChildren(at(from)); // the person can copy it by key
    }
    setTimeout(() => { e.target.textContent = was; }, 1500);
  });
  if ("Notification" in window && Notification.permission === "default" && at("filter")) {
    notify.hidden = false;
    notify.addEventListener("click", async () => { await Notification.requestPermission(); notify.hidden = true; });
  }

  const form = at("filter");
  if (form) {
    let wait;
    form.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(() => {
        history.replaceState(null, "", root.pathname + "?" + new URLSearchParams(new FormData(form)));
        refresh();
      }, 200);
    });
  }

  // Keys. What can be reached with them can be reached with the tab key, too.
  const go = id => { const to = at(id); if (to) to.click(); return to; };
  const rows = () => [...document.querySelectorAll(".rows .name, .feats summary, .log li > a")];
  const move = by => {
    const all = rows(), here = all.indexOf(document.activeElement);
    const to = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, here + by))];
    if (to) { to.focus(); to.scrollIntoView({ block: "nearest" }); }
    return to;
  };
  const row = () => document.activeElement.closest(".rows > li, .feats > li") || document;
  const field = id => { const to = at(id); if (to) { to.focus(); to.scrollIntoView({ block: "nearest" }); } return to; };
  const keys = {
    j: () => move(1), k: () => move(-1), u: () => go("up"), "/": () => field("q"), f: () => go("follow"),
    a: () => field("text") || row().querySelector("a.first, a[href$='#answer']")?.click(),
    c: () => (row().querySelector(".copy") || document.querySelector(".copy"))?.click(),
    l: () => document.querySelector("a[href*='/session/']")?.click(), "?": () => at("keys").togglePopover?.(),
    "[": () => go("before"), "]": () => go("after"),
  };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
    const tabs = document.querySelectorAll("[id^='tab-']");
    const act = keys[e.key] || (/^[1-7]$/.test(e.key) && tabs[e.key - 1] && (() => tabs[e.key - 1].click()));
    if (!act) return;
    e.preventDefault();
    act();
  });

  if (!live()) return;
  for (const pre of document.querySelectorAll("pre[data-end]")) pre.scrollTop = pre.scrollHeight;
  dress();
  setInterval(tick, 1000);
  if (follows()) { refresh(); again(); }
})();
