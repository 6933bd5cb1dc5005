// The page works without this; it folds the contents on small screens and lets Escape close a figure.
const contents = document.querySelector(".contents");
if (contents && matchMedia("(max-width: 69.99rem)").matches) contents.open = false;
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const box of document.querySelectorAll(".zoom input:checked")) box.checked = false;
});
