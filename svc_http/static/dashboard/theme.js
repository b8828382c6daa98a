// Before the first paint, so that no page flashes in the other colours. It blocks: keep it tiny.
try {
  for (const name of ["theme", "density"]) {
    const choice = localStorage.getItem(name);
    if (choice) document.documentElement.dataset[name] = choice;
  }
} catch { /* storage is forbidden: the system's colours */ }
