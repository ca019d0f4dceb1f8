/**
 * The trajectory format, `rollscope.trajectory/1`: one token sequence of one agent run, with everything known about
 * each token. This schema is the source of the types, of public/trajectory.schema.json and of
 * docs/trajectory-format.md; the descriptions below are the format's documentation. Objects are loose: unknown fields
 * survive reading and writing.
 */
import * as z from 'zod/mini'
import { jsonObject, toolSpec } from '#lib/tools/tool-spec.ts'
import { LIMITS } from '#lib/util/limits.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { forkKinds } from './fork-kinds.ts'
import { MISSING_CONTENTS } from './missing-content.ts'
import { tokenNotesSchema } from './token-notes.ts'

/** Name and version of the trajectory format. */
export const FORMAT = 'rollscope.trajectory/1'

const tokenId = z.int().check(z.minimum(0), z.maximum(LIMITS.tokenId))
const numberOrUnknown = z.nullable(z.number())

const spanShape = {
  start: withDescription(
    z.int().check(z.minimum(0)),
    'Index of the first token, counted from the start of the segment.',
  ),
  end: withDescription(z.int().check(z.minimum(0)), 'Index after the last token (half-open).'),
}
const span = z.looseObject(spanShape)

const textRange = withDescription(
  z.looseObject({
    start: withDescription(z.int().check(z.minimum(0)), 'First UTF-16 code unit.'),
    end: withDescription(z.int().check(z.minimum(0)), 'UTF-16 code unit after the last (half-open).'),
  }),
  "A range of the response's text: its pieces joined, without the trailing stop token, unless a call or a think block ends with it.",
)

const topLogprobs = withDescription(
  z.looseObject({
    k: withDescription(z.int().check(z.minimum(1)), 'Number of alternatives of each token.'),
    ids: withDescription(
      z.array(z.int().check(z.minimum(-1), z.maximum(LIMITS.tokenId))),
      'n × k token ids, best first; -1 where a token has fewer than k.',
    ),
    logprobs: withDescription(
      z.array(numberOrUnknown),
      'n × k natural logarithms, parallel to `ids`; null where the id is -1.',
    ),
  }),
  'The most likely alternatives at each token, as two flat arrays.',
)

const problem = withDescription(
  z.looseObject({
    kind: withDescription(
      z.string(),
      'number: a value that JSON cannot represent was stored as null; text: the server’s text differs from the tokens; ' +
        'count: the server counted a different number of tokens than were sent or received; template: a chat template broke an ' +
        'assumption; mask: a file’s loss mask differs from its segments; file: a part of a file was read differently ' +
        'than it was written; router: a router probably removed a parameter from the request; model: the trajectory ' +
        'continued with a different model; prompt: a server’s prompt differs from the render of the recorded chat template; ' +
        'given: a given text is not the text of the given ids, or the tokenizer added tokens to it; missing: the server left ' +
        'out something that was requested; alternative: the tokenizer does not have the id of an alternative. Later versions may add others.',
    ),
    message: withDescription(z.string(), 'The problem in words.'),
    column: withDescription(z.optional(z.string()), 'The column that contains the value. Omitted: no single column.'),
    index: withDescription(
      z.optional(z.int().check(z.minimum(0))),
      'Index of the token, counted from the start of the segment. Omitted: the problem concerns no single token.',
    ),
    raw: withDescription(z.optional(z.string()), 'The value in the file, for example "NaN". Omitted: no value.'),
  }),
  'Something that could not be stored or was inconsistent, and where.',
)

/** Columns of every segment: parallel arrays with one entry for each token. */
const columns = {
  ids: withDescription(z.array(tokenId), 'Token ids in order.'),
  logprobs: withDescription(
    z.optional(z.array(numberOrUnknown)),
    'Natural logarithm of the probability the model gave each token; null = unknown. In a response these are the ' +
      'sampled logprobs (after temperature, before top_k, top_p and min_p); in a prompt they are prefill logprobs ' +
      '(always at temperature 1). Omitted: all unknown.',
  ),
  mask: withDescription(
    z.optional(z.array(z.literal([0, 1]))),
    'Loss mask, where it is not constant. Omitted: 0 throughout a prompt, 1 throughout a response.',
  ),
  topLogprobs: withDescription(z.optional(topLogprobs), 'Omitted: no alternatives were requested.'),
  columns: withDescription(
    z.optional(z.record(z.string(), z.array(numberOrUnknown))),
    'Further per-token numbers by name (trainerLogprobs, entropy, advantage …); null = unknown. Omitted: none.',
  ),
  problems: withDescription(z.optional(z.array(problem)), 'Omitted: none.'),
}

