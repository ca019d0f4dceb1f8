/** Thrown when an MCP server could not be used; the message gives the reason. */
export class McpError extends Error {
  override readonly name = 'McpError'
}
