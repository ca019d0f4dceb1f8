/**
 * The trajectory format, `rollscope.trajectory/1`: one token sequence produced by one agent run, with all that is known
 * about each token. This schema is the source of the types, of public/trajectory.schema.json and of
 * docs/trajectory-format.md; the descriptions below are the format's documentation. Objects are loose: fields that a
 * reader does not know survive reading and writing.
 */
import * as z from 'zod'
import { jsonObject, toolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'

export const FORMAT = 'rollscope.trajectory/1'

const tokenId = z.int().min(0)
const numberOrUnknown = z.number().nullable()

/** Somebody else's JSON object, passed through untouched: a parsed copy would lose a key named __proto__. */

const spanShape = {
  start: z.int().min(0).describe('Index of the first token, counted from the start of the segment.'),
  end: z.int().min(0).describe('Index after the last token (half-open).'),
}
const span = z.looseObject(spanShape)

const textRange = z
  .looseObject({
    start: z.int().min(0).describe('First UTF-16 code unit.'),
    end: z.int().min(0).describe('UTF-16 code unit after the last (half-open).'),
  })
  .describe(
    "A range of the response's text: its pieces joined, less the trailing stop token, unless a call or a think block ends with it.",
  )

const topLogprobs = z
  .looseObject({
    k: z.int().min(1).describe('Alternatives kept for each token.'),
    ids: z.array(z.int().min(-1)).describe('n × k token ids, best first; -1 where a token has fewer than k.'),
    logprobs: z.array(numberOrUnknown).describe('n × k natural logarithms, beside `ids`; null where the id is -1.'),
  })
  .describe('The most likely alternatives at each token, as two flat arrays.')

const problem = z
  .looseObject({
    kind: z
      .string()
      .describe(
        'number: a value that JSON cannot hold was stored as null. text: the server’s text differs from the tokens. ' +
          'count: the server counted other tokens than were sent or received. template: a chat template broke an ' +
          'assumption. mask: a file’s loss mask differs from its segments. file: something in a file was read otherwise ' +
          'than it was written. router: a router probably took a parameter out of the request. model: the trajectory ' +
          'went on with another model. prompt: a server’s prompt is not what the recorded chat template renders. given: a given text is not what the given ids say, or the tokenizer added tokens to it. missing: the server left out what was asked for. Others may follow.',
      ),
    message: z.string().describe('What is wrong, for a person.'),
    column: z.string().optional().describe('The column that holds the value. Omitted: no single column.'),
    index: z
      .int()
      .min(0)
      .optional()
      .describe('The token, counted from the start of the segment. Omitted: no single one.'),
    raw: z.string().optional().describe('The value as it was written, for example "NaN". Omitted: there was none.'),
  })
  .describe('Something that could not be stored, or did not agree, and where.')

/** What every segment has: parallel arrays, one entry per token. */
const columns = {
  ids: z.array(tokenId).describe('Token ids in order.'),
  logprobs: z
    .array(numberOrUnknown)
    .optional()
    .describe(
      'Natural logarithm of the probability the model gave each token; null = unknown. In a response these are the ' +
        'sampled logprobs (after temperature, before top_k, top_p and min_p); in a prompt they are prefill logprobs ' +
        '(always at temperature 1). Omitted: all unknown.',
    ),
  mask: z
    .array(z.literal([0, 1]))
    .optional()
    .describe('Loss mask, where it is not constant. Omitted: 0 throughout a prompt, 1 throughout a response.'),
  topLogprobs: topLogprobs.optional().describe('Omitted: no alternatives were asked for.'),
  columns: z
    .record(z.string(), z.array(numberOrUnknown))
    .optional()
    .describe(
      'Further per-token numbers by name (trainerLogprobs, entropy, advantage …); null = unknown. Omitted: none.',
    ),
  problems: z.array(problem).optional().describe('Omitted: none.'),
}

const contentPart = z.looseObject({
  type: z.string().describe('text, or another kind that survives without being understood.'),
  text: z.string().optional().describe('The text of a text part.'),
})
const content = z.union([z.string(), z.array(contentPart)])

const message = z
  .discriminatedUnion('role', [
    z.looseObject({ role: z.literal(['system', 'developer', 'user']), content }),
    z.looseObject({
      role: z.literal('assistant'),
      content,
      reasoning: z.string().optional().describe('Thinking that was given apart from the content. Omitted: none.'),
      toolCalls: z
        .array(z.looseObject({ id: z.string().optional(), name: z.string(), input: z.unknown() }))
        .optional()
        .describe('Calls that were given in structured form. Omitted: none, or they stand in the content as text.'),
    }),
    z.looseObject({
      role: z.literal('tool'),
      callId: z.string().optional().describe('The tool call this answers. Omitted: not known.'),
      content: content.optional().describe('Omitted: the text of the result that lives on the call named.'),
    }),
  ])
  .describe('A message of the conversation, as the chat template got it.')

const derivation = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('whole').describe('The whole conversation through the chat template, with tools.'),
    }),
    z.looseObject({
      kind: z
        .literal('continuation')
        .describe('Only what is new: rendered after a placeholder reply, cut after it, appended to the sampled ids.'),
      closesTurn: z
        .boolean()
        .describe(
          'True when the response before did not end with the template’s end-of-turn token, so the segment begins with it.',
        ),
      check: z.discriminatedUnion('kind', [
        z.looseObject({ kind: z.literal('held').describe('The real conversation renders the same new part.') }),
        z.looseObject({
          kind: z.literal('broken').describe('It does not: this template rewrites what a continuation appends.'),
          why: z.string(),
          expected: z
            .string()
            .optional()
            .describe('The new part as the real conversation renders it, from the first difference.'),
          found: z.string().optional().describe('The new part that was appended, from the first difference.'),
        }),
        z.looseObject({
          kind: z
            .literal('unknown')
            .describe('There is no whole conversation to render: it began with text or ids, not with messages.'),
        }),
      ]),
    }),
    z.looseObject({
      kind: z.literal('given').describe('Text or ids given by the user; no template was used.'),
      what: z.enum(['text', 'ids']).optional().describe('Which of the two was given. Omitted: not known.'),
    }),
    z.looseObject({
      kind: z
        .literal('reported')
        .describe(
          'The server rendered and tokenized messages: what it reported to have read, behind where the reply before ends in it.',
        ),
    }),
  ])
  .describe('How the ids of a prompt segment came about.')

