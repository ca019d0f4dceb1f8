/** The tools of a rollout: those of the application and of MCP servers by name, and mock tools by definition. */
import * as z from 'zod'
import { mcpToolSchema } from '#lib/api/mcp-server.ts'
import { mockTool } from '#lib/rollout/tools/mock-tool.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import { mockToolSchema, toolListProblem } from '#lib/tools/mock-tool.ts'
import { checkToolSchema } from '#lib/tools/tool-schema.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import type { BuiltInTool } from './built-in-tools.ts'

/** Schema of one tool in a request. */
export const requestedToolSchema = z.union([z.string(), mcpToolSchema, mockToolSchema])
type AskedTool = Plain<z.infer<typeof requestedToolSchema>>

/** The sources of tools. */
type ToolSources = Pick<Services, 'builtInTools' | 'mcpServers'>

/**
 * Returns the specifications of the requested tools in their order. A tool of another kind replaces a built-in one of its name. Throws
 * HttpProblem.
 */
export async function chosenTools(
  asked: readonly AskedTool[],
  sources: ToolSources,
  signal: AbortSignal,
): Promise<readonly ToolSpec[]> {
  const taken = new Set(asked.flatMap((tool) => (typeof tool === 'string' ? [] : [tool.name])))
  const specs = await Promise.all(
    asked
      .filter((tool) => typeof tool !== 'string' || !taken.has(tool))
      .map(async (tool): Promise<ToolSpec> => {
        if (typeof tool === 'string') return builtInNamed(tool, sources).spec
        return 'mcp' in tool ? sources.mcpServers.spec(tool, signal) : tool
      }),
  )
  runnableTools(specs, sources)
  return specs
}

/** Returns the tools of a trajectory, ready to be called. They are checked, because they can come from a file. Throws HttpProblem. */
export function runnableTools(specs: readonly ToolSpec[], sources: ToolSources): readonly AgentTool[] {
  const problem = toolListProblem(specs)
  if (problem !== undefined)
    throw badTool(
      problem,
      'The model calls tools by their names, so the names in a run must differ: choose one of the tools.',
    )
  return specs.map((spec) => sources.mcpServers.runnable(spec) ?? runnableTool(spec, sources))
}

/** Tries tools that a machine may lack. Throws HttpProblem with the reason. */
export async function checkTools(specs: readonly ToolSpec[], sources: ToolSources): Promise<void> {
  for (const { name, mock, mcp } of specs) {
    const why = mock || mcp ? undefined : await builtInNamed(name, sources).check()
    if (why !== undefined)
      throw new HttpProblem({
        status: 422,
        code: 'TOOL_OFF',
        detail: `the tool ${name} is not available: ${why}`,
        hint: 'Start the run without it, or with a mock tool of that name.',
      })
  }
}

function runnableTool(spec: ToolSpec, sources: ToolSources): AgentTool {
  if (!spec.mock) return builtInNamed(spec.name, sources).open()
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

function builtInNamed(name: string, { builtInTools }: ToolSources): BuiltInTool {
  const found = builtInTools.find(({ spec }) => spec.name === name)
  if (!found)
    throw new HttpProblem({
      status: 422,
      code: 'NO_TOOL',
      detail: `there is no tool named ${JSON.stringify(name)}`,
      hint: `Tools: ${builtInTools.map(({ spec }) => spec.name).join(', ')}; or define a mock tool of that name.`,
    })
  return found
}

const badTool = (detail: string, hint?: string): HttpProblem =>
  new HttpProblem({ status: 422, code: 'BAD_TOOL', detail, hint })