const contentPart = z.looseObject({
  type: withDescription(z.string(), 'text, image, or another kind, which is kept unread.'),
  text: withDescription(z.optional(z.string()), 'The text of a text part.'),
  image: withDescription(
    z.optional(z.string()),
    'Of an image part: the image as a data URL in base64 (PNG, JPEG, WebP or GIF). Omitted: the file does not contain it.',
  ),
  reference: withDescription(
    z.optional(z.string()),
    'Of an image part: the address or the path that the file names instead of the image. It is only text and is never fetched. Omitted: none.',
  ),
})
const content = withDescription(z.union([z.string(), z.array(contentPart)]), 'Its text, or its parts.')

const name = withDescription(
  z.optional(z.string()),
  'The name of the author or of the tool, as chat completions and some chat templates have it. Omitted: none.',
)

const message = withDescription(
  z.discriminatedUnion('role', [
    z.looseObject({ role: z.literal(['system', 'developer', 'user']), name, content }),
    z.looseObject({
      role: z.literal('assistant'),
      content,
      reasoning: withDescription(z.optional(z.string()), 'Thinking that is separate from the content. Omitted: none.'),
      toolCalls: withDescription(
        z.optional(
          z.array(
            z.looseObject({
              id: z.optional(z.string()),
              name: z.string(),
              input: z.unknown(),
              json: withDescription(
                z.optional(z.string()),
                'The JSON text of `input`, if its numbers have a spelling that a double does not keep: 1.0, or 20 digits. Omitted: `input` has all.',
              ),
            }),
          ),
        ),
        'Calls in structured form. Omitted: none, or they are in the content as text.',
      ),
    }),
    z.looseObject({
      role: z.literal('tool'),
      callId: withDescription(z.optional(z.string()), 'The tool call that this answers. Omitted: unknown.'),
      name,
      content: withDescription(z.optional(content), 'Omitted: the text of the result that is stored with the call.'),
      isError: withDescription(
        z.optional(z.boolean()),
        'Whether the tool reported an error. Omitted: no, unknown, or stored with the call.',
      ),
    }),
  ]),
  'A message of the conversation, as passed to the chat template.',
)

const derivation = withDescription(
  z.discriminatedUnion('kind', [
    z.looseObject({
      kind: withDescription(z.literal('whole'), 'The whole conversation through the chat template, with tools.'),
    }),
    z.looseObject({
      kind: withDescription(
        z.literal('continuation'),
        'Only the new part: rendered after a placeholder reply, cut after it, appended to the sampled ids.',
      ),
      closesTurn: withDescription(
        z.boolean(),
        'True when the response before did not end with the template’s end-of-turn token, so the segment begins with it.',
      ),
      check: z.discriminatedUnion('kind', [
        z.looseObject({ kind: withDescription(z.literal('held'), 'The real conversation renders the same new part.') }),
        z.looseObject({
          kind: withDescription(
            z.literal('broken'),
            'The real conversation renders a different new part: this template changes it with the conversation.',
          ),
          why: z.string(),
          expected: withDescription(
            z.optional(z.string()),
            'The new part as the real conversation renders it, from the first difference.',
          ),
          found: withDescription(z.optional(z.string()), 'The new part that was appended, from the first difference.'),
        }),
        z.looseObject({
          kind: withDescription(
            z.literal('unknown'),
            'There is no whole conversation to render: it began with text or ids, not with messages.',
          ),
        }),
      ]),
    }),
    z.looseObject({
      kind: withDescription(z.literal('given'), 'Text or ids given by the user; no template was used.'),
      what: withDescription(z.optional(z.enum(['text', 'ids'])), 'Whether text or ids were given. Omitted: unknown.'),
    }),
    z.looseObject({
      kind: withDescription(
        z.literal('reported'),
        'The server rendered and tokenized messages: the prompt that it reported to have read, after the end of the previous reply in it.',
      ),
    }),
  ]),
  'How the ids of a prompt segment were produced.',
)

const promptSegment = withDescription(
  z.looseObject({
    kind: z.literal('prompt'),
    ...columns,
    messages: withDescription(z.array(message), 'The messages that this segment encodes, in order.'),
    derivation: withDescription(z.optional(derivation), 'Omitted: unknown.'),
    scored: withDescription(
      z.optional(
        z.looseObject({
          server: withDescription(z.string(), 'Name of the saved server that computed the logprobs.'),
          at: withDescription(z.string(), 'ISO 8601.'),
          weightVersion: withDescription(z.optional(z.string()), 'Weights that answered. Omitted: not reported.'),
        }),
      ),
      'The prompt logprobs were requested after the run, by a separate call. Omitted: the run requested them, or there are none.',
    ),
  }),
  'Context: system, user, tool results and text that the template adds. Loss mask 0 unless `mask` says otherwise.',
)

