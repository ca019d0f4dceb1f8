/** Which tools a rollout has: those that come with the application, by name, and mock tools, as they are defined. */
import { calculator } from '#lib/agent/calculator.ts'
import { mockTool } from '#lib/agent/mock-tool.ts'
import type { AgentTool } from '#lib/agent/tool.ts'
import { type MockTool, mockToolSchema, toolListProblem } from '#lib/core/mock-tool.ts'
import { schemaViolation, violationText } from '#lib/core/schema-violation.ts'
import { checkToolSchema } from '#lib/core/tool-schema.ts'
import type { ToolSpec } from '#lib/core/trajectory.ts'
import { Problem } from './problem.ts'

export const builtInTools: readonly AgentTool[] = [calculator]

/** The specifications of what was asked for, in that order. A mock named like a built-in tool stands in its place. */
export function chosenTools(asked: readonly (string | MockTool)[]): readonly ToolSpec[] {
  const mocked = new Set(asked.flatMap((tool) => (typeof tool === 'string' ? [] : [tool.name])))
  const specs = asked
    .filter((tool) => typeof tool !== 'string' || !mocked.has(tool))
    .map((tool): ToolSpec => (typeof tool === 'string' ? builtIn(tool).spec : tool))
  runnableTools(specs)
  return specs
}

/** What a trajectory's tools do when they are called. They are checked: they can come from a file. */
export function runnableTools(specs: readonly ToolSpec[]): readonly AgentTool[] {
  const problem = toolListProblem(specs.map(({ name }) => name))
  if (problem !== undefined) throw badTool(problem, 'Give every tool a name of its own.')
  return specs.map(runnableTool)
}

function runnableTool(spec: ToolSpec): AgentTool {
  if (!spec.mock) return builtIn(spec.name)
  const { name, description, inputSchema, mock } = spec
  const definition = { name, description, inputSchema, mock }
  const parsed = mockToolSchema.safeParse(definition)
  if (!parsed.success)
    throw badTool(`the mock tool ${JSON.stringify(name)}: ${violationText(schemaViolation(parsed.error, definition))}`)
  const checked = checkToolSchema(inputSchema)
  if (!checked.ok)
    throw badTool(`the input schema of the tool ${JSON.stringify(name)}: ${violationText(checked.violation)}`)
  return mockTool(parsed.data)
}

function builtIn(name: string): AgentTool {
  const found = builtInTools.find(({ spec }) => spec.name === name)
  if (!found)
    throw new Problem({
      status: 422,
      code: 'NO_TOOL',
      detail: `there is no tool named ${JSON.stringify(name)}`,
      hint: `Tools: ${builtInTools.map(({ spec }) => spec.name).join(', ')}; or define a mock tool of that name.`,
    })
  return found
}

const badTool = (detail: string, hint?: string): Problem => new Problem({ status: 422, code: 'BAD_TOOL', detail, hint })
