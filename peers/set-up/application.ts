/** The application as scripts use it, over its HTTP interface. */
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { Conversation } from '../servers/conversations.ts'
import { APPLICATION_TOKEN } from './processes.ts'

/** A client of the running application. Its methods throw for answers other than success. */
export interface ApplicationClient {
  readonly baseUrl: string
  /** Saves a server under a name that rollouts can select. */
  addServer(name: string, baseUrl: string): Promise<void>
  /** Runs a conversation at temperature 0, with the calculator. */
  converse(conversation: Conversation, settings: PeerRunSettings): Promise<Trajectory>
  get(path: string): Promise<Response>
  post(path: string, json: object): Promise<Response>
}

/** The settings of a run. */
export interface PeerRunSettings {
  readonly server: string
  readonly stream: boolean
  /** True to request logprobs of prompts. Omitted: only sampled tokens have logprobs. */
  readonly promptLogprobs?: boolean
  /** Name of a LoRA adapter. Omitted: none. */
  readonly adapter?: string
  /** True to record routed experts. */
  readonly routedExperts?: boolean
  /** Omitted: the one that the server reports. */
  readonly tokenizer?: string
  /** Omitted: that of the tokenizer. */
  readonly chatTemplate?: string
}

/** Creates a client of the application at this address. */
export function application(baseUrl: string): ApplicationClient {
  const authorization = `Bearer ${APPLICATION_TOKEN}`
  const get = async (path: string) => answered(await fetch(baseUrl + path, { headers: { authorization } }), path)
  const post = async (path: string, json: object) =>
    answered(
      await fetch(baseUrl + path, {
        method: 'POST',
        headers: { authorization, 'x-rollscope': '1', 'content-type': 'application/json' },
        body: JSON.stringify(json),
      }),
      path,
    )
  return {
    baseUrl,
    get,
    post,
    async addServer(name, address) {
      await post('/api/servers', { name, baseUrl: address })
    },
    async converse(
      { prompts: [first, ...further], thinking },
      { tokenizer, chatTemplate, promptLogprobs = false, ...own },
    ) {
      const settings = { ...own, promptLogprobs, sampling: { temperature: 0, max_new_tokens: 512 } }
      const events = await post('/api/rollouts', {
        prompt: first,
        system: 'You are a helpful assistant.',
        tools: ['calculator'],
        templateOptions: { enable_thinking: thinking },
        ...(tokenizer !== undefined && { tokenizer }),
        ...(chatTemplate !== undefined && { chatTemplate }),
        ...settings,
      })
      const key = encodeURIComponent(events.headers.get('x-trajectory-id') ?? '')
      await events.text()
      for (const prompt of further)
        await (await post(`/api/trajectories/${key}/continue`, { prompt, ...settings })).text()
      const decoded = decodeValue(await (await get(`/api/trajectories/${key}`)).json())
      if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
      return decoded.trajectory
    },
  }
}

async function answered(response: Response, path: string): Promise<Response> {
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

/** The columns in which peers are compared. */
export interface Tokens {
  readonly ids: readonly number[]
  readonly mask: readonly number[]
  readonly logprobs: readonly (number | null)[]
}

/** Returns the columns of a trajectory. */
export const tokenColumns = (trajectory: Trajectory): Tokens => ({
  ids: ids(trajectory),
  mask: lossMask(trajectory),
  logprobs: logprobs(trajectory),
})

/** Returns the largest difference between two columns of logprobs where both are known, and the number of those tokens. */
export function difference(
  left: readonly (number | null)[],
  right: readonly (number | null)[],
): { readonly largest: number; readonly compared: number } {
  const differences = left.flatMap((value, index) => {
    const other = right[index] ?? null
    return value === null || other === null ? [] : [Math.abs(value - other)]
  })
  return { largest: Math.max(0, ...differences), compared: differences.length }
}
