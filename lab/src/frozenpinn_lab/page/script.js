"use strict";
(() => {
  const table = document.getElementById("results");
  const filter = document.getElementById("filter");
  const select = document.getElementById("sort");
  const count = document.getElementById("count");

  // A body of the table is a record: its row and, below, the details.
  const bodies = table ? [...table.tBodies] : [];
  const heads = table ? [...table.tHead.rows[0].cells].filter((cell) => cell.dataset.key) : [];
  const cellOf = (body, key) => body.rows[0].querySelector(`[data-key="${CSS.escape(key)}"]`);

  function compare(key, sign) {
    return (one, two) => {
      const a = cellOf(one, key).dataset, b = cellOf(two, key).dataset;
      const byPlace = one.dataset.order - two.dataset.order;
      if (a.text !== undefined) return sign * a.text.localeCompare(b.text, "en", { numeric: true }) || byPlace;
      if (a.value === undefined || b.value === undefined) {  // what is missing comes last in both directions
        return (a.value === undefined) - (b.value === undefined) || byPlace;
      }
      return sign * (Number(a.value) - Number(b.value)) || byPlace;
    };
  }

  function sort(key, direction) {
    const known = heads.some((head) => head.dataset.key === key);
    for (const head of heads) head.setAttribute("aria-sort", known && head.dataset.key === key ? direction : "none");
    const order = known && direction !== "none"
      ? compare(key, direction === "ascending" ? 1 : -1)
      : (one, two) => one.dataset.order - two.dataset.order;
    bodies.sort(order);
    table.append(...bodies);
    if (select) select.value = known && direction !== "none" ? key : "";
    show();
  }

  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, previous = null;
    for (const body of bodies) {
      const text = body.rows[0].textContent.toLowerCase();
      body.hidden = !words.every((word) => text.includes(word));
      if (body.hidden) continue;
      shown += 1;
      const name = body.querySelector(".case").textContent;
      body.classList.toggle("repeat", name === previous);
      previous = name;
    }
    count.textContent = shown === bodies.length ? `${shown} rows` : `${shown} of ${bodies.length} rows`;
  }

  // "#sort=seconds", "#sort=-seconds", "#filter=heat", joined by "&": a view that can be linked to.
  function followHash() {
    if (!location.hash.includes("=")) return;
    const wish = new URLSearchParams(location.hash.slice(1));
    if (wish.has("filter")) filter.value = wish.get("filter");
    const key = wish.get("sort") || "";
    sort(key.replace(/^-/, ""), key.startsWith("-") ? "descending" : "ascending");
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("th[data-key]");
    if (head) {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      sort(head.dataset.key, next[head.getAttribute("aria-sort")]);
    } else if (button.hasAttribute("aria-controls")) {
      const more = document.getElementById(button.getAttribute("aria-controls"));
      more.hidden = !more.hidden;
      button.setAttribute("aria-expanded", String(!more.hidden));
    } else if (button.classList.contains("copy")) {
      copy(button.parentElement.querySelector("code"), button);
    }
  });

  async function copy(code, button) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  if (table) {
    filter.addEventListener("input", show);
    select.addEventListener("change", () => sort(select.value, select.value ? "ascending" : "none"));
    addEventListener("hashchange", followHash);
    followHash();
  }
})();
