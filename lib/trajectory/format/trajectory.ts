/**
 * The trajectory format, `rollscope.trajectory/1`: one token sequence of one agent run, with everything known about
 * each token. This schema is the source of the types, of public/trajectory.schema.json and of
 * docs/trajectory-format.md; the descriptions below are the format's documentation. Objects are loose: unknown fields
 * survive reading and writing.
 */
import * as z from 'zod'
import { jsonObject, toolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'

/** Name and version of the trajectory format. */
export const FORMAT = 'rollscope.trajectory/1'

const tokenId = z.int().min(0)
const numberOrUnknown = z.number().nullable()

/** A JSON object from another program, passed through unchanged: a parsed copy would lose a key named __proto__. */

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
    "A range of the response's text: its pieces joined, without the trailing stop token, unless a call or a think block ends with it.",
  )

const topLogprobs = z
  .looseObject({
    k: z.int().min(1).describe('Number of alternatives of each token.'),
    ids: z.array(z.int().min(-1)).describe('n × k token ids, best first; -1 where a token has fewer than k.'),
    logprobs: z
      .array(numberOrUnknown)
      .describe('n × k natural logarithms, parallel to `ids`; null where the id is -1.'),
  })
  .describe('The most likely alternatives at each token, as two flat arrays.')

const problem = z
  .looseObject({
    kind: z
      .string()
      .describe(
        'number: a value that JSON cannot represent was stored as null; text: the server’s text differs from the tokens; ' +
          'count: the server counted a different number of tokens than were sent or received; template: a chat template broke an ' +
          'assumption; mask: a file’s loss mask differs from its segments; file: a part of a file was read differently ' +
          'than it was written; router: a router probably removed a parameter from the request; model: the trajectory ' +
          'continued with a different model; prompt: a server’s prompt differs from the render of the recorded chat template; ' +
          'given: a given text is not the text of the given ids, or the tokenizer added tokens to it; missing: the server left ' +
          'out something that was requested. Later versions may add others.',
      ),
    message: z.string().describe('The problem in words.'),
    column: z.string().optional().describe('The column that contains the value. Omitted: no single column.'),
    index: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Index of the token, counted from the start of the segment. Omitted: the problem concerns no single token.',
      ),
    raw: z.string().optional().describe('The value in the file, for example "NaN". Omitted: no value.'),
  })
  .describe('Something that could not be stored or was inconsistent, and where.')

/** Columns of every segment: parallel arrays with one entry for each token. */
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
  topLogprobs: topLogprobs.optional().describe('Omitted: no alternatives were requested.'),
  columns: z
    .record(z.string(), z.array(numberOrUnknown))
    .optional()
    .describe(
      'Further per-token numbers by name (trainerLogprobs, entropy, advantage …); null = unknown. Omitted: none.',
    ),
  problems: z.array(problem).optional().describe('Omitted: none.'),
}

const contentPart = z.looseObject({
  type: z.string().describe('text, or another kind, which is kept unread.'),
  text: z.string().optional().describe('The text of a text part.'),
})
const content = z.union([z.string(), z.array(contentPart)])

const message = z
  .discriminatedUnion('role', [
    z.looseObject({ role: z.literal(['system', 'developer', 'user']), content }),
    z.looseObject({
      role: z.literal('assistant'),
      content,
      reasoning: z.string().optional().describe('Thinking that is separate from the content. Omitted: none.'),
      toolCalls: z
        .array(z.looseObject({ id: z.string().optional(), name: z.string(), input: z.unknown() }))
        .optional()
        .describe('Calls in structured form. Omitted: none, or they are in the content as text.'),
    }),
    z.looseObject({
      role: z.literal('tool'),
      callId: z.string().optional().describe('The tool call that this answers. Omitted: unknown.'),
      content: content.optional().describe('Omitted: the text of the result that is stored with the call.'),
    }),
  ])
  .describe('A message of the conversation, as passed to the chat template.')

