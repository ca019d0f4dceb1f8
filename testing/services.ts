/** Services with a store and runs as they are, and servers that say what they are told. */

import type { ServerDescription } from '#lib/api/server-status.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import { plainTool } from '#lib/server/runs/built-in-tools.ts'
import { createGroupRuns } from '#lib/server/runs/group-runs.ts'
import { createRuns } from '#lib/server/runs/runs.ts'
import { createMcpServers } from '#lib/server/servers/mcp-servers.ts'
import { ownAddress } from '#lib/server/servers/servers.ts'
import type { Services } from '#lib/server/services.ts'
import { createLabAnswers } from '#lib/server/templates/lab-answers.ts'
import { labThread } from '#lib/server/templates/lab-thread.ts'
import { createThreadedTokenizers } from '#lib/server/templates/threaded-tokenizer.ts'
import type { SglangClient } from '#lib/sglang/client/client.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { scriptedTokenizer } from '#testing/sglang/scripted-tokenizer.ts'
import { byteTokenizer } from './byte-tokenizer.ts'

/** What the thread that renders and encodes would answer is answered in this one. */
export const threadedHere = (tokenizers: Services['tokenizers']): Services['threaded'] =>
  createThreadedTokenizers(
    labThread({ ask: createLabAnswers({ tokenizers, reader: { read: () => undefined } }), close: async () => {} }),
  )

interface TestServers extends Partial<Pick<SglangClient, 'generate' | 'chat' | 'load'>> {
  /** By the name of the server. */
  readonly describe: (name: string) => Promise<Partial<ServerDescription>>
  /** The chat template that comes with the tokenizer, as it is now. */
  readonly template: () => string
}

export const noMcpServers = createMcpServers(
  [],
  { list: () => [], save() {} },
  { fetch, version: '0', own: ownAddress({ host: '127.0.0.1', port: 3000 }) },
)

/** `folder`: of the store. */
export function testServices(folder: string, { template, describe, ...calls }: TestServers): Services {
  const runs = createRuns()
  const compiled = () => chatTemplate(template(), {})
  const tokenizers = {
    load: async () => ({
      tokenizer: byteTokenizer,
      template: compiled,
      compile: (text: string) => chatTemplate(text, {}),
      stopIds: [],
    }),
  } as unknown as Services['tokenizers']
  return {
    version: '0',
    store: openTrajectoryStore(folder, { now: () => new Date() }),
    builtInTools: [plainTool(calculator)],
    mcpServers: noMcpServers,
    runs,
    groups: createGroupRuns(runs),
    servers: {
      defaultName: 'fast',
      client: (name: string) => ({
        ...scriptedTokenizer({ tokenizer: byteTokenizer, template: compiled() }),
        load: async () => undefined,
        ...calls,
        describe: () => describe(name),
      }),
    },
    tokenizers,
    threaded: threadedHere(tokenizers),
  } as unknown as Services
}