const promptSegment = z
  .looseObject({
    kind: z.literal('prompt'),
    ...columns,
    messages: z.array(message).describe('The messages that this segment encodes, in order.'),
    derivation: derivation.optional().describe('Omitted: not known.'),
    scored: z
      .looseObject({
        server: z.string().describe('Name of the saved server that computed the logprobs.'),
        at: z.string().describe('ISO 8601.'),
        weightVersion: z.string().optional().describe('Of the weights that answered. Omitted: not reported.'),
      })
      .optional()
      .describe(
        'The prompt logprobs were requested after the run, by a call of their own. Omitted: the run requested them, or there are none.',
      ),
  })
  .describe('Context: system, user, tool results and template glue. Loss mask 0 unless `mask` says otherwise.')

const toolResult = z.looseObject({
  status: z.literal(['success', 'error', 'cancelled']),
  text: z.string().describe('Exactly the text that the model reads.'),
  wholeLength: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Characters (UTF-16) of the result before the limit maxResultCharacters cut it. Omitted: it was not cut.',
    ),
  startedAt: z.string().optional().describe('ISO 8601. Omitted: not known.'),
  elapsedMs: z.number().min(0).optional().describe('Omitted: not known.'),
})

const callShape = {
  id: z.string().describe('Unique in the trajectory.'),
  writtenId: z
    .string()
    .optional()
    .describe(
      'The id that the model wrote (kimi_k2: functions.add:0). It may repeat; chat templates get it with the result. ' +
        'Omitted: the call format has none, or it could not be read.',
    ),
  raw: z.string().describe('The text between the call’s delimiters, untouched.'),
  span: span.describe('Tokens of the call, delimiters included.'),
  text: textRange,
  result: toolResult.optional().describe('Omitted: the call was not executed, or its result is not known.'),
}

