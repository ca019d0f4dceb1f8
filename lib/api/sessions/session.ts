/** Defines sessions in the HTTP API: how one is created, its calls, and its row in the list. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

/** What a session does with the calls of its client. */
const SESSION_MODES = ['tito', 'observe'] as const

/** The name under /sessions that chooses a session for each call. */
export const AUTO_SESSION = 'auto'

/** Schema of the id of a session, which is part of its address. */
export const sessionIdSchema = z.string().check(
  z.regex(/^[A-Za-z0-9_.-]{1,100}$/, '1 to 100 letters, digits, _, . and -'),
  z.refine((id) => id !== AUTO_SESSION, { message: 'another name than auto' }),
  z.refine((id) => !/^\.+$/.test(id), { message: 'a name that has not only dots' }),
)

/** Schema of the body of POST /sessions. */
export const createSessionSchema = z.strictObject({
  session_id: withDescription(
    z.exactOptional(sessionIdSchema),
    'Id of the session. If it exists, it is continued, and other fields must be omitted or equal to its own. Omitted: a new id.',
  ),
  server: withDescription(
    z.exactOptional(z.string()),
    'Name of a saved server. Omitted: the server of SGLANG_BASE_URL, otherwise the built-in server.',
  ),
  tokenizer: withDescription(
    z.exactOptional(z.string().check(z.maxLength(4096))),
    'Hub name, folder, or "server". Omitted: the tokenizer that the server reports.',
  ),
  chatTemplate: withDescription(
    z.exactOptional(z.string().check(z.minLength(1), z.maxLength(200_000))),
    'Chat template, Jinja. Omitted: the tokenizer’s.',
  ),
  parser: withDescription(z.exactOptional(z.string()), 'Tool-call parser. Omitted: as for a run.'),
  adapter: withDescription(
    z.exactOptional(z.string().check(z.regex(/\S/, 'a name'), z.maxLength(500))),
    'Name of a LoRA adapter that the server has loaded, not in the mode observe. Omitted: the one that the model of a call names, as NAME or BASE:NAME.',
  ),
  mode: withDescription(
    z.exactOptional(z.enum(SESSION_MODES)),
    'tito: the server gets token ids, and only what is new is rendered. observe: calls go on unchanged and are recorded. Default tito.',
  ),
  group: withDescription(
    z.exactOptional(z.string().check(z.minLength(1), z.maxLength(200))),
    'Id of the group of samples that the trajectories of the session belong to.',
  ),
  tags: withDescription(
    z.exactOptional(z.array(z.string().check(z.minLength(1), z.maxLength(100))).check(z.maxLength(50))),
    'Tags of the trajectories.',
  ),
})
/** The body of POST /sessions, after its check. */
type CreateSession = z.infer<typeof createSessionSchema>

/** Settings of a session. */
export type SessionSettings = Omit<CreateSession, 'session_id'> & {
  /** Present if the session was opened by a call to /sessions/auto. */
  readonly isAuto?: true
}

/** The answer of POST /sessions. */
export const sessionCreatedSchema = z.object({ session_id: z.string() })

const count = z.int().check(z.minimum(0))

const accepted = z.object({
  rule: withDescription(z.string(), 'Name of the rule under which the message is equal.'),
  message: withDescription(z.int(), 'Number of the first such message, from 1.'),
})

/** How a call attached to the forest, as JSON. */
const attached = withDescription(
  z.looseObject({ kind: z.enum(['new-root', 'continued', 'retried', 'rolled-back', 'rewritten']) }),
  'What the client did with its history, and where.',
)

const nodeSchema = z.object({
  node: withDescription(count, 'Number of the node in the forest, from 0.'),
  parent: withDescription(z.nullable(count), 'Node whose tokens the prompt continues; null: the prompt is a root.'),
  choice: withDescription(count, 'Index of the reply to its call.'),
  status: withDescription(
    z.enum(['complete', 'aborted', 'failed', 'running']),
    'running: the reply is being generated, and its numbers are those so far.',
  ),
  trajectory: withDescription(
    z.nullable(z.string()),
    'Key of the trajectory that contains the node; null: none was stored.',
  ),
  segments: withDescription(count, 'Number of segments of this trajectory up to the reply.'),
  start: withDescription(count, 'Number of tokens before its prompt.'),
  prompt: withDescription(count, 'Number of prompt tokens that it adds.'),
  reply: withDescription(count, 'Number of sampled tokens.'),
  text: withDescription(z.string(), 'Beginning of the reply: its text, or the name of its first call.'),
  finish: withDescription(z.nullable(z.string()), 'Why the reply ended; null: there is none.'),
  malformedCalls: withDescription(count, 'Tool calls that could not be parsed.'),
  live: withDescription(
    z.exactOptional(z.string()),
    'Id of a running reply whose tokens can be followed: GET /api/sessions/{id}/replies/{reply}/events.',
  ),
})

