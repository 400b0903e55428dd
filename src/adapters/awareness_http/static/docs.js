// Swagger UI on this server's own description. No validator and no other service is asked anything.
"use strict";

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
  // The key stays in the page: it is gone when the tab is.
  persistAuthorization: false,
});
