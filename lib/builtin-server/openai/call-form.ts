/** How a call of a tool is written, as a grammar forces it. */
import type { CallForm } from '#lib/builtin-server/engine/job.ts'
import type { AnnouncedTool } from '#lib/builtin-server/messages/tool-specs.ts'

/** By SGLang's `--tool-call-parser qwen`: arguments are any object, unless the tool is strict. */
export const callForm = ({ name, inputSchema, isStrict }: AnnouncedTool): CallForm => ({
  begin: `<tool_call>\n{"name":${JSON.stringify(name)}, "arguments":`,
  schema: JSON.stringify(isStrict ? inputSchema : { type: 'object' }),
  end: '}\n</tool_call>',
})
