// Judgements of replies: right, wrong, it is this one, and a field for the right program. Only where the server keeps a log.

import { el } from "./dom.js";

// The buttons below a reply. `send` posts a judgement and rejects with what is wrong with it.
export function judge(reply, send) {
  const said = el("span", { class: "said", role: "status", "aria-live": "polite" });
  const input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": "The right program", placeholder: "The right program, if you know it" });
  input.value = reply.program ?? reply.guess?.program ?? "";
  const form = el("form", { class: "correct", hidden: "" }, input, el("button", { type: "submit", class: "quiet" }, "Send"));
  const tell = async (body, thanks) => {
    said.classList.remove("bad");
    said.textContent = "…";
    try {
      await send(body);
      said.textContent = thanks;
      return true;
    } catch (problem) {
      said.classList.add("bad");
      said.textContent = problem.message;
      return false;
    }
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const program = input.value.trim();
    const isSame = !program || program === reply.program;
    if (isSame) {
      said.textContent = "Write the program that would have been right.";
    } else if (await tell({ verdict: "wrong", program }, "Kept as the right program.")) {
      form.hidden = true;
    }
  });
  const button = (text, onclick, title) => el("button", { type: "button", class: "quiet", onclick, title }, text);
  const wrong = button("Wrong", async () => {
    form.hidden = false;
    input.focus();
    await tell({ verdict: "wrong" }, "Kept as wrong. Which program is right?");
  });
  const right = reply.program === null ? null : button("Right", () => {
    form.hidden = true;
    tell({ verdict: "right" }, "Kept as right.");
  });
  const never = button("Should not be answered", () => {
    form.hidden = true;
    tell({ verdict: "unanswerable" }, "Kept as a question without an answer.");
  }, "No program of this language means this");
  const known = reply.program === null ? button("I know the program", () => {
    form.hidden = false;
    input.focus();
  }) : wrong;
  const bar = el("div", { class: "judge" }, el("span", { class: "soft" }, reply.program === null ? "What should it be?" : "Is this right?"), right, known, never, said, form);
  return { bar, tell };
}

// The button on an alternative.
export function choose(program, tell) {
  return el("button", { type: "button", class: "quiet this-one", onclick: () => tell({ verdict: "wrong", program }, "Kept: it is the other program.") }, "It is this one");
}