const toolResult = z.looseObject({
  status: z.literal(['success', 'error', 'cancelled']),
  text: withDescription(z.string(), 'The exact text that the model reads.'),
  wholeLength: withDescription(
    z.optional(z.int().check(z.minimum(0))),
    'Characters (UTF-16) of the result before the limit maxResultCharacters cut it. Omitted: it was not cut.',
  ),
  startedAt: withDescription(z.optional(z.string()), 'ISO 8601. Omitted: unknown.'),
  elapsedMs: withDescription(z.optional(z.number().check(z.minimum(0))), 'Omitted: unknown.'),
  edited: withDescription(
    z.optional(z.literal(true)),
    'A person or a program wrote the text in a branch: the tool returned another one. Omitted: the tool returned it.',
  ),
})

const callShape = {
  id: withDescription(z.string(), 'Unique in the trajectory.'),
  writtenId: withDescription(
    z.optional(z.string()),
    'The id that the model wrote (kimi_k2: functions.add:0). It may repeat; chat templates get it with the result. ' +
      'Omitted: the call format has none, or it could not be read.',
  ),
  raw: withDescription(z.string(), 'The text between the call’s delimiters, unchanged.'),
  span: withDescription(span, 'Tokens of the call, including its delimiters.'),
  text: textRange,
  result: withDescription(z.optional(toolResult), 'Omitted: the call was not executed, or its result is unknown.'),
}

const toolCall = withDescription(
  z.discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('parsed'),
      ...callShape,
      name: z.string(),
      input: withDescription(jsonObject, 'The parsed arguments. `raw` keeps what JSON numbers lose.'),
      arguments: withDescription(
        z.array(z.looseObject({ name: z.string(), span, text: textRange })),
        'The position of each top-level argument’s value.',
      ),
    }),
    z.looseObject({
      kind: z.literal('malformed'),
      ...callShape,
      name: withDescription(z.optional(z.string()), 'Omitted: no name could be read.'),
      why: withDescription(z.string(), 'The reason, in words.'),
      at: withDescription(z.int().check(z.minimum(0)), 'UTF-16 offset in the response’s text at which parsing failed.'),
    }),
  ]),
  'A tool call as the parser found it. A malformed call is only recorded, never executed.',
)

const finish = withDescription(
  z.discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('stop'),
      matched: withDescription(
        z.optional(z.union([z.int(), z.string()])),
        'Stop token id, stop string or pattern. Omitted: not reported.',
      ),
    }),
    z.looseObject({ kind: withDescription(z.literal('length'), 'The token limit of the request was reached.') }),
    z.looseObject({
      kind: withDescription(z.literal('abort'), 'The server aborted the request.'),
      message: z.optional(z.string()),
    }),
    z.looseObject({
      kind: withDescription(z.literal('cancelled'), 'The user stopped it; the tokens received so far were kept.'),
    }),
    z.looseObject({
      kind: withDescription(
        z.literal('cut'),
        'The connection or the reply broke after tokens had arrived; they were kept.',
      ),
      code: z.string(),
      message: z.string(),
    }),
    z.looseObject({
      kind: withDescription(z.literal('unknown'), 'The server reported an unknown reason.'),
      raw: z.string(),
    }),
  ]),
  'Why the response ended.',
)

