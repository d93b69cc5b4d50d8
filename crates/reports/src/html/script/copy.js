// If the page is not a secure context, there is no clipboard API, so a selection is copied instead.
const copy_selected = (text) => {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
};

const copy = async (button) => {
  const text = button.closest("article, details, .again").querySelector(".copied").textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = copy_selected(text);
    button.focus();
  }
  const before = button.textContent;
  const said = done ? "Copied" : "Could not copy";
  if (before === said) return;
  button.textContent = said;
  element("said")?.replaceChildren(said);
  setTimeout(() => (button.textContent = before), 1500);
};

