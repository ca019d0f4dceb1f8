/** Reads the tools of a body in OpenAI's form. */

import { isText } from '#lib/builtin-server/http/json-body.ts'
import { badBody } from '#lib/builtin-server/http/refusal.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** A tool that a request offers to the model. */
export interface AnnouncedTool extends ToolSpec {
  /** Whether forced calls follow its schema. */
  readonly isStrict: boolean
}

/** Returns the checked tools. Throws HttpRefusal. */
export function toolSpecs(tools: readonly unknown[] = []): readonly AnnouncedTool[] {
  return tools.map((tool, index) => {
    const definition = isObject(tool) ? tool.function : undefined
    if (!isObject(definition)) throw badBody('missing', ['tools', index, 'function'], 'Field required')
    if (!isText(definition.name)) throw badBody('missing', ['tools', index, 'function', 'name'], 'Field required')
    return {
      name: definition.name,
      inputSchema: isObject(definition.parameters) ? definition.parameters : {},
      isStrict: definition.strict === true,
    }
  })
}