const toolCall = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('parsed'),
      ...callShape,
      name: z.string(),
      input: jsonObject.describe('The arguments, parsed. `raw` keeps what JSON numbers lose.'),
      arguments: z
        .array(z.looseObject({ name: z.string(), span, text: textRange }))
        .describe('Where the value of each top-level argument stands.'),
    }),
    z.looseObject({
      kind: z.literal('malformed'),
      ...callShape,
      name: z.string().optional().describe('Omitted: no name could be read.'),
      why: z.string().describe('The reason, for a person.'),
      at: z.int().min(0).describe('UTF-16 offset in the response’s text where it went wrong.'),
    }),
  ])
  .describe('A tool call as the parser found it. A malformed call is data: it is never executed.')

const finish = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('stop'),
      matched: z
        .union([z.int(), z.string()])
        .optional()
        .describe('Stop token id, stop string or pattern. Omitted: not said.'),
    }),
    z.looseObject({ kind: z.literal('length').describe('The token limit of the request was reached.') }),
    z.looseObject({
      kind: z.literal('abort').describe('The server aborted the request.'),
      message: z.string().optional(),
    }),
    z.looseObject({ kind: z.literal('cancelled').describe('The user stopped it; what had arrived was kept.') }),
    z.looseObject({
      kind: z.literal('cut').describe('The connection or the reply broke after tokens had arrived; they were kept.'),
      code: z.string(),
      message: z.string(),
    }),
    z.looseObject({
      kind: z.literal('unknown').describe('The server gave a reason that is not known.'),
      raw: z.string(),
    }),
  ])
  .describe('Why the response ended.')

const request = z
  .looseObject({
    server: z.string().describe('Name of the saved server.'),
    rid: z.string().optional().describe('Request id sent to the server. Omitted: none.'),
    endpoint: z
      .literal('chat')
      .optional()
      .describe('chat: /v1/chat/completions, which takes messages and tokenizes them itself. Omitted: /generate.'),
    chat: z
      .looseObject({
        model: z.string().describe('The model named in the body.'),
        kept: z
          .int()
          .min(0)
          .describe('With how many of the messages of the chat request before it in the trajectory the body began.'),
        messages: z.array(jsonObject).describe('The messages of the body behind those.'),
      })
      .optional()
      .describe(
        'With endpoint chat: what the body held besides the tools and the template options of the model. Omitted: not known.',
      ),
    read: z
      .looseObject({
        kept: z
          .int()
          .min(0)
          .describe('How many of the tokens before the response the prompt began with, counted from the first.'),
        ids: z.array(tokenId).describe('The ids of the prompt behind those.'),
      })
      .optional()
      .describe(
        'With endpoint chat: the prompt that the server reports to have read, where it is not the tokens before the ' +
          'response. Omitted: it is.',
      ),
    samplingParams: jsonObject.describe('Exactly as sent, with the names of the endpoint.'),
    inputLength: z
      .int()
      .min(0)
      .describe('Number of input ids sent, or with endpoint chat: reported to have been read.'),
    inputHash: z.string().describe('SHA-256, hexadecimal, over those ids as little-endian unsigned 32-bit integers.'),
    logprobStartLen: z.int().optional().describe('Omitted: no prompt logprobs were asked for.'),
    topLogprobsNum: z.int().optional().describe('Omitted: no alternatives were asked for.'),
    streamed: z.boolean(),
    streamInterval: z
      .int()
      .min(1)
      .optional()
      .describe('Tokens asked for in each chunk of the stream, the first excepted. Omitted: the server’s own.'),
    scoring: z
      .looseObject({
        rid: z.string().describe('Its request id.'),
        elapsedMs: z.number().min(0).describe('Its time, which is part of firstTokenMs.'),
        cachedTokens: z.int().optional().describe('Prompt tokens that it took from the prefix cache.'),
        shared: z
          .literal(true)
          .optional()
          .describe(
            'It was made once for all samples of the group, and each has the same numbers from it. Omitted: for this response alone.',
          ),
      })
      .optional()
      .describe(
        'The call with max_new_tokens 0 that fetched the prompt’s logprobs before this one: a stream would repeat ' +
          'them in every chunk. Omitted: they came with the reply, or were not asked for.',
      ),
  })
  .describe('The request that produced the response.')