const request = withDescription(
  z.looseObject({
    server: withDescription(z.optional(z.string()), 'Name of the saved server. Omitted: unknown.'),
    rid: withDescription(z.optional(z.string()), 'Request id sent to the server. Omitted: none.'),
    endpoint: withDescription(
      z.optional(z.literal('chat')),
      'chat: /v1/chat/completions, which takes messages and tokenizes them itself. Omitted: /generate.',
    ),
    chat: withDescription(
      z.optional(
        z.looseObject({
          model: withDescription(z.string(), 'The model named in the request body.'),
          kept: withDescription(
            z.int().check(z.minimum(0)),
            'Number of messages at the beginning of the body that are the same as in the previous chat request of the trajectory.',
          ),
          messages: withDescription(z.array(jsonObject), 'The messages of the body after those.'),
        }),
      ),
      'With endpoint chat: the rest of the body, without the tools and the template options of the model. Omitted: unknown.',
    ),
    read: withDescription(
      z.optional(
        z.looseObject({
          kept: withDescription(
            z.int().check(z.minimum(0)),
            'Number of tokens before the response that the prompt began with, counted from the first.',
          ),
          ids: withDescription(z.array(tokenId), 'The ids of the prompt after those.'),
        }),
      ),
      'With endpoint chat: the prompt that the server reports to have read, if it differs from the tokens before the ' +
        'response. Omitted: it does not differ.',
    ),
    samplingParams: withDescription(jsonObject, 'The parameters exactly as sent, with the names of the endpoint.'),
    inputLength: withDescription(
      z.int().check(z.minimum(0)),
      'Number of input ids that were sent, or with endpoint chat: that the server reports to have read.',
    ),
    inputHash: withDescription(
      z.string(),
      'SHA-256, hexadecimal, over those ids as little-endian unsigned 32-bit integers.',
    ),
    adapter: withDescription(
      z.optional(z.string()),
      'Name of the LoRA adapter that sampled the response. Omitted: none was requested.',
    ),
    routedExpertsStart: withDescription(
      z.optional(z.int().check(z.minimum(0))),
      'The first token whose routed experts were requested. Omitted: none were requested.',
    ),
    images: withDescription(
      z.optional(
        z.looseObject({
          count: withDescription(z.int().check(z.minimum(1)), 'Number of images that were sent beside the ids.'),
          tokens: withDescription(
            z.optional(z.array(z.int().check(z.minimum(1)))),
            'Number of tokens that the server read in place of each placeholder. Omitted: not reported.',
          ),
        }),
      ),
      'The images of the messages before the response, in the order of their placeholders. Omitted: none were sent.',
    ),
    logprobStartLen: withDescription(z.optional(z.int()), 'Omitted: no prompt logprobs were requested.'),
    topLogprobsNum: withDescription(z.optional(z.int()), 'Omitted: no alternatives were requested.'),
    streamed: z.boolean(),
    streamInterval: withDescription(
      z.optional(z.int().check(z.minimum(1))),
      'Tokens requested in each chunk of the stream, except the first. Omitted: the server’s default.',
    ),
    scoring: withDescription(
      z.optional(
        z.looseObject({
          rid: withDescription(z.string(), 'Its request id.'),
          elapsedMs: withDescription(z.number().check(z.minimum(0)), 'Its duration, which is part of firstTokenMs.'),
          cachedTokens: withDescription(z.optional(z.int()), 'Prompt tokens that it took from the prefix cache.'),
          shared: withDescription(
            z.optional(z.literal(true)),
            'It was made once for all samples of the group, and all share its numbers. Omitted: for this response only.',
          ),
        }),
      ),
      'The call with max_new_tokens 0 that fetched the prompt’s logprobs before this one: a stream would repeat ' +
        'them in every chunk. Omitted: they came with the reply, or were not requested.',
    ),
  }),
  'The request that produced the response.',
)

const usage = withDescription(
  z.optional(
    z.looseObject({
      promptTokens: z.optional(z.int()),
      completionTokens: z.optional(z.int()),
      cachedTokens: withDescription(z.optional(z.int()), 'Prompt tokens taken from the prefix cache.'),
    }),
  ),
  'Token counts of the server. Omitted: not reported.',
)

const timing = withDescription(
  z.optional(
    z.looseObject({
      startedAt: withDescription(z.string(), 'ISO 8601, when the request was sent.'),
      firstTokenMs: withDescription(
        z.optional(z.number().check(z.minimum(0))),
        'From the first request to the first token; with request.scoring, scoring is included.',
      ),
      elapsedMs: z.number().check(z.minimum(0)),
      serverMs: withDescription(
        z.optional(z.number().check(z.minimum(0))),
        'End-to-end latency as the server measured it.',
      ),
    }),
  ),
  'Omitted: unknown.',
)

/** Readers decode it without a check of their own. */
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const routedExperts = z.looseObject({
  start: withDescription(
    z.int().check(z.minimum(0)),
    'Index in the trajectory of the first token with experts. Every token after it has some, except the last one of the response, which the model has not read yet.',
  ),
  perToken: withDescription(
    z.int().check(z.minimum(1)),
    'Number of entries of one token: those of its first layer, then of the second, and so on. A layer without experts has zeros.',
  ),
  perLayer: withDescription(
    z.optional(z.int().check(z.minimum(1))),
    'Experts that each layer chooses for a token, a divisor of `perToken`. Omitted: unknown, as servers do not report it.',
  ),
  bytes: withDescription(z.literal([1, 2, 4]), 'Bytes of an entry.'),
  data: withDescription(
    z.string().check(z.refine(isBase64, { message: 'base64' })),
    'The entries, token by token, as little-endian integers in base64; signed if they have 4 bytes.',
  ),
})

