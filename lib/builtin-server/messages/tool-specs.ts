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
