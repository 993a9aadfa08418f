// Search over documents and the package. The index is loaded when it is first needed.
const box = document.getElementById("search");
const input = box.querySelector("input");
const list = box.querySelector("ol");
const said = box.querySelector("output");
const home = box.dataset.home;
box.hidden = false;

let loaded;
function ready(then) {
  loaded ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${home}data/search.js`;
    script.onload = done;
    document.head.append(script);
  });
  loaded.then(then);
}

// A word as it may begin in a text.
function pattern(word) {
  const literal = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}`, "iu");
}

// Every word has to occur; it counts more in a heading.
function score(patterns, [, title, heading, text]) {
  let total = 0;
  for (const each of patterns) {
    const found = (each.test(heading) ? 8 : 0) + (each.test(title) ? 4 : 0) + (each.test(text) ? 1 : 0);
    if (!found) return 0;
    total += found;
  }
  return total;
}

function excerpt(text, [first]) {
  const from = text.lastIndexOf(" ", Math.max(text.search(first) - 40, 0)) + 1;
  const to = text.indexOf(" ", from + 140);
  return `${from ? "… " : ""}${text.slice(from, to < 0 ? undefined : to)}${to < 0 ? "" : " …"}`;
}

function show() {
  const words = input.value.trim().split(/\s+/).filter(Boolean).map(pattern);
  const found = SECTIONS.map((section) => [score(words, section), section])
    .filter(([points]) => points)
    .sort(([one], [other]) => other - one)
    .slice(0, 12);
  list.replaceChildren(
    ...found.map(([, [address, title, heading, text]]) => {
      const item = document.createElement("li");
      const link = item.appendChild(document.createElement("a"));
      link.href = home + address;
      link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
      item.append(document.createElement("br"), excerpt(text, words));
      return item;
    }),
  );
  said.textContent = words.length && !found.length ? "Nothing found" : "";
}

input.addEventListener("input", () => ready(show));
box.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
box.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  input.value = "";
  ready(show);
  input.focus();
});
