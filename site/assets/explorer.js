// The explorer: what is chosen stands in the address, and everything on the page follows from it.
"use strict";

const find = (selector) => document.querySelector(selector);
const colors = ["--m-first", "--m-second", "--m-third", "--m-fourth", "--m-fifth"];
const received = {};  // by view: curves and details
const hidden = new Set();  // numbers of people that are not shown
const chosen = { view: "default", claim: "", axis: "linear" };

const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const view = () => SITE.views.find((one) => one.slug === chosen.view);
const shorten = (x) => x.toFixed(4).replace("-", "−");

function receive(slug, content) {  // called by data/VIEW.js
  received[slug] = content;
}

function load(slug) {  // a page from disk may load scripts, but not fetch data
  if (received[slug]) return Promise.resolve();
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = `data/${slug}.js`;
    script.onload = done;
    script.onerror = fail;
    document.head.append(script);
  });
}

function people() {
  const curves = received[chosen.view].curves ?? {};
  return [...new Set(Object.values(curves).flatMap(Object.keys))]
    .sort((a, b) => (a === "∞") - (b === "∞") || a - b);
}

function rows(algorithm, metric) {
  const found = [];
  for (const [m, curve] of Object.entries(received[chosen.view].curves[algorithm] ?? {})) {
    if (hidden.has(m)) continue;
    curve.iteration.forEach((iteration, i) => {
      if (chosen.axis === "log" && iteration === 0) return;
      const [value, low, high] = ["", "_low", "_high"].map((end) => curve[metric + end][i]);
      const average = curve[`mean_${metric}`][i];
      found.push({ people: m, number: m === "∞" ? Infinity : Number(m), iteration, value, low, high, average });
    });
  }
  return found;
}

async function drawPanel({ algorithm, metric, title }) {
  const figure = document.getElementById(`${algorithm}-${metric}`);
  const spec = structuredClone(SITE.chart);
  const [ink, line] = [variable("--ink"), variable("--line")];
  spec.datasets = { ...spec.datasets, curves: rows(algorithm, metric) };
  spec.description = `${title} against iterations, ${view().title}; the table below has the numbers.`;
  spec.config = {
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line,
      titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 12 },
    rule: { color: ink },
    range: { category: people().map((_, i) => variable(colors[i % colors.length])) },
  };
  if (spec.datasets.curves.every(({ low }) => low === null)) {  // of a single seed
    spec.layer.shift();
    const { encoding } = spec.layer.at(-1);
    encoding.tooltip = encoding.tooltip.filter(({ field }) => !["low", "high"].includes(field));
  }
  for (const layer of spec.layer) {
    if (layer.encoding.x) layer.encoding.x.scale = { type: chosen.axis, nice: false };
    if (layer.encoding.color) layer.encoding.color.scale = { domain: people() };
  }
  await vegaEmbed(figure.querySelector(".chart"), spec, { actions: false, renderer: "svg" });
}

function showValues() {
  const share = find("#at").value;
  find("#share").textContent = `${share} %`;
  const body = find("#values tbody");
  body.replaceChildren();
  for (const [algorithm, curves] of Object.entries(received[chosen.view].curves ?? {})) {
    const label = SITE.panels.find((panel) => panel.algorithm === algorithm).title.split(":")[0];
    for (const m of people().filter((one) => curves[one] && !hidden.has(one))) {
      const { iteration, ...columns } = curves[m];
      const target = (share / 100) * iteration.at(-1);
      const i = iteration.reduce((best, x, j) =>
        Math.abs(x - target) < Math.abs(iteration[best] - target) ? j : best, 0);
      const cell = (metric) => {
        const [value, low, high] = ["", "_low", "_high"].map((end) => columns[metric + end][i]);
        return low === null ? shorten(value) : `${shorten(value)} [${shorten(low)}, ${shorten(high)}]`;
      };
      const row = body.insertRow();
      row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: label }));
      const cells = [m, iteration[i].toLocaleString("en"), cell("optimality_gap"),
        cell("constraint_violation")];
      for (const text of cells) row.insertCell().textContent = text;
    }
  }
}

function showPeople() {
  find("#people").replaceChildren(...people().map((m, i) => {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), {
      type: "checkbox", name: "people", value: m, checked: !hidden.has(m),
    });
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = `var(${colors[i % colors.length]})`;
    label.append(box, swatch, ` M = ${m}`);
    return label;
  }));
}

