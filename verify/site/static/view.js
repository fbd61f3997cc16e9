// Pictures of a model and of its run: weights by register; tokens that can be typed, answers,
// attention and registers layer by layer.  Every element with the class ww-model holds the JSON of
// verify/site/exported.py in a script of its own.
(function () {
  "use strict";
  const { Model } = weightwright;
  const SVG = "http://www.w3.org/2000/svg";

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function drawn(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // A number in few characters, and one in all that matter.
  function brief(value) {
    if (Number.isNaN(value)) return "–";
    const text = String(Number(value.toPrecision(2))).replace("-", "−");
    return text.length > 4 ? value.toExponential(0).replace("-", "−").replace("+", "") : text;
  }
  const exact = (value) => String(value).replace("-", "−");

  // A matrix as a picture: entries [row, column, value]; rows and columns are groups [name, size].
  function heat(entries, rows, columns, { cell, label, numbers }) {
    const places = (groups) => groups.flatMap(([name, size]) =>
      Array.from({ length: size }, (_, i) => (size === 1 ? name : `${name}[${i}]`)));
    const down = places(rows), across = places(columns);
    const longest = (groups) => Math.max(...groups.map(([name]) => String(name).length));
    const slanted = columns.some(([name, size]) => String(name).length * 7 > size * cell);
    const left = 10 + 7 * longest(rows), top = slanted ? 12 + 6 * longest(columns) : 18;
    const right = slanted ? 4 * longest(columns) : 2;
    const [w, h] = [across.length * cell, down.length * cell];
    const svg = drawn("svg", {
      role: "img", "aria-label": label, width: left + w + right, height: top + h + 2, class: "ww-heat",
    });
    const largest = entries.reduce((most, [, , v]) => Math.max(most, Math.abs(v) || 0), 0) || 1;
    svg.append(drawn("rect", { x: left, y: top, width: w, height: h, class: "ww-ground" }));
    for (const [r, c, value] of entries) {
      const x = left + c * cell, y = top + r * cell;
      const kind = Number.isNaN(value) ? "ww-none" : value > 0 ? "ww-plus" : "ww-minus";
      const strength = Number.isNaN(value) ? 1 : Math.sqrt(Math.abs(value) / largest);
      const box = drawn("rect", {
        x, y, width: cell, height: cell, class: kind, "fill-opacity": (0.12 + 0.78 * strength).toFixed(3),
      });
      box.append(drawn("title", {}, `${down[r]}, ${across[c]}: ${exact(value)}`));
      svg.append(box);
      if (numbers) {
        const at = { x: x + cell / 2, y: y + cell / 2 + 4, class: "ww-number" };
        svg.append(drawn("text", strength > 0.7 ? { ...at, class: "ww-number ww-strong" } : at, brief(value)));
      }
    }
    let at = 0;
    for (const [name, size] of rows) {
      const y = top + (at + size / 2) * cell + 4;
      svg.append(drawn("text", { x: left - 5, y, class: "ww-row" }, name));
      at += size;
      svg.append(drawn("line", { x1: left, x2: left + w, y1: top + at * cell, y2: top + at * cell }));
    }
    at = 0;
    for (const [name, size] of columns) {
      const x = left + (at + size / 2) * cell, y = top - 5;
      const turn = slanted ? { transform: `rotate(-50 ${x} ${y})` } : { "text-anchor": "middle" };
      svg.append(drawn("text", { x, y, ...turn }, name));
      at += size;
      svg.append(drawn("line", { y1: top, y2: top + h, x1: left + at * cell, x2: left + at * cell }));
    }
    return element("div", { class: "ww-wide", tabindex: "0", role: "group", "aria-label": label }, svg);
  }

  const dense = (rows) => rows.flatMap((row, r) =>
    Array.from(row, (value, c) => [r, c, value]).filter(([, , value]) => value !== 0));

  // A · B or A · Bᵀ of sparse matrices, as entries that are not 0.
  function product(A, B, transposed) {
    const turned = (M) => ({
      shape: [M.shape[1], M.shape[0]],
      at: M.at.map((p) => (p % M.shape[1]) * M.shape[0] + Math.floor(p / M.shape[1])),
      is: M.is,
    });
    const [left, right] = [listed(A), listed(transposed ? turned(B) : B)];
    const sums = new Map();
    for (const [r, k, a] of left) {
      for (const [m, c, b] of right) {
        if (m === k) sums.set(`${r} ${c}`, (sums.get(`${r} ${c}`) || 0) + a * b);
      }
    }
    return [...sums].map(([key, v]) => [...key.split(" ").map(Number), v]).filter(([, , v]) => v);
  }

  const listed = ({ shape, at, is }) =>
    at.map((place, i) => [Math.floor(place / shape[1]), place % shape[1], is[i]]);

  const DRAWN = 120; // rows of a picture, at most

  // The weights of a model by register: embedding, layer by layer, unembedding.
  function weights(data) {
    const registers = data.registers.map(([name, start, stop]) => [name, stop - start]);
    const cell = data.registers[data.registers.length - 1][2] > 24 ? 9 : 14;
    const box = element("div", { class: "ww-weights" });
    function section(title, lines) {
      const pictures = element("div", { class: "ww-row-of" });
      const words = element("ul", { class: "ww-words" }, ...lines.map((line) => element("li", {}, line)));
      box.append(element("section", {}, element("h4", {}, title), words, pictures));
      return (caption, entries, rows, columns) => {
        const count = rows.reduce((sum, [, size]) => sum + size, 0);
        const label = `${title.toLowerCase()}, ${caption}`;
        pictures.append(element("figure", {}, element("figcaption", {}, caption), count > DRAWN
          ? `${count} rows are too many to be drawn` : heat(entries, rows, columns, { cell, label })));
      };
    }
    const one = ["1", 1];
    const front = section("Embedding", []);
    front(data.tokens ? "of each token (down)" : "of each input (down)",
      listed(data.W_E), [[data.tokens ? "tokens" : "inputs", data.W_E.shape[0]]], registers);
    if (data.W_pos) front("of each position (down)", listed(data.W_pos), [["places", data.W_pos.shape[0]]], registers);
    data.blocks.forEach((block, number) => {
      const add = section(`Layer ${number + 1}`, block.lines);
      block.heads.forEach((head, h) => {
        const name = block.heads.length > 1 ? `head ${h + 1}` : "head";
        const constants = head.b_Q.some((b) => b) || head.b_K.some((b) => b);
        const scores = constants ? bordered(head) : product(head.W_Q, head.W_K, true);
        const sides = constants ? [...registers, one] : registers;
        add(`${name}: queries (down) and keys`, scores, sides, sides);
        add(`${name}: value (down) to output`, product(head.W_V, head.W_O), registers, registers);
      });
      if (block.mlp) {
        const { W_in, b_in, W_out, b_out } = block.mlp, units = ["neurons", b_in.length];
        add("MLP: inputs of its neurons (down)", turnedEntries(withBias(W_in, b_in)), [units], [...registers, one]);
        add("MLP: outputs of its neurons (down)", withBias(W_out, b_out), [units, one], registers);
      }
    });
    section("Read-out", [])("what each answer (across) is read from",
      withBias(data.W_U, data.b_U), [...registers, one], [["answers", data.W_U.shape[1]]]);
    return box;
  }

  // A matrix, with its bias, if it has one, as a last row for the constant 1.
  const withBias = (W, b) =>
    [...listed(W), ...(b || []).flatMap((value, i) => (value ? [[W.shape[0], i, value]] : []))];

  const turnedEntries = (entries) => entries.map(([r, c, v]) => [c, r, v]);

  // (W_Q; b_Q)(W_K; b_K)ᵀ: with a last row and column for the constant 1.
  function bordered(head) {
    const below = (W, b) => ({
      shape: [W.shape[0] + 1, W.shape[1]],
      at: [...W.at, ...b.map((_, i) => W.shape[0] * W.shape[1] + i)],
      is: [...W.is, ...b],
    });
    return product(below(head.W_Q, head.b_Q), below(head.W_K, head.b_K), true);
  }

  // A model that runs: tokens are typed, `first` to begin with, and everything follows.
  function runs(box, data, first) {
    const model = new Model(data);
    const kinds = data.tokens, layers = data.blocks.length;
    const { names, code, values } = kinds.objects || {};
    const id = `ww-${document.querySelectorAll(".ww-tokens").length}`;
    const line = element("input", {
      id, class: "ww-tokens", type: "text", inputmode: names ? "text" : "numeric", autocomplete: "off",
      autocapitalize: "off", spellcheck: "false",
    });
    const message = element("p", { class: "ww-message", role: "status" });
    const answers = element("div", { class: "ww-wide" });
    const layer = element("input", { id: `${id}-layer`, type: "range", min: 0, max: layers, value: layers });
    const which = element("span", { class: "ww-which" });
    const home = element("p", { class: "ww-wide" });
    const inside = element("div", {});
    const random = element("button", { type: "button" }, "Random tokens");
    const on = element("button", { type: "button" }, "Continue");
    on.hidden = !kinds.continues;
    random.hidden = !kinds.random;

    const range = (place) => (kinds.slots ? kinds.slots[place] : [0, kinds.vocabulary]);
    function drawTokens() {
      line.value = Array.from(data.sample, (_, place) => {
        const [low, end] = range(place);
        return name(low + Math.floor(Math.random() * (end - low)));
      }).join(" ");
    }
    const name = (token) => (names ? names[token] : String(token));
    // Names of one character need no space between them.
    const between = names && names.some((each) => each.includes(",")) ? /\s+/ : /[\s,]+/;
    const short = names && names.every((each) => [...each].length === 1);
    const words = (text) => text.split(between).filter(Boolean).flatMap((word) => (short ? [...word] : [word]));
    const read = (text) => words(text).map((word) => (names ? names.indexOf(word) : Number(word)));
    const typed = () => read(line.value);

    function show() {
      const tokens = typed(), rejected = model.rejected(tokens);
      line.setAttribute("aria-invalid", String(Boolean(rejected)));
      message.textContent = rejected;
      on.disabled = Boolean(rejected);
      if (rejected) {  // nothing is shown that would be of other tokens
        answers.replaceChildren();
        inside.replaceChildren();
        which.textContent = "";
        delete box.dataset.answers;
        return;
      }
      const found = model.answer(tokens);
      const front = kinds.prefix.map((_, i) => (kinds.prefix.length > 1 ? `BOS${i + 1}` : "BOS"));
      const behind = found.prompt.slice(front.length + tokens.length).map(() => "∅");
      const shown = tokens.map(name), all = [...front, ...shown, ...behind];
      const said = found.answers.map((answer) => (answer < 0 ? "⊥" : names ? values[answer] : String(answer)));
      const cells = (row, kind) => row.map((text) => element(kind, {}, text));
      answers.replaceChildren(element("table", { class: "ww-answers" },
        element("tr", {}, element("th", { scope: "row" }, "token"), ...cells(shown, "td")),
        element("tr", {}, element("th", { scope: "row" }, kinds.whole ? "answer" : kinds.ends ? "output" : "answers"), ...cells(said, "td"))));
      const none = said.includes("⊥") ? `⊥: the model has no answer (in Python ${names ? "None" : "−1"}). ` : "";
      const empty = behind.length ? "∅: an empty token that follows the input. " : "";
      const given = names ? tokens.map((token) => code[token]) : tokens;
      home.replaceChildren(`${none}${empty}At home: `, element("code", {}, `print(model([${given.join(", ")}]))`));
      box.dataset.answers = JSON.stringify(found.answers);
      const at = Number(layer.value);
      which.textContent = at === 0 ? "the embedding" : `after layer ${at} of ${layers}`;
      const registers = data.registers.map(([name, start, stop]) => [name, stop - start]);
      const places = all.map((each) => [each, 1]);
      const block = at > 0 ? data.blocks[at - 1] : null;
      const words = block ? element("ul", { class: "ww-words" }, ...block.lines.map((each) => element("li", {}, each))) : "";
      const looks = element("div", { class: "ww-row-of" }, ...(block ? found.patterns[at - 1] : []).map((pattern, h) =>
        element("figure", {}, element("figcaption", {}, `attention of head ${h + 1}, from each token (down)`),
          heat(dense(pattern), places, places, { cell: 20, label: `attention of layer ${at}, head ${h + 1}` }))));
      inside.replaceChildren(words, looks, element("figure", {},
        element("figcaption", {}, `registers of each token (down), ${which.textContent}`),
        heat(dense(found.streams[at]), places, registers, { cell: 30, label: "registers", numbers: true })));
      on.disabled = found.answers[found.answers.length - 1] < 0 || tokens.length >= kinds.most;
    }

    line.addEventListener("input", show);
    layer.addEventListener("input", show);
    random.addEventListener("click", () => { drawTokens(); show(); });
    on.addEventListener("click", () => {
      const next = model.answer(typed()).answers.slice(-1);
      line.value = [...typed(), ...next].map(name).join(" ");
      show();
    });
    const some = kinds.least > 1 ? `${kinds.least} to ${kinds.most}` : `up to ${kinds.most}`;
    const length = kinds.length === null ? some : `${kinds.length}`;
    box.append(
      element("label", { for: id }, names
        ? `Tokens (${length} of ${names.join(", ")})` : `Tokens (${length} whole numbers from 0 to ${kinds.vocabulary - 1})`),
      element("div", { class: "ww-controls" }, line, random, on), message, answers, home,
      element("div", { class: "ww-controls" }, element("label", { for: `${id}-layer` }, "Layer"), layer, which),
      inside);
    line.value = first && !model.rejected(read(first)) ? first : data.sample.map(name).join(" ");
    show();
  }

  function open() {
    for (const box of document.querySelectorAll(".ww-model")) {
      const data = JSON.parse(box.querySelector("script").textContent);
      if (data.tokens) runs(box, data);
    }
    for (const box of document.querySelectorAll(".ww-drawn")) {
      const data = JSON.parse(document.getElementById(box.dataset.of).querySelector("script").textContent);
      box.append(weights(data));
    }
  }

  Object.assign(weightwright, { element, heat, runs, weights });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", open);
  else open();
})();
