const fold = () => {
  const open = folded();
  for (const one of groups[grouped]) one.node.open = open;
  name_fold();
};

// A link to a component opens its picture, next to the findings of its file.
const reveal = (node) => {
  if (node === null || node.closest(".canvas") === null) return;
  if (node.closest("[hidden]") !== null) {
    Object.assign(wanted, nothing);
    apply();
  }
  for (let one = node.closest("details"); one !== null; one = one.parentElement.closest("details")) one.open = true;
  node.scrollIntoView({ block: "center", inline: "center" });
};

// A link to a finding opens its group, and clears the filter if it excludes the finding.
const follow = () => {
  const target = findings.find((one) => "#" + one.node.id === location.hash);
  if (target === undefined) {
    reveal(element(location.hash.slice(1)));
    return;
  }
  if (!target.stays) {
    Object.assign(wanted, nothing);
    apply();
  }
  target.in[grouped].node.open = true;
  target.node.scrollIntoView();
};

const press = (button) => {
  if (button.matches(".copy")) copy(button);
  else if (button.id === "csv") save();
  else if (button.id === "fold") fold();
  else if (button.id === "clear") ask({ ...nothing, by: wanted.by });
  else if (button.name !== "") ask({ [button.name]: wanted[button.name] === button.value ? "" : button.value });
};

addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button !== null) press(button);
});

for (const one of document.querySelectorAll(".live")) one.hidden = false;

if (element("filter") !== null) {
  let asked = 0;
  element("text").addEventListener("input", () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => ask({ text: element("text").value }));
  });
  for (const radio of element("filter").elements.by) radio.addEventListener("change", () => ask({ by: radio.value }));
  element("filter").addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("button:disabled")) button.disabled = false;
  addEventListener("hashchange", () => {
    if (location.hash.startsWith(start)) {
      recall();
      apply();
    }
    follow();
  });
  if (location.hash.startsWith(start)) recall();
  apply();
  follow();
}
