/** The lab's tools, for parsers. */
import { isObject } from '#lib/json/json-object.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** Returns the tools; none if the text is not a JSON list, because the render reports the error. Entries without a name are left out. */
export function toolsIn(text: string): readonly ToolSpec[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  return Array.isArray(value) ? value.flatMap(toolIn) : []
}

/** Reads `{type: "function", function: {…}}`, or the inner object alone. */
function toolIn(value: unknown): ToolSpec[] {
  const tool = isObject(value) && isObject(value.function) ? value.function : value
  if (!isObject(tool) || typeof tool.name !== 'string') return []
  const schema = [tool.parameters, tool.inputSchema, tool.input_schema].find(isObject) ?? {}
  return [
    {
      name: tool.name,
      ...(typeof tool.description === 'string' && { description: tool.description }),
      inputSchema: schema,
    },
  ]
}