const derivation = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('whole').describe('The whole conversation through the chat template, with tools.'),
    }),
    z.looseObject({
      kind: z
        .literal('continuation')
        .describe('Only the new part: rendered after a placeholder reply, cut after it, appended to the sampled ids.'),
      closesTurn: z
        .boolean()
        .describe(
          'True when the response before did not end with the template’s end-of-turn token, so the segment begins with it.',
        ),
      check: z.discriminatedUnion('kind', [
        z.looseObject({ kind: z.literal('held').describe('The real conversation renders the same new part.') }),
        z.looseObject({
          kind: z
            .literal('broken')
            .describe(
              'The real conversation renders a different new part: this template changes it with the conversation.',
            ),
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
      what: z.enum(['text', 'ids']).optional().describe('Whether text or ids were given. Omitted: unknown.'),
    }),
    z.looseObject({
      kind: z
        .literal('reported')
        .describe(
          'The server rendered and tokenized messages: the prompt that it reported to have read, after the end of the previous reply in it.',
        ),
    }),
  ])
  .describe('How the ids of a prompt segment were produced.')

const promptSegment = z
  .looseObject({
    kind: z.literal('prompt'),
    ...columns,
    messages: z.array(message).describe('The messages that this segment encodes, in order.'),
    derivation: derivation.optional().describe('Omitted: unknown.'),
    scored: z
      .looseObject({
        server: z.string().describe('Name of the saved server that computed the logprobs.'),
        at: z.string().describe('ISO 8601.'),
        weightVersion: z.string().optional().describe('Weights that answered. Omitted: not reported.'),
      })
      .optional()
      .describe(
        'The prompt logprobs were requested after the run, by a separate call. Omitted: the run requested them, or there are none.',
      ),
  })
  .describe(
    'Context: system, user, tool results and text that the template adds. Loss mask 0 unless `mask` says otherwise.',
  )

const toolResult = z.looseObject({
  status: z.literal(['success', 'error', 'cancelled']),
  text: z.string().describe('The exact text that the model reads.'),
  wholeLength: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Characters (UTF-16) of the result before the limit maxResultCharacters cut it. Omitted: it was not cut.',
    ),
  startedAt: z.string().optional().describe('ISO 8601. Omitted: unknown.'),
  elapsedMs: z.number().min(0).optional().describe('Omitted: unknown.'),
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
  raw: z.string().describe('The text between the call’s delimiters, unchanged.'),
  span: span.describe('Tokens of the call, including its delimiters.'),
  text: textRange,
  result: toolResult.optional().describe('Omitted: the call was not executed, or its result is unknown.'),
}

const toolCall = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('parsed'),
      ...callShape,
      name: z.string(),
      input: jsonObject.describe('The parsed arguments. `raw` keeps what JSON numbers lose.'),
      arguments: z
        .array(z.looseObject({ name: z.string(), span, text: textRange }))
        .describe('The position of each top-level argument’s value.'),
    }),
    z.looseObject({
      kind: z.literal('malformed'),
      ...callShape,
      name: z.string().optional().describe('Omitted: no name could be read.'),
      why: z.string().describe('The reason, in words.'),
      at: z.int().min(0).describe('UTF-16 offset in the response’s text at which parsing failed.'),
    }),
  ])
  .describe('A tool call as the parser found it. A malformed call is only recorded, never executed.')

