// The filter is part of the page's address, so that a link to it shows the same findings.
const start = "#?";
const nothing = { text: "", level: "", rule: "", folder: "", by: "file" };
const wanted = { ...nothing };
const few = 50;

const recall = () => {
  const query = new URLSearchParams(location.hash.slice(start.length));
  for (const key of Object.keys(nothing)) wanted[key] = query.get(key) ?? nothing[key];
  if (groups[wanted.by] === undefined) wanted.by = nothing.by;
};

// Some viewers do not allow changes of the address; then it remains unchanged.
const remember = () => {
  const said = Object.entries(wanted).filter(([key, value]) => value !== nothing[key]);
  try {
    history.replaceState(null, "", said.length > 0 ? start + new URLSearchParams(said) : location.pathname + location.search);
  } catch {
    return;
  }
};

const has = (one, words) => {
  one.words ??= [one.path, one.rule, message(one)].join(" ").toLowerCase();
  return words.every((word) => one.words.includes(word));
};

const fits = (one, words) =>
  ["level", "rule", "folder"].every((key) => wanted[key] === "" || wanted[key] === one[key]) && has(one, words);

const narrowed = () => Object.keys(nothing).some((key) => key !== "by" && wanted[key] !== "");

// Returns whether any shown group is folded, so that the button unfolds all groups; otherwise it folds them.
const folded = () => groups[grouped].some((one) => !one.node.hidden && !one.node.open);
const name_fold = () => (element("fold").textContent = folded() ? "Expand all" : "Collapse all");

// Shows the findings that match the filter, in groups; unfolds the groups if a filter leaves only few findings.
const show = () => {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const here = groups[wanted.by];
  for (const group of here) Object.assign(group, { all: 0, kept: [] });
  for (const one of findings) {
    const group = one.in[wanted.by];
    one.stays = fits(one, words);
    group.all += 1;
    if (one.stays) group.kept.push(one);
  }
  const shown = here.reduce((sum, group) => sum + group.kept.length, 0);
  for (const group of here) {
    fill(group);
    const part = group.kept.length < group.all ? `${group.kept.length} shown` : "";
    if (group.part.textContent !== part) group.part.textContent = part;
    group.node.hidden = group.kept.length === 0;
    if (shown <= few && narrowed()) group.node.open = true;
  }
  element("by-file").hidden = wanted.by !== "file";
  element("by-rule").hidden = wanted.by !== "rule";
  grouped = wanted.by;
  name_fold();
  element("shown").textContent = `${shown.toLocaleString("en-US")} of ${findings.length.toLocaleString("en-US")} findings`;
};

const chip = (key) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip";
  button.name = key;
  button.value = wanted[key];
  button.textContent = wanted[key];
  button.title = "Remove from the filter";
  return button;
};

const mark = () => {
  for (const button of document.querySelectorAll("button[aria-pressed]")) {
    button.setAttribute("aria-pressed", wanted[button.name] === button.value);
  }
  element("chosen").replaceChildren(...["rule", "folder"].filter((key) => wanted[key] !== "").map(chip));
  element("clear").hidden = !narrowed();
  if (element("text").value !== wanted.text) element("text").value = wanted.text;
  for (const radio of element("filter").elements.by) radio.checked = radio.value === wanted.by;
};

const apply = () => {
  show();
  mark();
};

const ask = (change) => {
  Object.assign(wanted, change);
  remember();
  apply();
};

