"use strict";
(() => {
  const form = document.getElementById("filters");
  const rows = [...document.querySelectorAll(".pages > li")];
  const said = document.getElementById("shown");
  const show = () => {
    const words = form.elements.words.value.trim().toLowerCase();
    const chosen = ["vendor", "auditor", "year", "marks"].map((name) => [name, form.elements[name].value]);
    let count = 0;
    for (const row of rows) {
      const fits = chosen.every(([name, value]) =>
        value === "" || (name === "marks" ? row.dataset.marks.split(" ").includes(value) : row.dataset[name] === value));
      row.hidden = !(fits && (words === "" || row.dataset.words.includes(words)));
      count += row.hidden ? 0 : 1;
    }
    said.textContent = `${count} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