const usage = z
  .looseObject({
    promptTokens: z.int().optional(),
    completionTokens: z.int().optional(),
    cachedTokens: z.int().optional().describe('Prompt tokens taken from the prefix cache.'),
  })
  .optional()
  .describe('What the server counted. Omitted: it did not say.')

const timing = z
  .looseObject({
    startedAt: z.string().describe('ISO 8601, when the request was sent.'),
    firstTokenMs: z
      .number()
      .min(0)
      .optional()
      .describe('From the first request to the first token; with request.scoring, scoring included.'),
    elapsedMs: z.number().min(0),
    serverMs: z.number().min(0).optional().describe('End-to-end latency as the server measured it.'),
  })
  .optional()
  .describe('Omitted: not known.')

const resumption = z
  .looseObject({
    at: z
      .int()
      .min(0)
      .describe(
        'Tokens of the response that were there: they are kept, and were sent after those before the response.',
      ),
    stopped: finish.optional().describe('Why the response had ended there. Omitted: not known.'),
    request,
    usage,
    timing,
  })
  .describe('A further call that continued a response which had been stopped.')

const responseSegment = z
  .looseObject({
    kind: z.literal('response'),
    ...columns,
    thinks: z
      .array(
        z.looseObject({ ...spanShape, closed: z.boolean().describe('False: the response ended inside the block.') }),
      )
      .describe(
        'Think blocks, delimiters included. One that starts at 0 without a delimiter was opened by the prompt.',
      ),
    toolCalls: z.array(toolCall).describe('In the order in which they stand in the text, malformed ones too.'),
    request: request.optional().describe('Omitted: not known.'),
    message: jsonObject
      .optional()
      .describe(
        'With endpoint chat: the message that the server made of the tokens (content, reasoning_content, tool_calls), as it ' +
          'came. Omitted: not known.',
      ),
    finish: finish.optional().describe('Omitted: not known.'),
    usage,
    timing,
    weightVersions: z
      .array(z.looseObject({ version: z.string(), ...spanShape }))
      .optional()
      .describe('Which weights wrote which tokens of the response. Omitted: not said.'),
    resumed: z
      .array(resumption)
      .optional()
      .describe(
        'The calls that continued the response where it had been stopped, in order. `request`, `usage` and `timing` of the ' +
          'response are of its first call, `finish` is of its last. Omitted: one call wrote the whole response.',
      ),
  })
  .describe('The output of one call. Loss mask 1 unless `mask` says otherwise; the sampled stop token is part of it.')

const segment = z.discriminatedUnion('kind', [promptSegment, responseSegment])

const vocabEntry = z.union([
  z.string(),
  z.looseObject({ hex: z.string().regex(/^([0-9a-f]{2})*$/, 'an even number of lower-case hexadecimal digits') }),
])