const finish = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('stop'),
      matched: z
        .union([z.int(), z.string()])
        .optional()
        .describe('Stop token id, stop string or pattern. Omitted: not reported.'),
    }),
    z.looseObject({ kind: z.literal('length').describe('The token limit of the request was reached.') }),
    z.looseObject({
      kind: z.literal('abort').describe('The server aborted the request.'),
      message: z.string().optional(),
    }),
    z.looseObject({
      kind: z.literal('cancelled').describe('The user stopped it; the tokens received so far were kept.'),
    }),
    z.looseObject({
      kind: z.literal('cut').describe('The connection or the reply broke after tokens had arrived; they were kept.'),
      code: z.string(),
      message: z.string(),
    }),
    z.looseObject({
      kind: z.literal('unknown').describe('The server reported an unknown reason.'),
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
        model: z.string().describe('The model named in the request body.'),
        kept: z
          .int()
          .min(0)
          .describe(
            'Number of messages at the beginning of the body that are the same as in the previous chat request of the trajectory.',
          ),
        messages: z.array(jsonObject).describe('The messages of the body after those.'),
      })
      .optional()
      .describe(
        'With endpoint chat: the rest of the body, without the tools and the template options of the model. Omitted: unknown.',
      ),
    read: z
      .looseObject({
        kept: z
          .int()
          .min(0)
          .describe('Number of tokens before the response that the prompt began with, counted from the first.'),
        ids: z.array(tokenId).describe('The ids of the prompt after those.'),
      })
      .optional()
      .describe(
        'With endpoint chat: the prompt that the server reports to have read, if it differs from the tokens before the ' +
          'response. Omitted: it does not differ.',
      ),
    samplingParams: jsonObject.describe('The parameters exactly as sent, with the names of the endpoint.'),
    inputLength: z
      .int()
      .min(0)
      .describe('Number of input ids that were sent, or with endpoint chat: that the server reports to have read.'),
    inputHash: z.string().describe('SHA-256, hexadecimal, over those ids as little-endian unsigned 32-bit integers.'),
    logprobStartLen: z.int().optional().describe('Omitted: no prompt logprobs were requested.'),
    topLogprobsNum: z.int().optional().describe('Omitted: no alternatives were requested.'),
    streamed: z.boolean(),
    streamInterval: z
      .int()
      .min(1)
      .optional()
      .describe('Tokens requested in each chunk of the stream, except the first. Omitted: the server’s default.'),
    scoring: z
      .looseObject({
        rid: z.string().describe('Its request id.'),
        elapsedMs: z.number().min(0).describe('Its duration, which is part of firstTokenMs.'),
        cachedTokens: z.int().optional().describe('Prompt tokens that it took from the prefix cache.'),
        shared: z
          .literal(true)
          .optional()
          .describe(
            'It was made once for all samples of the group, and all share its numbers. Omitted: for this response only.',
          ),
      })
      .optional()
      .describe(
        'The call with max_new_tokens 0 that fetched the prompt’s logprobs before this one: a stream would repeat ' +
          'them in every chunk. Omitted: they came with the reply, or were not requested.',
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
  .describe('Token counts of the server. Omitted: not reported.')

const timing = z
  .looseObject({
    startedAt: z.string().describe('ISO 8601, when the request was sent.'),
    firstTokenMs: z
      .number()
      .min(0)
      .optional()
      .describe('From the first request to the first token; with request.scoring, scoring is included.'),
    elapsedMs: z.number().min(0),
    serverMs: z.number().min(0).optional().describe('End-to-end latency as the server measured it.'),
  })
  .optional()
  .describe('Omitted: unknown.')

const resumption = z
  .looseObject({
    at: z
      .int()
      .min(0)
      .describe('Tokens that the response already had: they are kept, and were sent after those before the response.'),
    stopped: finish.optional().describe('Why the response had ended there. Omitted: unknown.'),
    request,
    usage,
    timing,
  })
  .describe('A further call that continued a stopped response.')

const responseSegment = z
  .looseObject({
    kind: z.literal('response'),
    ...columns,
    thinks: z
      .array(
        z.looseObject({ ...spanShape, closed: z.boolean().describe('False: the response ended inside the block.') }),
      )
      .describe(
        'Think blocks with their delimiters. One that starts at 0 without a delimiter was opened by the prompt.',
      ),
    toolCalls: z.array(toolCall).describe('In their order in the text, including malformed ones.'),
    request: request.optional().describe('Omitted: unknown.'),
    message: jsonObject
      .optional()
      .describe(
        'With endpoint chat: the message that the server parsed from the tokens (content, reasoning_content, tool_calls), as ' +
          'received. Omitted: unknown.',
      ),
    finish: finish.optional().describe('Omitted: unknown.'),
    usage,
    timing,
    weightVersions: z
      .array(z.looseObject({ version: z.string(), ...spanShape }))
      .optional()
      .describe('The weights that sampled each part of the response. Omitted: not reported.'),
    resumed: z
      .array(resumption)
      .optional()
      .describe(
        'The calls that continued the response after it was stopped, in order. `request`, `usage` and `timing` of the ' +
          'response belong to its first call, `finish` to its last. Omitted: one call sampled the whole response.',
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
    name: z.string().optional().describe('The model as the server names it. Omitted: unknown.'),
    contextLength: z
      .int()
      .min(1)
      .optional()
      .describe('Maximum number of tokens that the server accepts. Omitted: unknown.'),
    tokenizer: z
      .looseObject({
        name: z.string().describe('Hub name, folder, or the name of the built-in model.'),
        source: z
          .literal('server')
          .optional()
          .describe(
            'The server itself was the tokenizer (/tokenize, /detokenize): `vocab` contains its decoded texts, which ' +
              'for tokenizers that change spaces or lack single bytes are not always the exact bytes. Omitted: the tokenizer’s own file.',
          ),
        fingerprint: z
          .string()
          .optional()
          .describe('SHA-256 of the tokenizer file, or of the server’s ids for fixed texts. Omitted: unknown.'),
        vocabularySize: z.int().min(1).optional().describe('Omitted: unknown; a server does not report it.'),
        specialIds: z
          .array(tokenId)
          .describe('The ids of `vocab` that are added tokens (special tokens, think and tool delimiters).'),
        endOfTurnId: tokenId
          .optional()
          .describe('The token with which the template ends an assistant turn. Omitted: it has none.'),
      })
      .optional()
      .describe('Omitted: the file had none; then texts of ids may be unknown.'),
    template: z
      .looseObject({
        source: z
          .literal('server')
          .optional()
          .describe('The server rendered with its own template, whose text is unknown. Omitted: `text` was rendered.'),
        text: z.string().describe('The chat template, Jinja. Empty where the server rendered.'),
        fingerprint: z
          .string()
          .optional()
          .describe('SHA-256 of the text that the server’s template writes after a reply. Omitted: see `text`.'),
        options: jsonObject.describe('Template options such as enable_thinking.'),
      })
      .optional()
      .describe('Omitted: no template was used.'),
    tools: z.array(toolSpec).describe('Tools in the order in which they were passed to the template.'),
    parser: z.string().optional().describe('Name of the tool-call parser. Omitted: calls were not parsed.'),
  })
  .describe('Everything needed to render the conversation again.')

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
    what: z.enum(['text', 'ids']).describe('Whether it was given as text or ids.'),
    ids: z.array(z.int().min(0)).describe('Its token ids.'),
  })
  .optional()
  .describe('A first prompt of text or ids that the model never read. Omitted: none.')

