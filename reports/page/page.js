"use strict";
// Tables sort by a click on a heading. Cells with data-value are numbers; a number that is not
// there comes last in both directions.
const inWords = new Intl.Collator(undefined, { numeric: true });
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const rows = Array.from(body.rows, (row) => ({ row, cell: row.cells[column] }));
      const numeric = head.classList.contains("number");
      const sorted = head.getAttribute("aria-sort");
      // numbers start with the greatest, words with the first
      const falling = sorted ? sorted === "ascending" : numeric;
      const value = ({ cell }) => parseFloat(cell.dataset.value);
      rows.sort((a, b) => {
        if (!numeric) {
          const order = inWords.compare(a.cell.textContent, b.cell.textContent);
          return falling ? -order : order;
        }
        const x = value(a), y = value(b);
        if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
        return falling ? y - x || 0 : x - y || 0;
      });
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      body.append(...rows.map(({ row }) => row));
    });
  });
}