const modelBlock = z
  .looseObject({
    name: z.string().optional().describe('The model as the server names it. Omitted: not known.'),
    contextLength: z.int().min(1).optional().describe('Tokens that the server accepts in all. Omitted: not known.'),
    tokenizer: z
      .looseObject({
        name: z.string().describe('Hub name, folder, or the built-in model’s.'),
        source: z
          .literal('server')
          .optional()
          .describe(
            'The server itself was the tokenizer (/tokenize, /detokenize): `vocab` holds the texts that it decodes, which ' +
              'for tokenizers that change spaces or lack single bytes are not always the exact bytes. Omitted: the tokenizer’s own file.',
          ),
        fingerprint: z
          .string()
          .optional()
          .describe('SHA-256 of the tokenizer file, or of the server’s ids for fixed texts. Omitted: not known.'),
        vocabularySize: z.int().min(1).optional().describe('Omitted: not known; a server does not tell.'),
        specialIds: z
          .array(tokenId)
          .describe('Those ids of `vocab` that are added tokens (special tokens, think and tool delimiters).'),
        endOfTurnId: tokenId
          .optional()
          .describe('The token with which the template ends an assistant turn. Omitted: it has none.'),
      })
      .optional()
      .describe('Omitted: the file came without one; then the texts of ids need not be known.'),
    template: z
      .looseObject({
        source: z
          .literal('server')
          .optional()
          .describe(
            'The server rendered with its own template, whose text is not known. Omitted: `text` was rendered.',
          ),
        text: z.string().describe('The chat template, Jinja. Empty where the server rendered.'),
        fingerprint: z
          .string()
          .optional()
          .describe('SHA-256 of what the server’s template writes behind a reply. Omitted: `text` tells.'),
        options: jsonObject.describe('Template options such as enable_thinking.'),
      })
      .optional()
      .describe('Omitted: no template was used.'),
    tools: z.array(toolSpec).describe('Tools in the order in which the template got them.'),
    parser: z.string().optional().describe('Name of the tool-call parser. Omitted: calls were not parsed.'),
  })
  .describe('What is needed to render the conversation again.')

const outcomeReasons = [
  'end_turn',
  'length',
  'context_full',
  'cancelled',
  'aborted',
  'max_tool_iterations',
  'max_tool_calls',
  'max_messages',
  'max_tokens',
  'interrupted',
  'truncated',
  'unknown',
] as const

const unsentGiven = z
  .looseObject({
    what: z.enum(['text', 'ids']).describe('As what it was given.'),
    ids: z.array(z.int().min(0)).describe('Its token ids.'),
  })
  .optional()
  .describe('A first prompt of text or ids that was never read by the model. Omitted: none.')

const outcome = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('running'),
      rolloutId: z.string().optional().describe('The rollout that is writing it. Omitted: it was written elsewhere.'),
    }),
    z.looseObject({
      kind: z.literal('ended'),
      reason: z
        .enum(outcomeReasons)
        .describe('truncated: cut off, the file does not say why. unknown: the file does not say how it ended.'),
      unsent: z
        .array(message)
        .optional()
        .describe('Messages whose tokens were never read by the model. Omitted: none.'),
      unsentGiven,
      context: z
        .looseObject({
          needed: z.int().min(0).optional().describe('Tokens that the call needed: its prompt and room for a reply.'),
          holds: z.int().min(0).optional().describe('Tokens that the context holds.'),
        })
        .optional()
        .describe('With context_full: what did not fit, as far as it is known. Omitted: not known.'),
    }),
    z.looseObject({
      kind: z.literal('failed'),
      code: z.string().describe('For example CONNECT_REFUSED or UPSTREAM_REJECTED.'),
      message: z.string(),
      hint: z.string().optional().describe('What to do next. Omitted: nothing better than the message.'),
      parameter: z
        .string()
        .optional()
        .describe('The sampling parameter that the server refused. Omitted: none that is known.'),
      unsent: z
        .array(message)
        .optional()
        .describe('Messages whose tokens were never read by the model. Omitted: none.'),
      unsentGiven,
    }),
  ])
  .describe('How the run stands or ended.')