const outcome = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('running'),
      rolloutId: z
        .string()
        .optional()
        .describe('The rollout that is writing the trajectory. Omitted: another program wrote it.'),
    }),
    z.looseObject({
      kind: z.literal('ended'),
      reason: z
        .enum(outcomeReasons)
        .describe(
          'truncated: cut off; the file does not give the reason. unknown: the file does not contain the outcome.',
        ),
      unsent: z.array(message).optional().describe('Messages whose tokens the model never read. Omitted: none.'),
      unsentGiven,
      context: z
        .looseObject({
          needed: z.int().min(0).optional().describe('Tokens that the call needed: its prompt and room for a reply.'),
          holds: z.int().min(0).optional().describe('Tokens that fit into the context.'),
        })
        .optional()
        .describe('With context_full: the token counts that did not fit. Omitted: unknown.'),
    }),
    z.looseObject({
      kind: z.literal('failed'),
      code: z.string().describe('For example CONNECT_REFUSED or UPSTREAM_REJECTED.'),
      message: z.string(),
      hint: z.string().optional().describe('Advice for the user. Omitted: the message is enough.'),
      parameter: z
        .string()
        .optional()
        .describe('The sampling parameter that the server refused. Omitted: none, or unknown.'),
      unsent: z.array(message).optional().describe('Messages whose tokens the model never read. Omitted: none.'),
      unsentGiven,
    }),
  ])
  .describe('The state of the run, or how it ended.')

