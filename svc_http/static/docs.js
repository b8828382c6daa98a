// Starts the API reference without any request to another host.
Scalar.createApiReference("#app", {
  url: document.querySelector("#app").dataset.url,
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
  authentication: { preferredSecurityScheme: "bearerAuth" },
  persistAuth: false,
});
