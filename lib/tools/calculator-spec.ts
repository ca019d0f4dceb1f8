/** The built-in calculator as templates print it: every token of it is part of prompts. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

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
