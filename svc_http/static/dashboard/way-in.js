// The token of a one-use link stands in the fragment of its address, which no server and no log sees. It is put into
// the form and sent once; the address loses it, so that neither the history nor a bookmark keeps it.
const form = document.querySelector("form[data-link]");
const token = location.hash.slice(1);
if (form && token) {
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.hidden = true;
  document.querySelector("[data-waiting]").hidden = false;
  form.submit();
}
