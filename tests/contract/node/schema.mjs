// A JSON schema as response format, in the form of each OpenAI protocol.

const schema = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
  additionalProperties: false,
};

export function placeFormat(protocol) {
  const inner = { name: "place", schema, strict: true };
  return protocol === "chat" ? { type: "json_schema", json_schema: inner } : { type: "json_schema", ...inner };
}

export { schema };
