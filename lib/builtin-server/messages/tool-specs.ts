/** The tools that a body announces, in OpenAI's form. */

import { isText } from '#lib/builtin-server/http/json-body.ts'
import { badBody } from '#lib/builtin-server/http/refusal.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

export interface AnnouncedTool extends ToolSpec {
  /** Calls keep to its schema where they are forced. */
  readonly isStrict: boolean
}

/** Throws a Refusal. */
export function toolSpecs(tools: readonly unknown[] = []): readonly AnnouncedTool[] {
  return tools.map((tool, index) => {
    const given = isObject(tool) ? tool.function : undefined
    if (!isObject(given)) throw badBody('missing', ['tools', index, 'function'], 'Field required')
    if (!isText(given.name)) throw badBody('missing', ['tools', index, 'function', 'name'], 'Field required')
    return {
      name: given.name,
      inputSchema: isObject(given.parameters) ? given.parameters : {},
      isStrict: given.strict === true,
    }
  })
}
