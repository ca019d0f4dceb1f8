/** Services with a store and runs as they are, and servers that say what they are told. */
import { calculator } from '#lib/agent/calculator.ts'
import type { ServerDescription } from '#lib/core/server-status.ts'
import type { SglangClient } from '#lib/sglang/client.ts'
import { scriptedTokenizer } from '#lib/sglang/scripted-tokenizer.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#lib/tito/byte-tokenizer.ts'
import { plainTool } from './built-in-tools.ts'
import { createGroupRuns } from './group-runs.ts'
import { createLabAnswers } from './lab-answers.ts'
import { labThread } from './lab-thread.ts'
import { createMcpServers } from './mcp-servers.ts'
import { createRuns } from './runs.ts'
import { ownAddress } from './servers.ts'
import type { Services } from './services.ts'
import { createThreadedTokenizers } from './threaded-tokenizer.ts'

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
