// A search over statements: all words that are typed occur in an entry, which has the chosen topic,
// kind and status.
(function () {
  "use strict";
  const FIELDS = [["topic", "all topics"], ["kind", "all kinds"], ["standing", "all statuses"]];

  function made(name, attributes, ...inside) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...inside);
    return node;
  }

  function open(box) {
    const entries = JSON.parse(box.querySelector("script").textContent);
    const texts = entries.map((entry) => Object.values(entry).join("\n").toLowerCase());
    const line = made("input", {
      type: "text", "aria-label": "words of statements and hypotheses",
      placeholder: "words of statements and hypotheses, e.g. hardmax 1/n",
    });
    const choices = FIELDS.map(([field, all]) => {
      const values = [...new Set(entries.map((entry) => entry[field]))];
      const options = values.map((value) => made("option", { value }, value));
      return made("select", { "aria-label": field }, made("option", { value: "" }, all), ...options);
    });
    const count = made("p", { class: "ww-count", role: "status" });
    const list = made("div", { class: "ww-found" });

    function shown(entry) {
      const link = made("a", { href: `statements/${entry.name}.html` }, entry.name);
      const about = ` ${entry.topic}, ${entry.kind}, ${entry.standing}. `;
      const assumed = entry.hypotheses === "none" ? [] : [made("p", {}, made("em", {}, "Hypotheses. "), entry.hypotheses)];
      const rest = made("details", {}, made("summary", {}, link, about), ...assumed, made("p", {}, entry.statement));
      return rest;
    }
    function update() {
      const words = line.value.toLowerCase().split(/\s+/).filter(Boolean);
      const chosen = choices.map((choice) => choice.value);
      const found = entries.filter((entry, i) =>
        words.every((word) => texts[i].includes(word)) &&
        FIELDS.every(([field], j) => !chosen[j] || entry[field] === chosen[j]));
      const filtered = words.length || chosen.some(Boolean);
      count.textContent = `${found.length} of ${entries.length} statements`;
      list.replaceChildren(...(filtered ? found.map(shown) : []));
    }
    for (const control of [line, ...choices]) control.addEventListener("input", update);
    box.append(made("div", { class: "ww-controls" }, line, ...choices), count, list);
    update();
  }
  document.querySelectorAll(".ww-search").forEach(open);
})();
