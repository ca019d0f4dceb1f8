/** Mock tools for an agent: each waits, then fails or replies, as its definition says. */
import { setTimeout as wait } from 'node:timers/promises'
import { failureAt, replyTo } from '#lib/tools/mock-reply.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { AgentTool } from './tool.ts'

/** Creates the tool of a definition. */
export const mockTool = (spec: MockTool): AgentTool => ({
  spec,
  async run(input, { signal, number }) {
    if (spec.mock.delayMs) await wait(spec.mock.delayMs, undefined, { signal })
    const failure = failureAt(spec.mock, number)
    if (failure !== undefined) throw new Error(failure)
    return replyTo(spec.mock, input)
  },
})