const resumption = withDescription(
  z.looseObject({
    at: withDescription(
      z.int().check(z.minimum(0)),
      'Tokens that the response already had: they are kept, and were sent after those before the response.',
    ),
    stopped: withDescription(z.optional(finish), 'Why the response had ended there. Omitted: unknown.'),
    request,
    usage,
    timing,
  }),
  'A further call that continued a stopped response.',
)

const forcedTokens = withDescription(
  z.looseObject({
    ...spanShape,
    as: withDescription(
      z.enum(['alternative', 'text', 'ids']),
      'alternative: one of the most likely tokens at its position was chosen; text: a text was encoded; ids: ids were given.',
    ),
    instead: withDescription(
      z.optional(tokenId),
      'The token that the other trajectory has at the position of the first one. Omitted: it ends before.',
    ),
  }),
  'Tokens that the model did not sample: a branch inserted them, and the model continued after them. Their mask is 0 and their logprobs are unknown.',
)

const responseSegment = withDescription(
  z.looseObject({
    kind: z.literal('response'),
    ...columns,
    thinks: withDescription(
      z.array(
        z.looseObject({
          ...spanShape,
          closed: withDescription(
            z.boolean(),
            'False: no delimiter closes the block. It ends with the response, or where a call opens.',
          ),
        }),
      ),
      'Think blocks with their delimiters. One that starts at 0 without a delimiter was opened by the prompt.',
    ),
    toolCalls: withDescription(z.array(toolCall), 'In their order in the text, including malformed ones.'),
    request: withDescription(z.optional(request), 'Omitted: unknown.'),
    message: withDescription(
      z.optional(jsonObject),
      'The assistant message as the server or the file gives it (content, reasoning, calls), in the notation of chat completions, ' +
        'Anthropic, Inspect or Strands. Of a file that has only texts, it is all that is known of the response. Omitted: unknown.',
    ),
    finish: withDescription(z.optional(finish), 'Omitted: unknown.'),
    usage,
    timing,
    weightVersions: withDescription(
      z.optional(z.array(z.looseObject({ version: z.string(), ...spanShape }))),
      'The weights that sampled each part of the response. Omitted: not reported.',
    ),
    routedExperts: withDescription(
      z.optional(routedExperts),
      'Of a mixture of experts: the experts that read the tokens. Omitted: not requested, or not returned.',
    ),
    forced: withDescription(z.optional(z.array(forcedTokens)), 'In order, without overlaps. Omitted: none.'),
    resumed: withDescription(
      z.optional(z.array(resumption)),
      'The calls that continued the response after it was stopped, in order. `request`, `usage` and `timing` of the ' +
        'response belong to its first call, `finish` to its last. Omitted: one call sampled the whole response.',
    ),
  }),
  'The output of one call. Loss mask 1 unless `mask` says otherwise; the sampled stop token is part of it.',
)

const segment = z.discriminatedUnion('kind', [promptSegment, responseSegment])

const vocabEntry = z.union([
  z.string(),
  z.looseObject({
    hex: z.string().check(z.regex(/^([0-9a-f]{2})*$/, 'an even number of lower-case hexadecimal digits')),
  }),
])

const modelBlock = withDescription(
  z.looseObject({
    name: withDescription(z.optional(z.string()), 'The model as the server names it. Omitted: unknown.'),
    contextLength: withDescription(
      z.optional(z.int().check(z.minimum(1))),
      'Maximum number of tokens that the server accepts. Omitted: unknown.',
    ),
    tokenizer: withDescription(
      z.optional(
        z.looseObject({
          name: withDescription(z.string(), 'Hub name, folder, or the name of the built-in model.'),
          source: withDescription(
            z.optional(z.literal('server')),
            'The server itself was the tokenizer (/tokenize, /detokenize): `vocab` contains its decoded texts, which ' +
              'for tokenizers that change spaces or lack single bytes are not always the exact bytes. Omitted: the tokenizer’s own file.',
          ),
          fingerprint: withDescription(
            z.optional(z.string()),
            'SHA-256 of the tokenizer file, or of the server’s ids for fixed texts. Omitted: unknown.',
          ),
          vocabularySize: withDescription(
            z.optional(z.int().check(z.minimum(1))),
            'Omitted: unknown; a server does not report it.',
          ),
          specialIds: withDescription(
            z.array(tokenId),
            'The ids of `vocab` that are added tokens (special tokens, think and tool delimiters).',
          ),
          endOfTurnId: withDescription(
            z.optional(tokenId),
            'The token with which the template ends an assistant turn. Omitted: it has none.',
          ),
        }),
      ),
      'Omitted: the file had none; then texts of ids may be unknown.',
    ),
    template: withDescription(
      z.optional(
        z.looseObject({
          source: withDescription(
            z.optional(z.literal('server')),
            'The server rendered with its own template, whose text is unknown. Omitted: `text` was rendered.',
          ),
          text: withDescription(z.string(), 'The chat template, Jinja. Empty where the server rendered.'),
          fingerprint: withDescription(
            z.optional(z.string()),
            'SHA-256 of the text that the server’s template writes after a reply. Omitted: see `text`.',
          ),
          options: withDescription(jsonObject, 'Template options such as enable_thinking.'),
        }),
      ),
      'Omitted: no template was used.',
    ),
    tools: withDescription(z.array(toolSpec), 'Tools in the order in which they were passed to the template.'),
    parser: withDescription(z.optional(z.string()), 'Name of the tool-call parser. Omitted: calls were not parsed.'),
  }),
  'Everything needed to render the conversation again.',
)

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

