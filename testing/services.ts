/** Services with a real store and real runs, and with scripted servers. For tests. */

import type { ServerDescription } from '#lib/api/server-status.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import { plainTool } from '#lib/server/runs/built-in-tools.ts'
import { createGroupRuns } from '#lib/server/runs/group-runs.ts'
import { createRuns } from '#lib/server/runs/runs.ts'
import { createMcpServers } from '#lib/server/servers/mcp-servers.ts'
import { ownAddress } from '#lib/server/servers/own-address.ts'
import type { Services } from '#lib/server/services.ts'
import { createSavings } from '#lib/server/sessions/savings/savings.ts'
import { answerSavings } from '#lib/server/sessions/savings/savings-question.ts'
import { createSessions } from '#lib/server/sessions/sessions.ts'
import { createLabAnswers } from '#lib/server/templates/lab-answers.ts'
import { createThreadedTokenizers } from '#lib/server/templates/threaded-tokenizer.ts'
import { createEstimateJobs } from '#lib/server/values/estimate-jobs.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { scriptedTokenizer } from '#testing/sglang/scripted-tokenizer.ts'
import { byteTokenizer } from './byte-tokenizer.ts'

/** Returns the tokenizer services of the lab's thread, computed in this thread. */
export const threadedHere = (tokenizers: Services['tokenizers']): Services['threaded'] =>
  createThreadedTokenizers({ ask: createLabAnswers({ tokenizers, reader: { read: () => undefined } }) })

interface TestServers extends Partial<Pick<EngineClient, 'generate' | 'chat' | 'load' | 'forward' | 'readChat'>> {
  /** Describes the server with this name. */
  readonly describe: (name: string, signal: AbortSignal) => Promise<Partial<ServerDescription>>
  /** The tokenizer of all servers. Omitted: bytes. */
  readonly tokenizer?: Tokenizer
  /** Returns the current chat template of the tokenizer. */
  readonly template: () => string
}

/** MCP servers without any server. */
export const noMcpServers = createMcpServers(
  [],
  { list: () => [], save() {} },
  { fetch, version: '0', own: ownAddress({ host: '127.0.0.1', port: 3000 }) },
)

/** Returns services whose store is in `folder`. */
export function testServices(
  folder: string,
  { template, describe, tokenizer = byteTokenizer, ...calls }: TestServers,
): Services {
  const store = openTrajectoryStore(folder, { now: () => new Date() })
  const runs = createRuns({ groupCommit: store.groupCommit })
  const compiled = () => chatTemplate(template(), {})
  const tokenizers = {
    load: async () => ({
      tokenizer,
      template: compiled,
      compile: (text: string) => chatTemplate(text, {}),
      stopIds: [],
    }),
  } as unknown as Services['tokenizers']
  const all = {
    version: '0',
    store,
    builtInTools: [plainTool(calculator)],
    mcpServers: noMcpServers,
    runs,
    groups: createGroupRuns(runs),
    estimates: createEstimateJobs(),
    sessions: createSessions(() => all),
    savings: createSavings(() => all, { ask: async (question) => answerSavings(question), close: async () => {} }),
    servers: {
      defaultName: 'fast',
      list: () => [{ name: 'fast', baseUrl: 'http://127.0.0.1:1', source: 'saved', hasKey: false }],
      client: (name: string) => ({
        ...scriptedTokenizer({ tokenizer, template: compiled() }),
        load: async () => undefined,
        ...calls,
        describe: (signal: AbortSignal) => describe(name, signal),
      }),
    },
    tokenizers,
    threaded: threadedHere(tokenizers),
  } as unknown as Services
  return all
}
