// The findings in the order of the page, and the groups that they can be in.
const element = (id) => document.getElementById(id);

const group = (node) => ({
  node,
  name: node.querySelector("h3").textContent,
  part: node.querySelector(".part"),
  list: node.querySelector(".list"),
  all: 0,
  kept: [],
});
const groups = {
  file: Array.from(document.querySelectorAll("#by-file > details"), group),
  rule: Array.from(document.querySelectorAll("#by-rule > details"), group),
};
const of_rule = new Map(groups.rule.map((one) => [one.name, one]));

const finding = (node, file) => {
  const rule = node.querySelector(".rule").textContent;
  const path = file.name;
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  return { node, rule, path, folder, level: node.classList[0], file, in: { file, rule: of_rule.get(rule) }, words: null, stays: true };
};
const findings = groups.file.flatMap((file) => Array.from(file.list.children, (node) => finding(node, file)));

const place = (one) => one.node.querySelector(".place").textContent;
const message = (one) => one.node.querySelector(".message").textContent;

// Each finding is on the page at most once: in the group that shows it, or not at all if the filter excludes it.
let grouped = "file";
const fill = ({ list, kept }) => {
  if (list.childElementCount === kept.length && kept.every((one) => one.node.parentNode === list)) return;
  list.replaceChildren();
  for (const one of kept) list.append(one.node);
};