const unsentGiven = withDescription(
  z.optional(
    z.looseObject({
      what: withDescription(z.enum(['text', 'ids']), 'Whether it was given as text or ids.'),
      ids: withDescription(z.array(z.int().check(z.minimum(0))), 'Its token ids.'),
    }),
  ),
  'A first prompt of text or ids that the model never read. Omitted: none.',
)

const outcome = withDescription(
  z.discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('running'),
      rolloutId: withDescription(
        z.optional(z.string()),
        'The rollout that is writing the trajectory. Omitted: another program wrote it.',
      ),
      unsent: withDescription(
        z.optional(z.array(message)),
        'Messages of the run that are in no segment yet. Omitted: none.',
      ),
      unsentGiven,
    }),
    z.looseObject({
      kind: z.literal('ended'),
      reason: withDescription(
        z.enum(outcomeReasons),
        'truncated: cut off; the file does not give the reason. unknown: the file does not contain the outcome.',
      ),
      unsent: withDescription(
        z.optional(z.array(message)),
        'Messages whose tokens the model never read. Omitted: none.',
      ),
      unsentGiven,
      context: withDescription(
        z.optional(
          z.looseObject({
            needed: withDescription(
              z.optional(z.int().check(z.minimum(0))),
              'Tokens that the call needed: its prompt and room for a reply.',
            ),
            holds: withDescription(z.optional(z.int().check(z.minimum(0))), 'Tokens that fit into the context.'),
          }),
        ),
        'With context_full: the token counts that did not fit; with max_tokens only the needed ones. Omitted: unknown.',
      ),
    }),
    z.looseObject({
      kind: z.literal('failed'),
      code: withDescription(z.string(), 'For example CONNECT_REFUSED or UPSTREAM_REJECTED.'),
      message: z.string(),
      hint: withDescription(z.optional(z.string()), 'Advice for the user. Omitted: the message is enough.'),
      parameter: withDescription(
        z.optional(z.string()),
        'The sampling parameter that the server refused. Omitted: none, or unknown.',
      ),
      unsent: withDescription(
        z.optional(z.array(message)),
        'Messages whose tokens the model never read. Omitted: none.',
      ),
      unsentGiven,
    }),
  ]),
  'The state of the run, or how it ended.',
)

const columnQuantities = [
  'logprob',
  'advantage',
  'return',
  'reward',
  'value',
  'entropy',
  'importance_ratio',
  'kl',
  'mask',
  'weight_version',
  'normaliser',
  'expert_agreement',
  'other',
] as const

const columnMeaning = withDescription(
  z.looseObject({
    quantity: withDescription(z.enum(columnQuantities), 'The quantity. other: none of these, or unknown.'),
    model: withDescription(
      z.optional(z.enum(['rollout', 'trainer', 'reference', 'teacher'])),
      'The model that computed it. Omitted: unknown, or no single model.',
    ),
    values: withDescription(
      z.optional(z.enum(['raw', 'processed'])),
      'Of logprobs. raw: of the logits as the model gives them. processed: of the logits divided by the temperature. Omitted: unknown.',
    ),
    temperature: withDescription(
      z.optional(z.number().check(z.minimum(0))),
      'Of processed logprobs, and of a normaliser: the temperature that divided the logits. Omitted: unknown.',
    ),
    normaliser: withDescription(
      z.optional(z.string()),
      'Of logprobs: the name of the column with N = log Σ p^(1/T) of each token, over the distribution p of the same model without ' +
        'temperature: processed = raw / T − N. T is the temperature of that column, or else of this one. It makes the conversion ' +
        'between raw and processed logprobs exact. Omitted: there is none.',
    ),
    engine: withDescription(
      z.optional(z.string()),
      'The program that computed it, such as sglang, vllm or fsdp. Omitted: unknown.',
    ),
    source: withDescription(
      z.optional(z.string()),
      'The field of the file, or the program that sent it. Omitted: unknown.',
    ),
  }),
  'The meaning of a column of numbers.',
)

