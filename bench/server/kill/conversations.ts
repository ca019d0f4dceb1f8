/** Conversations of clients with sessions of an application that is killed. What the application answered must be recorded afterwards. */
import { randomUUID } from 'node:crypto'

/** The answer to a call that reached its client. */
interface ReceivedAnswer {
  readonly id: string
  readonly choices: readonly { readonly message: object }[]
}

interface Conversation {
  readonly session: string
  /** What the client sends with its next call, without the next question. */
  readonly history: object[]
  /** Ids of the answers that the client got. */
  readonly answers: string[]
  isBusy: boolean
}

/** The conversations of all clients. */
export interface Conversations {
  /** Makes the next call of a conversation, or the first one of a new conversation. Returns whether it was answered. */
  next(): Promise<boolean>
  /** Returns what was answered and is not recorded, as sentences. */
  losses(): Promise<readonly string[]>
  /** Number of sessions. */
  readonly count: number
}

interface ConversationOptions {
  /** Sends a request. Returns the answer as JSON; undefined if the application was killed before it answered. */
  readonly call: (method: string, target: string, body?: object) => Promise<unknown>
  /** Returns a random whole number from 0 on that is smaller than this one. */
  readonly below: (count: number) => number
}

/** Calls after which a conversation has ended. */
const MOST_CALLS = 8
/** Conversations that are open at a time. */
const MOST_OPEN = 6

/** Creates the conversations. */
export function createConversations({ call, below }: ConversationOptions): Conversations {
  const all: Conversation[] = []
  /** Conversations with calls since the last check. */
  const touched = new Set<Conversation>()
  const open = (): Conversation => {
    const free = all.filter(({ isBusy, answers }) => !isBusy && answers.length < MOST_CALLS)
    const chosen = free.length < MOST_OPEN ? undefined : free[below(free.length)]
    if (chosen) return chosen
    const created = { session: `kill-${randomUUID()}`, history: [], answers: [], isBusy: false }
    all.push(created)
    return created
  }
  return {
    get count() {
      return all.length
    },
    async next() {
      const one = open()
      one.isBusy = true
      touched.add(one)
      try {
        if (!(await call('POST', '/sessions', { session_id: one.session }))) return false
        const question = { role: 'user', content: `What is ${below(100)} + ${below(100)}?` }
        const answer = (await call('POST', `/sessions/${one.session}/v1/chat/completions`, {
          model: 'any',
          messages: [...one.history, question],
        })) as ReceivedAnswer | undefined
        if (!answer) return false
        one.history.push(question, ...answer.choices.map(({ message }) => message))
        one.answers.push(answer.id)
        return true
      } finally {
        one.isBusy = false
      }
    },
    async losses() {
      const found: string[] = []
      for (const one of touched) found.push(...(await lossesOf(one, call)))
      touched.clear()
      return found
    },
  }
}

interface Recorded {
  readonly records: readonly {
    readonly request: { readonly input_ids?: readonly number[] }
    readonly response: {
      readonly id?: string
      readonly choices?: readonly {
        readonly meta_info?: { readonly output_token_logprobs: readonly (readonly [unknown, number, unknown])[] }
      }[]
    }
  }[]
}

/** Returns the answers of a conversation that are not recorded, or that a later call does not continue. */
async function lossesOf(
  { session, answers }: Conversation,
  call: ConversationOptions['call'],
): Promise<readonly string[]> {
  if (answers.length === 0) return []
  const { records } = (await call('GET', `/sessions/${session}`)) as Recorded
  const paths = new Map(
    records.map(({ request, response }) => {
      const rows = response.choices?.[0]?.meta_info?.output_token_logprobs ?? []
      return [response.id, { read: request.input_ids ?? [], wrote: rows.map(([, id]) => id) }]
    }),
  )
  return answers.flatMap((answer, index) => {
    const path = paths.get(answer)
    if (!path || path.wrote.length === 0) return [`${session}: answer ${index + 1} is not recorded`]
    const before = paths.get(answers[index - 1] ?? '')
    const isContinued = !before || [...before.read, ...before.wrote].every((id, at) => id === path.read[at])
    return isContinued ? [] : [`${session}: call ${index + 1} does not continue the recorded tokens`]
  })
}
