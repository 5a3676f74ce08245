"use strict";
// What a script adds to a page that is whole without one: a choice of theme, and tables that sort and filter.

{
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const next = { auto: "dark", dark: "light", light: "auto" };
  const show = () => {
    button.textContent = "Theme: " + (root.dataset.theme || "auto");
  };
  button.addEventListener("click", () => {
    const theme = next[root.dataset.theme || "auto"];
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    try {
      if (theme === "auto") localStorage.removeItem("nccl-report-theme");
      else localStorage.setItem("nccl-report-theme", theme);
    } catch {
      // The choice lasts as long as the page.
    }
    show();
  });
  button.hidden = false;
  show();
}

for (const frame of document.querySelectorAll("div.table")) {
  const body = frame.querySelector("tbody");
  const rows = [...body.rows];
  if (rows.length > 1) makeSortable(frame, body, rows);
  if (rows.length > 7) makeFilterable(frame, rows);
}

function makeSortable(frame, body, rows) {
  const heads = [...frame.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const numeric = head.classList.contains("n");
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      // Numbers begin with the largest, names with the first.
      const up = was ? was === "descending" : !numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = rows.map((row, place) => ({ row, place, key: keyOf(row.cells[column], numeric) }));
      keyed.sort((a, b) => compare(a.key, b.key, up) || a.place - b.place);
      body.append(...keyed.map((entry) => entry.row));
    });
  });
}

// A number where there is one, text else; null where the cell says that nothing is known.
function keyOf(cell, numeric) {
  const text = cell.textContent.trim();
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  if (text === "" || text === "–") return null;
  if (!numeric) return text;
  const number = Number.parseFloat(text);
  return Number.isNaN(number) ? text : number;
}

// What isn't known comes last either way.
function compare(a, b, up) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order =
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  return up ? order : -order;
}

function makeFilterable(frame, rows) {
  const caption = frame.querySelector("caption").textContent;
  const tools = document.createElement("div");
  tools.className = "tools";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Filter rows";
  input.setAttribute("aria-label", "Filter rows of: " + caption);
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  tools.append(input, status);
  frame.prepend(tools);
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      const fits = words.every((word) => texts[index].includes(word));
      row.hidden = !fits;
      if (fits) shown += 1;
    });
    status.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
  });
}

// Print shows everything, open or not.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