/** Schema of a call of a session. */
const sessionCallSchema = z.object({
  sequence: withDescription(z.int(), 'Position in the session, from 1.'),
  startedAt: withDescription(z.string(), 'ISO 8601.'),
  elapsedMs: z.number(),
  method: z.string(),
  path: withDescription(z.string(), 'Path of the call below the session.'),
  protocol: withDescription(z.nullable(z.string()), 'chat, messages or responses; null: another path.'),
  client: withDescription(z.nullable(z.string()), 'What the client reports in User-Agent.'),
  model: z.nullable(z.string()),
  isStreamed: z.boolean(),
  status: withDescription(
    count,
    'HTTP status of the answer. Without an answer: 0, the call is being answered; 499, the client left; 503, Rollscope ended meanwhile.',
  ),
  error: withDescription(z.nullable(z.string()), 'Message of the error; null: none.'),
  attached: z.nullable(attached),
  messages: withDescription(count, 'Messages of the call.'),
  added: withDescription(count, 'Messages that the path of the parent does not have.'),
  accepted: z.array(accepted),
  promptTokens: count,
  cachedTokens: withDescription(count, 'Prompt tokens from the prefix cache.'),
  completionTokens: count,
  drift: withDescription(
    z.nullable(count),
    'First token at which the prompt that the server read differs from the recorded tokens; null: none. Only in the mode observe.',
  ),
  nodes: z.array(nodeSchema),
})
/** A call of a session. */
export type SessionCallRow = z.infer<typeof sessionCallSchema>
/** A reply of the model in a session. */
export type SessionNodeRow = z.infer<typeof nodeSchema>

/** Schema of a row in the list of sessions. */
const sessionRowSchema = z.object({
  id: z.string(),
  createdAt: withDescription(z.string(), 'ISO 8601.'),
  mode: z.enum(SESSION_MODES),
  server: withDescription(z.nullable(z.string()), 'Name of the server; null: the default server.'),
  state: withDescription(z.enum(['live', 'idle']), 'live: a call came in the last minutes, or is being answered.'),
  running: withDescription(count, 'Calls that are being answered.'),
  client: z.nullable(z.string()),
  protocols: z.array(z.string()),
  model: z.nullable(z.string()),
  lastCallAt: z.nullable(z.string()),
  calls: count,
  failedCalls: count,
  tokens: withDescription(
    count,
    'Tokens of all calls; shared tokens count once. Those of deleted leaves are among them.',
  ),
  leaves: withDescription(count, 'Leaves whose trajectory is in the library.'),
  drifts: withDescription(count, 'Calls whose prompt the server read differently than it was recorded.'),
  malformedCalls: count,
  truncated: withDescription(count, 'Replies that reached their token limit.'),
  cachedShare: withDescription(z.nullable(z.number()), 'Share of prompt tokens from the prefix cache; null: no call.'),
  tokensPerSecond: withDescription(z.nullable(z.number()), 'Sampled tokens by the time of their calls; null: no call.'),
  reward: z.nullable(z.number()),
  group: z.nullable(z.string()),
  tags: z.array(z.string()),
})
/** A row in the list of sessions. */
export type SessionRow = z.infer<typeof sessionRowSchema>

/** The answer of GET /api/sessions. */
export const sessionListSchema = z.object({
  isPaused: withDescription(z.boolean(), 'Whether the recording is paused: calls go on to the servers unchanged.'),
  sessions: z.array(sessionRowSchema),
})

/** The list of sessions as its page reads it. */
export type SessionListAnswer = z.infer<typeof sessionListSchema>

/** Schema of the body of PUT /api/sessions. */
export const recordingSchema = z.strictObject({ isPaused: z.boolean() })

/** The answer of GET /api/sessions/{id}. */
export const sessionSchema = z.object({
  session: sessionRowSchema,
  calls: withDescription(z.array(sessionCallSchema), 'In their order. The calls after `after` if it is there.'),
  after: withDescription(
    z.exactOptional(z.int()),
    'Sequence of the last call of the revision `known`, whose calls are left out. Omitted: all calls are here.',
  ),
  running: withDescription(
    z.array(sessionCallSchema),
    'The calls that are being answered. Their sequences and nodes have numbers of their own only when they have ended.',
  ),
  revision: withDescription(
    z.exactOptional(z.string()),
    'Changes with every call. Send it as `known` to get later calls only. Omitted: there is no call.',
  ),
})
/** A session with its calls as its page reads it. */
export type SessionAnswer = z.infer<typeof sessionSchema>

/** The answer of GET /api/sessions/{id}/calls/{call}. */
export const callRequestSchema = z.object({
  request: withDescription(z.looseObject({}), 'The body as the client sent it. Empty: it was no JSON object.'),
})

/** Schema of the body of PUT /sessions/{id}/reward. */
export const sessionRewardSchema = z.strictObject({
  reward: withDescription(z.nullable(z.number()), 'null removes the reward.'),
  leaf: withDescription(
    z.exactOptional(z.string()),
    'Key of the trajectory of one leaf. Omitted: the reward of the session, which all leaves without a reward of their own have.',
  ),
})

/** The answer of GET /sessions/{id}, in the form of miles. */
export const sessionRecordsSchema = z.object({
  session_id: z.string(),
  records: z.array(
    z.object({
      timestamp: withDescription(z.number(), 'Seconds since 1970 at the end of the call.'),
      request_timestamp: withDescription(z.number(), 'Seconds since 1970 at its begin.'),
      method: z.string(),
      path: z.string(),
      status_code: z.int(),
      request: withDescription(z.looseObject({}), 'The body of the client, with `input_ids` that the server read.'),
      response: withDescription(
        z.looseObject({}),
        'The answer, with `meta_info.output_token_logprobs` as rows of logprob, id and text in each choice.',
      ),
    }),
  ),
  metadata: z.object({
    accumulated_token_ids: withDescription(z.array(z.int()), 'Ids of the path of the latest reply.'),
    tito_session_mismatch: withDescription(z.array(z.looseObject({})), 'Messages that are equal only under a rule.'),
    max_trim_tokens: withDescription(z.int(), 'Tokens at the end of a reply that a template may write differently.'),
  }),
})
