// Passkeys: a button makes one, or signs in with one, and its form sends what the browser answers.
const acts = {
  create: (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  get: (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
};

async function answer(button) {
  const options = JSON.parse(button.dataset.options);
  const { form } = button;
  const handle = form.elements.handle?.value;
  if (options.user && handle) options.user.name = options.user.displayName = handle;
  const fault = form.querySelector("[data-passkey-fault]");
  fault.hidden = true;
  button.disabled = true;
  try {
    const credential = await acts[button.dataset.passkey](options);
    form.querySelector("[data-answer]").value = JSON.stringify(credential.toJSON());
    form.submit();
  } catch (failure) {
    fault.textContent = failure.name === "NotAllowedError" ? "It was cancelled, or took too long." : failure.message;
    fault.hidden = false;
    button.disabled = false;
  }
}

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const button of document.querySelectorAll("[data-passkey]")) {
    button.hidden = false;
    button.addEventListener("click", () => answer(button));
  }
}