const provenance = z
  .discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('rollout'),
      application: z.string().describe('Name and version of the program that ran the agent.'),
      limits: z.record(z.string(), z.number()).optional().describe('Limits of the last run. Omitted: none.'),
      endpoint: z
        .literal('chat')
        .optional()
        .describe('chat: the agent sent messages to /v1/chat/completions. Omitted: token-in/token-out.'),
    }),
    z.looseObject({
      kind: z.literal('import'),
      format: z.string(),
      file: z.string().optional(),
      lacked: z.array(z.string()).describe('Information that the file lacked, in words.'),
    }),
    z.looseObject({
      kind: z.literal('fork'),
      parent: z.string().describe('Id of the forked trajectory.'),
      tokenIndex: z.int().min(0).describe('Index of the first token that differs.'),
      forced: z.array(tokenId).describe('Ids that were inserted instead; none = sampled again.'),
    }),
    z.looseObject({
      kind: z
        .literal('retokenized')
        .describe('Rebuilt from the text or the messages of a run: no model sampled these ids.'),
      mode: z
        .literal(['text', 'structured', 'raw', 'read'])
        .describe(
          'text: the ids decoded and encoded again; structured, raw: the messages through the chat template, with tool calls ' +
            'in structured form or as text; read: the last prompt of a run over a chat endpoint as its server ' +
            'tokenized it, and the last reply.',
        ),
      parent: z.string().describe('Id of the source trajectory.'),
    }),
    z.looseObject({ kind: z.literal('recorded'), source: z.string().optional() }),
  ])
  .describe('The origin of the trajectory.')

/** Schema of a trajectory file. */
export const trajectorySchema = z.looseObject({
  format: z
    .literal(FORMAT)
    .describe('Name and version of the format. Readers upgrade older versions and refuse newer ones.'),
  id: z.string().min(1).max(200).describe('Opaque id, unique in the application that made it.'),
  createdAt: z.string().describe('ISO 8601.'),
  title: z.string().optional(),
  tags: z.array(z.string()).optional(),
  note: z.string().optional(),
  reward: z.number().nullable().optional().describe('The scalar reward. Omitted: not scored.'),
  group: z
    .looseObject({ id: z.string(), index: z.int().min(0) })
    .optional()
    .describe('The group of samples of one prompt that it belongs to. Omitted: none.'),
  model: modelBlock,
  vocab: z
    .record(z.string().regex(/^\d+$/, 'a token id in decimal'), vocabEntry)
    .describe(
      'The text of every id that is used, in tokens and alternatives; {hex} if its bytes alone are not valid UTF-8. ' +
        'Entries may be missing only if model.tokenizer is omitted: those texts are unknown.',
    ),
  segments: z
    .array(segment)
    .describe('Runs of tokens that were appended together, in order. Adjacent segments may have the same kind.'),
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
      'Of imported files: content that this format has no field for, unchanged, by the name of the file’s format. Omitted: none.',
    ),
})

/** A trajectory file. */
export type Trajectory = Plain<z.infer<typeof trajectorySchema>>
/** A prompt or response segment. */
export type Segment = Trajectory['segments'][number]
/** Tokens that the model was given. */
export type PromptSegment = Extract<Segment, { kind: 'prompt' }>
/** Tokens that the model sampled. */
export type ResponseSegment = Extract<Segment, { kind: 'response' }>
/** A parsed or malformed tool call. */
export type ToolCall = ResponseSegment['toolCalls'][number]
/** The result of an executed tool call. */
export type ToolResult = NonNullable<ToolCall['result']>
/** A message of the conversation. */
export type Message = PromptSegment['messages'][number]
/** The origin of the ids of a prompt segment. */
export type PromptSource = NonNullable<PromptSegment['derivation']>
/** The reason why a response ended. */
export type Finish = NonNullable<ResponseSegment['finish']>
/** The state of a run, or its end. */
export type Outcome = Trajectory['outcome']
/** The name of an outcome. */
export type OutcomeReason = (typeof outcomeReasons)[number]
/** The most likely alternatives at each token. */
export type TopLogprobs = NonNullable<Segment['topLogprobs']>
/** Something that could not be stored or was inconsistent. */
export type Problem = NonNullable<Segment['problems']>[number]
/** The texts of token ids. */
export type Vocab = Trajectory['vocab']
/** The text of a token id. */
export type VocabEntry = Vocab[string]
/** A half-open range of tokens within a segment. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The schemas of the format by name. */
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
