// The page works without this. It folds the contents on small screens, though never in print, and
// lets Escape close an enlarged figure.
const contents = document.querySelector(".contents");
if (contents && matchMedia("(max-width: 69.99rem)").matches) contents.open = false;
addEventListener("beforeprint", () => contents && (contents.open = true));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const box of document.querySelectorAll(".zoom input:checked")) box.checked = false;
});
