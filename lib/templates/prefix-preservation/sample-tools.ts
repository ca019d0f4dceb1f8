/** The tool that conversations call where none is given. */
export const SAMPLE_TOOL_NAME = 'get_weather'

export const SAMPLE_TOOLS: readonly unknown[] = [
  {
    type: 'function',
    function: {
      name: SAMPLE_TOOL_NAME,
      description: 'The weather of the next days',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city', 'days'],
      },
    },
  },
]

export const SAMPLE_TOOLS_JSON: string = JSON.stringify(SAMPLE_TOOLS)
