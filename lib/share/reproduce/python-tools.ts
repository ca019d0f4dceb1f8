/** Writes the tools of a run in Python, with the schemas that the chat template rendered, and their recorded results. */

import { pythonLiteral } from '#lib/analysis/requests/request-code.ts'
import type { RequestedTool } from '#lib/api/run-request.ts'
import { pythonString } from '#lib/templates/document/python-source.ts'
import { CALCULATOR_SPEC } from '#lib/tools/calculator-spec.ts'
import type { Mock, ToolSpec } from '#lib/tools/tool-spec.ts'
import calculatorModule from '../../../models/training/calculator.py?raw'
import { MOCKED } from './python-mock.ts'
import type { RepeatableRun } from './repeatable-run.ts'

/** Source of the calculator that the built-in model was trained with, without its imports. It needs re, Callable and Fraction. */
const CALCULATOR = calculatorModule.slice(calculatorModule.indexOf('\nMAX_CHARACTERS = ') + 1)

/** A tool of the script. */
export interface ScriptTool {
  readonly name: string
  /** Schema that the model was shown; undefined if it is unknown. */
  readonly spec: ToolSpec | undefined
  readonly mock: Mock | undefined
}

/** Returns the tools of a run with their schemas, in the order of the request. */
export const toolsOf = ({ request, specs }: Pick<RepeatableRun, 'request' | 'specs'>): readonly ScriptTool[] =>
  (request.tools ?? []).map((requestedTool) => {
    const { name } = typeof requestedTool === 'string' ? { name: requestedTool } : requestedTool
    if (typeof requestedTool === 'object' && 'mock' in requestedTool)
      return { name, spec: requestedTool, mock: requestedTool.mock }
    return { name, spec: [...specs, CALCULATOR_SPEC].find((spec) => isSame(requestedTool, spec)), mock: undefined }
  })

const isSame = (requestedTool: Exclude<RequestedTool, { mock: unknown }>, { name, mock, mcp }: ToolSpec): boolean =>
  typeof requestedTool === 'string'
    ? name === requestedTool && !mock && !mcp
    : name === requestedTool.name && mcp?.server === requestedTool.mcp

/** Returns true for the application's own calculator, but not for a mock or MCP tool of that name. */
export const isCalculator = ({ name, spec, mock }: ScriptTool): boolean =>
  name === CALCULATOR_SPEC.name && spec?.mcp === undefined && !mock

/** Returns the imports of standard modules that the tools need, besides asyncio and json. */
export const toolImports = (tools: readonly ScriptTool[]): string =>
  `${tools.some((tool) => tool.mock || isCalculator(tool)) ? 'import re\n' : ''}${
    tools.some(isCalculator) ? 'from collections.abc import Callable\nfrom fractions import Fraction\n' : ''
  }`

/** Returns the Python source of the tools; '' if there are none. */
export function toolSource(tools: readonly ScriptTool[], results: RepeatableRun['results']): string {
  if (tools.length === 0) return ''
  const mocks = tools.flatMap(({ name, mock }) => (mock ? [[name, mock] as const] : []))
  const calculator = tools.find(isCalculator)
  return `${calculator ? `\n# The calculator of Rollscope.\n${CALCULATOR}` : ''}${mocks.length > 0 ? MOCKED : ''}
# The tools as the chat template prints them.
SPECS = [
${tools.map((tool) => `    ${specSource(tool)}\n`).join('')}]
# The recorded results of each tool, in order of its calls: [status, text].
RESULTS = {
${tools.map(({ name }) => `    ${pythonString(name)}: ${pythonLiteral((results[name] ?? []).map(({ status, text }) => [status, text]))},\n`).join('')}}
${mocks.length > 0 ? `MOCKS = {\n${mocks.map(([name, mock]) => `    ${pythonString(name)}: ${pythonLiteral(mock)},\n`).join('')}}\n` : ''}

async def answer(name, value, number):
    """Return the recorded result of call \`number\`, from 1. After the last recorded result, call the tool: add the real one here."""
    if number <= len(RESULTS[name]):
        return RESULTS[name][number - 1]
${mocks.length > 0 ? MOCK_ANSWER : ''}${calculator ? CALCULATOR_ANSWER : ''}    raise ValueError("no recorded result is left")


def tools_of_a_run():
    """Return the tools of one run. They count their calls."""
    calls = dict.fromkeys(RESULTS, 0)

    async def call(use, **_):
        name = use["name"]
        calls[name] += 1
        try:
            status, text = await answer(name, use["input"], calls[name])
        except Exception as error:
            status, text = "error", f"Error: {error}"
        return {"toolUseId": use["toolUseId"], "status": status, "content": [{"text": text}]}

    # Strands extends schemas, so the model gets SPECS, and these schemas are only for calls.
    anything = {"json": {"type": "object", "properties": {}}}
    return [
        PythonAgentTool(name, {"name": name, "description": name, "inputSchema": anything}, call) for name in RESULTS
    ]
`
}

const MOCK_ANSWER = `    if name in MOCKS:
        await asyncio.sleep(MOCKS[name].get("delayMs", 0) / 1000)
        return "success", mocked(MOCKS[name], value, number)
`

const CALCULATOR_ANSWER = `    if name == ${pythonString(CALCULATOR_SPEC.name)}:
        return "success", calculate(value["expression"])
`

function specSource({ name, spec }: ScriptTool): string {
  const description = spec?.description
  const parameters = spec?.inputSchema ?? { type: 'object', properties: {} }
  const schema = { type: 'function', function: { name, ...(description !== undefined && { description }), parameters } }
  return `${pythonLiteral(schema)},${spec ? '' : '  # add its schema here, which is unknown'}`
}