const provenance = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('rollout'),
      application: z.string().describe('Name and version of the program that ran the agent.'),
      limits: z.record(z.string(), z.number()).optional().describe('Limits of the last run. Omitted: none.'),
      endpoint: z
        .literal('chat')
        .optional()
        .describe('chat: the agent held messages and sent them to /v1/chat/completions. Omitted: token-in/token-out.'),
    }),
    z.looseObject({
      kind: z.literal('import'),
      format: z.string(),
      file: z.string().optional(),
      lacked: z.array(z.string()).describe('What the file did not say, for a person.'),
    }),
    z.looseObject({
      kind: z.literal('fork'),
      parent: z.string().describe('Id of the trajectory forked.'),
      tokenIndex: z.int().min(0).describe('Index of the first token that differs.'),
      forced: z.array(tokenId).describe('Ids put there instead; none = sampled again.'),
    }),
    z.looseObject({
      kind: z
        .literal('retokenized')
        .describe('Made again from the text or the messages of a run: no model has written these ids.'),
      mode: z
        .literal(['text', 'structured', 'raw', 'read'])
        .describe(
          'text: the ids decoded and encoded again. structured, raw: the messages through the chat template, tool calls ' +
            'in structured form or left in the text. read: the last prompt of a run over a chat endpoint as its server ' +
            'tokenized it, and the last reply.',
        ),
      parent: z.string().describe('Id of the trajectory that it was made from.'),
    }),
    z.looseObject({ kind: z.literal('recorded'), source: z.string().optional() }),
  ])
  .describe('Where the trajectory comes from.')

export const trajectorySchema = z.looseObject({
  format: z
    .literal(FORMAT)
    .describe('Name and version of the format. Readers upgrade older versions and refuse newer ones.'),
  id: z.string().min(1).max(200).describe('Opaque; unique where it was made.'),
  createdAt: z.string().describe('ISO 8601.'),
  title: z.string().optional(),
  tags: z.array(z.string()).optional(),
  note: z.string().optional(),
  reward: z.number().nullable().optional().describe('The scalar reward. Omitted: not scored.'),
  group: z
    .looseObject({ id: z.string(), index: z.int().min(0) })
    .optional()
    .describe('The group of samples of one prompt that this one belongs to. Omitted: none.'),
  model: modelBlock,
  vocab: z
    .record(z.string().regex(/^\d+$/, 'a token id in decimal'), vocabEntry)
    .describe(
      'The text of every id used, tokens and alternatives alike; {hex} where its bytes are not valid UTF-8 alone. ' +
        'Entries may be missing only where model.tokenizer is omitted: those texts are not known.',
    ),
  segments: z
    .array(segment)
    .describe('Runs of tokens appended at once, in order. Two of a kind may follow each other.'),
  outcome,
  provenance,
  problems: z.array(problem).optional().describe('Problems of the trajectory as a whole. Omitted: none.'),
  routedExperts: z
    .array(z.string())
    .optional()
    .describe('Of imported files: base64 int32, one slice per turn. Omitted: none.'),
  imageData: z.array(z.string()).optional().describe('Of imported files: data URLs in order. Omitted: none.'),
  foreign: z
    .record(z.string(), jsonObject)
    .optional()
    .describe(
      'Of imported files: what this format has no field for, as it was written, by the name of the file’s format. Omitted: nothing.',
    ),
})

export type Trajectory = Plain<z.infer<typeof trajectorySchema>>
export type Segment = Trajectory['segments'][number]
export type PromptSegment = Extract<Segment, { kind: 'prompt' }>
export type ResponseSegment = Extract<Segment, { kind: 'response' }>
export type ToolCall = ResponseSegment['toolCalls'][number]
export type ToolResult = NonNullable<ToolCall['result']>
export type Message = PromptSegment['messages'][number]
export type PromptSource = NonNullable<PromptSegment['derivation']>
export type Finish = NonNullable<ResponseSegment['finish']>
export type Outcome = Trajectory['outcome']
export type OutcomeReason = (typeof outcomeReasons)[number]
export type TopLogprobs = NonNullable<Segment['topLogprobs']>
export type Problem = NonNullable<Segment['problems']>[number]
export type Vocab = Trajectory['vocab']
export type VocabEntry = Vocab[string]
/** Half-open range of tokens within a segment. */
export interface Span {
  readonly start: number
  readonly end: number
}

export const schemas = {
  request,
  message,
  toolSpec,
  promptSegment,
  responseSegment,
  toolResult,
  outcome,
  topLogprobs,
  vocabEntry,
}
