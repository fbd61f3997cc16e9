// Programs of the library that run in a page: a program and its parameter are chosen, and a model of
// verify/site/programs.py is shown with its source.  The element has the class ww-programs.
(function () {
  "use strict";
  const { element, runs, weights } = weightwright;

  function open(box, number) {
    const programs = JSON.parse(box.querySelector("script").textContent);
    function choice(name) {
      const select = element("select", { id: `ww-${name}-${number}` });
      return { select, label: element("label", { for: select.id }) };
    }
    const [program, parameter] = [choice("program"), choice("parameter")];
    program.label.textContent = "Program";
    const source = element("code", {}), call = element("code", {});
    const model = element("div", { class: "ww-model" });
    const drawn = element("details", {});
    const fill = (select, texts) =>
      select.replaceChildren(...texts.map((text, i) => element("option", { value: i }, text)));

    function show(typed) {
      const { model: data, python } = programs[program.select.value].choices[parameter.select.value];
      call.textContent = python;
      model.replaceChildren();
      runs(model, data, typed);
      drawn.replaceChildren(element("summary", {}, "Its weights, by register"), weights(data));
    }
    function choose() {
      const { parameter: name, choices, source: text } = programs[program.select.value];
      parameter.label.textContent = name;
      parameter.label.hidden = parameter.select.hidden = !name;
      fill(parameter.select, choices.map((each) => each.text));
      source.textContent = text;
      show();
    }
    program.select.addEventListener("input", choose);
    // Another parameter: the same tokens, if the model takes them.
    parameter.select.addEventListener("input", () => show(model.querySelector(".ww-tokens").value));
    fill(program.select, programs.map(({ name }) => name));
    box.append(
      element("div", { class: "ww-controls" }, program.label, program.select, parameter.label, parameter.select),
      ...[[source, "source"], [call, "call"]].map(([code, label]) =>
        element("pre", { class: "ww-wide", tabindex: "0", "aria-label": label }, code)),
      model, drawn);
    choose();
  }

  const start = () => document.querySelectorAll(".ww-programs").forEach(open);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