function showVerdicts() {
  const cells = document.querySelectorAll(`#matrix .experiment a.cell[data-view="${chosen.view}"]`);
  find("#verdicts").replaceChildren(...[...cells].map((cell) => {
    const item = document.createElement("li");
    const button = Object.assign(document.createElement("button"), {
      type: "button", textContent: cell.closest("tr").querySelector("th").textContent,
    });
    button.addEventListener("click", () => choose({ claim: cell.dataset.claim }, true));
    button.setAttribute("aria-pressed", cell.dataset.claim === chosen.claim);
    const mark = Object.assign(document.createElement("span"), {
      className: cell.className, textContent: cell.textContent, title: cell.ariaLabel,
    });
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", cell.ariaLabel.split(": ").at(-1));
    item.append(mark, button);
    return item;
  }));
}

function showDetail() {
  const detail = received[chosen.view].details[chosen.claim];
  const hint = document.querySelector("#matrix a.cell") ? "Choose a statement, or a cell of the table."
    : "There are no verdicts in this copy.";
  find("#detail").innerHTML = detail ?? `<p>${hint}</p>`;
  for (const cell of document.querySelectorAll("#matrix a.cell")) {
    const { view: slug, claim } = cell.dataset;
    cell.toggleAttribute("aria-current", slug === chosen.view && claim === chosen.claim);
  }
  for (const panel of SITE.panels) {
    const about = chosen.claim.startsWith(panel.algorithm.split("_")[0]);
    document.getElementById(`${panel.algorithm}-${panel.metric}`).classList.toggle("about", about);
  }
}

async function show() {
  await load(chosen.view);
  const { title, about, seeds, missing } = view();
  const curves = received[chosen.view].curves;
  find("#view").value = chosen.view;
  find("#about").textContent = curves ? `${title}: ${about} Curves are ${seeds === 1 ? "of one seed" : `means over ${seeds} seeds`}.`
    : `${title}: ${about}`;
  find("#missing").innerHTML = missing;
  find("#missing").hidden = Boolean(curves);
  find("#panels").hidden = find("#reader").hidden = !curves;
  for (const choice of document.querySelectorAll("#controls fieldset")) choice.hidden = !curves;
  find("#download").href = `data/${chosen.view}.csv`;
  for (const head of document.querySelectorAll("#matrix thead th")) {
    head.classList.toggle("chosen", head.dataset.view === chosen.view);
  }
  const [column, box] = [find("#matrix th.chosen"), find("#matrix").parentElement];
  const hiddenBy = column.offsetLeft + column.offsetWidth - box.scrollLeft - box.clientWidth;
  if (hiddenBy > 0) box.scrollLeft += hiddenBy;
  showPeople();
  showVerdicts();
  showDetail();
  showValues();
  if (curves) await Promise.all(SITE.panels.map(drawPanel));
  document.body.dataset.shown = chosen.view;
}

async function choose(change, look = false) {
  Object.assign(chosen, change);
  const { view: slug, claim } = chosen;
  history.replaceState(null, "", `#${new URLSearchParams({ view: slug, claim })}`);
  delete document.body.dataset.shown;
  await show();
  if (look) find("#detail").scrollIntoView({ block: "nearest" });
}

function follow() {  // the address
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (SITE.views.some((one) => one.slug === given.view)) chosen.view = given.view;
  chosen.claim = given.claim ?? "";
  return show();
}

// One cell of the matrix is in the order of the tab key; arrows go from there.
function walk(event) {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const cell = event.target.closest("a.cell");
  if (!step || !cell) return;
  const table = find("#matrix tbody");
  let [row, column] = [cell.closest("tr").sectionRowIndex, cell.closest("td").cellIndex];
  for (;;) {
    [row, column] = [row + step[0], column + step[1]];
    const place = table.rows[row]?.cells[column];
    if (!place) return;
    const next = place.querySelector("a.cell");
    if (next) {
      event.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      return;
    }
  }
}

document.querySelectorAll("#matrix a.cell").forEach((cell, i) => { cell.tabIndex = i ? -1 : 0; });
document.querySelectorAll(".needs-script").forEach((part) => { part.hidden = false; });
find("#controls").addEventListener("change", ({ target }) => {
  if (target.name === "people") hidden[target.checked ? "delete" : "add"](target.value);
  choose(target.id === "view" ? { view: target.value } : target.name === "axis" ? { axis: target.value } : {});
});
find("#controls").addEventListener("submit", (event) => event.preventDefault());
find("#at").addEventListener("input", showValues);
find("#matrix").addEventListener("keydown", walk);
find("#matrix").addEventListener("click", (event) => {
  const target = event.target.closest("a.cell");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose({ view: target.dataset.view, claim: target.dataset.claim }, true);
});
window.addEventListener("hashchange", follow);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
follow();
