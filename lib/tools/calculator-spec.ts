import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** Specification of the built-in calculator. Templates render it, so every word of it becomes prompt tokens. */
export const CALCULATOR_SPEC: ToolSpec = {
  name: 'calculator',
  description: 'Evaluate an arithmetic expression.',
  inputSchema: {
    type: 'object',
    properties: {
      expression: { type: 'string', description: 'The expression, for example (1 + 2) * 3. Operators: + - * / % **' },
    },
    required: ['expression'],
  },
}
