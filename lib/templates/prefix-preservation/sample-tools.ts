/** Name of the tool that conversations call if no tools are given. */
export const SAMPLE_TOOL_NAME = 'get_weather'

/** The tools of conversations if none are given. */
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

/** The sample tools as JSON text. */
export const SAMPLE_TOOLS_JSON: string = JSON.stringify(SAMPLE_TOOLS)
