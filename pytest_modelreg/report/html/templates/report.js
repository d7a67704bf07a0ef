"use strict";
(function () {
  const form = document.querySelector(".filters");
  const count = document.getElementById("filter-count");
  const caseField = document.getElementById("filter-case");
  const tagField = document.getElementById("filter-tag");
  const chips = Array.from(form.querySelectorAll(".chip"));
  const rows = Array.from(document.querySelectorAll(".row"));
  const cases = Array.from(document.querySelectorAll(".case"));
  const samplesOf = new Map(cases.map((each) => [each, Array.from(each.querySelectorAll(".sample"))]));
  const nSamples = Array.from(samplesOf.values()).reduce((sum, found) => sum + found.length, 0);
  const nothing = document.querySelector(".nothing");

  function plural(number, noun) {
    return number + " " + noun + (number === 1 ? "" : "s");
  }

  function apply() {
    const verdicts = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.verdict);
    const text = caseField.value.trim().toLowerCase();
    const tag = tagField ? tagField.value : "";
    let nShown = 0;
    let nShownSamples = 0;
    const shownCases = new Set();
    const fits = (each) =>
      (verdicts.length === 0 || verdicts.includes(each.dataset.verdict)) &&
      (text === "" || each.dataset.name.toLowerCase().includes(text));
    for (const each of cases) {
      let nOfCase = 0;
      for (const sample of samplesOf.get(each)) {
        const has = tag === "" || sample.dataset.tags.includes(" " + tag + " ");
        sample.hidden = !has;
        nOfCase += has ? 1 : 0;
      }
      const isShown = fits(each) && (tag === "" || nOfCase > 0);
      each.hidden = !isShown;
      if (isShown) {
        shownCases.add(each.dataset.case);
        nShownSamples += nOfCase;
      }
    }
    for (const row of rows) {
      const isKnown = document.getElementById("case-" + row.dataset.case) !== null;
      row.hidden = isKnown ? !shownCases.has(row.dataset.case) : !(fits(row) && tag === "");
      nShown += row.hidden ? 0 : 1;
    }
    nothing.hidden = nShown > 0;
    count.textContent = "Showing " + nShown + " of " + plural(rows.length, "case") + ", " + nShownSamples + " of " + plural(nSamples, "sample") + ".";
  }

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  caseField.addEventListener("input", apply);
  if (tagField) {
    tagField.addEventListener("change", apply);
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    chips.forEach((chip) => chip.setAttribute("aria-pressed", "false"));
    setTimeout(apply);
  });

  // A link to a case opens it, so that it never leads to something folded.
  function openTarget() {
    const target = location.hash.startsWith("#case-") ? document.getElementById(location.hash.slice(1)) : null;
    if (target) {
      target.querySelector(".case-body").open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", openTarget);

  // On paper nothing can be unfolded.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    folded.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((each) => { each.open = false; });
    folded = [];
  });

  form.hidden = false;
  apply();
  openTarget();
})();