const repairUndo = withDescription(
  z.optional(
    z.discriminatedUnion('kind', [
      z.looseObject({
        kind: withDescription(z.literal('zeros'), 'Logprobs of 0 became unknown.'),
        ranges: withDescription(
          z.array(
            z.looseObject({
              start: withDescription(
                z.int().check(z.minimum(0)),
                'Index of the first token, counted from the start of the trajectory.',
              ),
              end: spanShape.end,
            }),
          ),
          'Tokens whose logprob was exactly 0.',
        ),
      }),
      z.looseObject({
        kind: withDescription(z.literal('tokens'), 'The last tokens were removed.'),
        from: withDescription(z.int().check(z.minimum(0)), 'Index of the first segment that the repair changed.'),
        kept: withDescription(z.int().check(z.minimum(0)), 'Number of segments from there on, after the repair.'),
        segments: withDescription(
          z.array(jsonObject),
          'The segments from there on, before the repair, as in `segments`.',
        ),
      }),
    ]),
  ),
  'What undoing the repair restores. Omitted: it cannot be undone.',
)

const provenance = withDescription(
  z.discriminatedUnion('kind', [
    z.looseObject({
      kind: z.literal('rollout'),
      application: withDescription(z.string(), 'Name and version of the program that ran the agent.'),
      limits: withDescription(z.optional(z.record(z.string(), z.number())), 'Limits of the last run. Omitted: none.'),
      endpoint: withDescription(
        z.optional(z.literal('chat')),
        'chat: the agent sent messages to /v1/chat/completions. Omitted: token-in/token-out.',
      ),
    }),
    z.looseObject({
      kind: z.literal('import'),
      format: z.string(),
      file: z.optional(z.string()),
      lacked: withDescription(z.array(z.string()), 'Information that the file lacked, in words.'),
      missing: withDescription(
        z.optional(z.array(z.enum(MISSING_CONTENTS))),
        'The same by name, as far as it limits what can be computed. Omitted: unknown.',
      ),
      encodedAgain: withDescription(
        z.optional(
          z.looseObject({
            tokenizer: withDescription(z.string(), 'Name of the tokenizer that encoded the text.'),
            template: withDescription(z.boolean(), 'Whether a chat template rendered the messages.'),
            mask: withDescription(z.string(), 'Which tokens are trained, in words.'),
            caveats: withDescription(
              z.optional(z.array(z.string())),
              'Why a pipeline may have other ids, in sentences. Omitted: no reason is known.',
            ),
          }),
        ),
        'The file had texts and no ids: the ids were encoded when it was opened, and no model read or sampled them. Omitted: ids are of the file.',
      ),
      repairs: withDescription(
        z.optional(
          z.array(
            z.looseObject({
              name: withDescription(z.string(), 'Name of the repair.'),
              message: withDescription(z.string(), 'What it changed, in words.'),
              undo: repairUndo,
            }),
          ),
        ),
        'Repairs that the user applied to the content of the file, in order. Omitted: none.',
      ),
    }),
    z.looseObject({
      kind: z.literal('fork'),
      parent: withDescription(z.string(), 'Id of the forked trajectory.'),
      tokenIndex: withDescription(z.int().check(z.minimum(0)), 'Index of the first token that differs.'),
      forced: withDescription(z.array(tokenId), 'Ids that were inserted instead; none = sampled again.'),
    }),
    z.looseObject({
      kind: withDescription(
        z.literal('retokenized'),
        'Rebuilt from the text or the messages of a run: no model sampled these ids.',
      ),
      mode: withDescription(
        z.literal(['text', 'structured', 'raw', 'read']),
        'text: the ids decoded and encoded again; structured, raw: the messages through the chat template, with tool calls ' +
          'in structured form or as text; read: the last prompt of a run over a chat endpoint as its server ' +
          'tokenized it, and the last reply.',
      ),
      parent: withDescription(z.string(), 'Id of the source trajectory.'),
    }),
    z.looseObject({ kind: z.literal('recorded'), source: z.optional(z.string()) }),
  ]),
  'The origin of the trajectory.',
)

