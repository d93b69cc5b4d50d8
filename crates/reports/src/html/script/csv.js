// Returns the shown findings as a CSV table. A cell that a spreadsheet would read as a formula starts with a quote.
const cell = (text) => `"${/^[\s'"]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]/.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;

const table = () => {
  const line = (one) => place(one).slice(one.path.length + 1);
  const level = (one) => one.node.querySelector(".badge").textContent;
  const link = (one) => one.node.querySelector("a:has(> .place)")?.href ?? "";
  const rows = findings
    .filter((one) => one.stays)
    .map((one) => [level(one), one.rule, one.path, line(one), message(one), link(one)]);
  const lines = [["level", "rule", "path", "line", "message", "link"], ...rows].map((row) => row.map(cell).join(","));
  // The byte order mark makes spreadsheets read the file as UTF-8.
  return "\uFEFF" + lines.join("\r\n") + "\r\n";
};

const save = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
  link.download = "findings.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

