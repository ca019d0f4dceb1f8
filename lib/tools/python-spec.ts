import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** Specification of the built-in tool `python`. Templates render it, so every word of it becomes prompt tokens. */
export const PYTHON_SPEC: ToolSpec = {
  name: 'python',
  description:
    'Run Python 3.14: the standard library, no network, no files of the host. The result is what the code prints, then ' +
    'the value of its last expression. Variables are kept from call to call.',
  inputSchema: {
    type: 'object',
    properties: { code: { type: 'string', description: 'The code.' } },
    required: ['code'],
  },
}