/** Schema of a trajectory file. */
export const trajectorySchema = z.looseObject({
  format: withDescription(
    z.literal(FORMAT),
    'Name and version of the format. Readers upgrade older versions and refuse newer ones.',
  ),
  id: withDescription(
    z.string().check(z.minLength(1), z.maxLength(200)),
    'Opaque id, unique in the application that made it.',
  ),
  createdAt: withDescription(z.string(), 'ISO 8601.'),
  title: z.optional(z.string()),
  tags: z.optional(z.array(z.string())),
  note: z.optional(z.string()),
  notes: withDescription(z.optional(tokenNotesSchema), 'Notes on ranges of tokens. Omitted: none.'),
  reward: withDescription(z.optional(z.nullable(z.number())), 'The scalar reward. Omitted: not scored.'),
  group: withDescription(
    z.optional(
      z.looseObject({
        id: z.string(),
        index: withDescription(
          z.int().check(z.minimum(0)),
          'Number of the rollout in its group. Trajectories of one imported rollout, such as the paths of a trace, share it.',
        ),
        server: withDescription(
          z.optional(z.string()),
          'Name of the server on which its run began, if the group ran on several servers side by side. Omitted: it ran on one.',
        ),
      }),
    ),
    'The group of samples of one prompt that it belongs to. Omitted: none.',
  ),
  model: modelBlock,
  vocab: withDescription(
    z.record(z.string().check(z.regex(/^\d+$/, 'a token id in decimal')), vocabEntry),
    'The text of every id that is used, in tokens and alternatives; {hex} if its bytes alone are not valid UTF-8. ' +
      'Entries may be missing only if model.tokenizer is omitted: those texts are unknown.',
  ),
  segments: withDescription(
    z.array(segment),
    'Runs of tokens that were appended together, in order. Adjacent segments may have the same kind.',
  ),
  outcome,
  provenance,
  problems: withDescription(z.optional(z.array(problem)), 'Problems of the trajectory as a whole. Omitted: none.'),
  columnMeanings: withDescription(
    z.optional(z.record(z.string(), columnMeaning)),
    'The meaning of `logprobs` and of each name in `columns`, by this name. Omitted: `logprobs` are as described there, and the ' +
      'meaning of other columns is only their name.',
  ),
  forkedFrom: withDescription(
    z.optional(
      z.looseObject({
        trajectory: withDescription(z.string().check(z.minLength(1), z.maxLength(200)), 'Id of the other trajectory.'),
        token: withDescription(
          z.int().check(z.minimum(0)),
          'Index of the first token that may differ: those before it are the same.',
        ),
        kind: withDescription(
          z.enum(forkKinds),
          'sampled_again: with the same prompt; alternative: another token was chosen; forced: text or ids were inserted; tool_result, ' +
            'message: it was edited; settings: sampled with other settings; continued: a further turn, or an interrupted response that was resumed; cut: it ends there; rendered_again: the same ' +
            'conversation encoded again, with other ids.',
        ),
        prefixHash: withDescription(
          z.optional(z.string()),
          'SHA-256 of the ids before `token`, as in `inputHash`. Omitted: unknown.',
        ),
      }),
    ),
    'The trajectory with which it shares its first tokens. Omitted: none is known.',
  ),
  routedExperts: withDescription(
    z.optional(z.array(z.string())),
    'Of imported files whose slices belong to no response: base64 int32, one slice per turn. Omitted: none.',
  ),
  imageData: withDescription(
    z.optional(z.array(z.string())),
    'Of imported files without messages: the images in the order of their placeholders, as data URLs. Omitted: none, or they are ' +
      'in the messages.',
  ),
  foreign: withDescription(
    z.optional(z.record(z.string(), jsonObject)),
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
/** Tokens that a branch inserted into a response. */
export type ForcedTokens = NonNullable<ResponseSegment['forced']>[number]
/** A parsed or malformed tool call. */
export type ToolCall = ResponseSegment['toolCalls'][number]
/** The result of an executed tool call. */
export type ToolResult = NonNullable<ToolCall['result']>
/** A message of the conversation. */
export type Message = PromptSegment['messages'][number]
/** A part of a message: a text, an image, or other content. */
export type ContentPart = Exclude<Message['content'], string | undefined>[number]
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
/** The experts that read consecutive tokens. */
export type RoutedExperts = NonNullable<ResponseSegment['routedExperts']>
/** The meaning of a column of numbers. */
export type ColumnMeaning = NonNullable<Trajectory['columnMeanings']>[string]
/** The trajectory with which another one shares its first tokens. */
export type ForkedFrom = NonNullable<Trajectory['forkedFrom']>
/** A repair of the content of an imported file. */
export type RepairRecord = NonNullable<Extract<Trajectory['provenance'], { kind: 'import' }>['repairs']>[number]
/** What undoing a repair restores. */
export type RepairUndo = NonNullable<RepairRecord['undo']>
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
  segment,
  request,
  message,
  toolSpec,
  promptSegment,
  responseSegment,
  toolResult,
  outcome,
  topLogprobs,
  routedExperts,
  vocabEntry,
  columnMeaning,
}
