// Newton's method in weights: points that can be dragged, and the predictions of the transformers
// of 0, 1, … k steps at each x, against least squares.
(function () {
  "use strict";
  const { Model } = weightwright;
  const SVG = "http://www.w3.org/2000/svg";
  const [WIDTH, HEIGHT, EDGE] = [640, 360, 30];
  const START = [[-0.9, -0.5], [-0.5, -0.6], [-0.1, 0.1], [0.3, 0.2], [0.6, 0.7], [0.9, 0.6]];
  const GRID = Array.from({ length: 41 }, (_, i) => -1 + i / 20);

  function made(name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }
  const across = (x) => EDGE + ((x + 1) / 2) * (WIDTH - 2 * EDGE);
  const down = (y) => HEIGHT / 2 - (y / 1.2) * (HEIGHT / 2 - EDGE);
  const within = (value, most) => Math.max(-most, Math.min(most, value));

  // Predictions at the grid, of a model that takes examples (1, x, y) and queries (1, x, 0).
  function predicted(model, points) {
    const tokens = [...points.map(([x, y]) => [1, x, y]), ...GRID.map((x) => [1, x, 0])];
    const { streams } = model.run(tokens, points.length);
    return streams[streams.length - 1].slice(points.length).map((row) => model.unembedded(row)[0]);
  }

  // Of all lines a + b·x the one with the least squares, or the least norm where there are many.
  function leastSquares(points) {
    const sum = (of) => points.reduce((total, point) => total + of(point), 0);
    const n = points.length, X = sum(([x]) => x), XX = sum(([x]) => x * x);
    const Y = sum(([, y]) => y), XY = sum(([x, y]) => x * y), det = n * XX - X * X;
    if (Math.abs(det) > 1e-9) return [(XX * Y - X * XY) / det, (n * XY - X * Y) / det];
    const [x, y] = [X / n, Y / n];
    return [y / (1 + x * x), (x * y) / (1 + x * x)];
  }

  function open(box) {
    const models = JSON.parse(box.querySelector("script").textContent).map((data) => new Model(data));
    const points = START.map((point) => [...point]);
    const svg = made("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "ww-plot", role: "group",
      "aria-label": "examples, predictions and the least-squares line",
    });
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: models.length - 1, value: 3, id: "ww-steps" });
    const label = document.createElement("label");
    label.htmlFor = "ww-steps";
    const said = document.createElement("p");
    said.setAttribute("role", "status");
    const controls = document.createElement("div");
    controls.className = "ww-controls";
    controls.append(label, slider);
    box.append(controls, svg, said);

    const axes = made("g", { class: "ww-axes" });
    axes.append(
      made("line", { x1: across(-1), x2: across(1), y1: down(0), y2: down(0) }),
      made("line", { x1: across(0), x2: across(0), y1: down(-1.2), y2: down(1.2) }));
    const lines = made("g", {});
    svg.append(axes, lines);
    const marks = points.map((point, i) => {
      const mark = made("circle", { r: 8, class: "ww-point", tabindex: 0, role: "slider" });
      mark.addEventListener("pointerdown", (event) => {
        mark.setPointerCapture(event.pointerId);
        event.preventDefault();
        mark.focus();
      });
      mark.addEventListener("pointermove", (event) => {
        if (!mark.hasPointerCapture(event.pointerId)) return;
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        move(i, ((at.x - EDGE) / (WIDTH - 2 * EDGE)) * 2 - 1, ((HEIGHT / 2 - at.y) / (HEIGHT / 2 - EDGE)) * 1.2);
      });
      mark.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] }[event.key];
        if (!step) return;
        event.preventDefault();
        move(i, points[i][0] + step[0], points[i][1] + step[1]);
      });
      svg.append(mark);
      return mark;
    });

    function move(i, x, y) {
      points[i] = [within(x, 1), within(y, 1.2)];
      draw();
    }

    function draw() {
      const k = Number(slider.value), [a, b] = leastSquares(points);
      const path = (values) => values.map((y, i) => `${i ? "L" : "M"}${across(GRID[i])} ${down(y)}`).join("");
      const all = models.map((model) => predicted(model, points));
      lines.replaceChildren(
        ...all.slice(0, k).map((values) => made("path", { d: path(values), class: "ww-before" })),
        made("path", { d: path(GRID.map((x) => a + b * x)), class: "ww-least" }),
        made("path", { d: path(all[k]), class: "ww-now" }));
      marks.forEach((mark, i) => {
        const [x, y] = points[i];
        mark.setAttribute("cx", across(x));
        mark.setAttribute("cy", down(y));
        mark.setAttribute("aria-label", `example ${i + 1}, x ${x.toFixed(2)}, y ${y.toFixed(2)}; arrow keys move it`);
        mark.setAttribute("aria-valuenow", y.toFixed(2));
      });
      const off = Math.max(...all[k].map((y, i) => Math.abs(y - a - b * GRID[i])));
      const layers = models[k].blocks.length;
      label.textContent = `Newton steps k = ${k} (${layers} layer${layers === 1 ? "" : "s"})`;
      const most = off < 1e-3 ? off.toExponential(1).replace("-", "−") : off.toPrecision(2);
      said.textContent = `The transformer is at most ${most} off the least-squares line (dashed) on [−1, 1].`;
      box.dataset.predictions = JSON.stringify(all[k]);
    }
    slider.addEventListener("input", draw);
    draw();
  }

  const start = () => document.querySelectorAll(".ww-newton").forEach(open);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
