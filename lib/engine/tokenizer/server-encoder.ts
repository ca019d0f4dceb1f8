/**
 * A prompt encoder for models whose tokenizer files are not available: the server encodes, decodes and renders. Its
 * answers are cached. `settle` repeats a computation and fetches the missing data between attempts, so that lib/rollout
 * stays synchronous.
 */
import { createHash } from 'node:crypto'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { type ChatTemplate, chatTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import type { RenderLimits } from '#lib/templates/jinja/rendering.ts'
import type { AddedToken, Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { createMemory, type Memory } from '#lib/util/bounded-memory.ts'
import { EngineError } from '../http/errors.ts'
import { bytesOfIds, type Decoding, findDecoding } from './server-bytes.ts'
import type { ServerTokenizer } from './server-tokenizer.ts'

/** The tokenizer and the template of an encoder. */
export interface ServerPromptEncoderOptions {
  /** The name that the server gives its tokenizer, mostly a path. */
  readonly name: string
  /** A chat template to render here. Omitted: the server renders with its own. */
  readonly templateText?: string | undefined
  /** Renders the template when it exceeds a budget. Omitted: it renders here, however long it takes. */
  readonly slow?: SlowRenders | undefined
}

/** Renders templates that take too long here, for example in a worker. */
export interface SlowRenders {
  readonly budget: () => RenderLimits
  /** Throws TemplateError. */
  readonly render: (template: string, input: RenderInput, signal: AbortSignal) => Promise<string>
}

/** A prompt encoder that needs its server. */
export interface ServerPromptEncoder extends PromptEncoder {
  readonly settle: NonNullable<PromptEncoder['settle']>
  /**
   * The hexadecimal fingerprint of the text that the server's template writes after a reply; undefined if the template was
   * given.
   */
  readonly templateFingerprint: string | undefined
}

/**
 * Opens an encoder that uses the server. Throws EngineError UPSTREAM_REJECTED if the server has no /tokenize. Throws
 * TemplateError if no template was given and the server renders none: the router, SGLang before 0.5.2x, or a tokenizer
 * without a template.
 */
export async function openServerPromptEncoder(
  server: ServerTokenizer,
  { name, templateText, slow }: ServerPromptEncoderOptions,
  signal: AbortSignal,
): Promise<ServerPromptEncoder> {
  const [fixed, decoding] = await Promise.all([
    server.tokenize([...FINGERPRINT_TEXTS, ...WELL_KNOWN], signal),
    findDecoding(server, signal),
  ])
  const custom = templateText === undefined ? undefined : customTemplate(templateText, slow)
  const sample = await sampleRender(server, custom, signal)
  const addedTokens = await findAddedTokens(server, [...fixed.flat(), ...sample.ids], signal)
  const known: Known = {
    texts: createMemory(MOST_CHARACTERS),
    renders: createMemory(MOST_CHARACTERS),
    bytes: new Map(addedTokens.map(({ id, content }) => [id, encoder.encode(content)])),
  }
  let collecting: Lack | undefined
  const lacking = (): Lack => {
    if (!collecting) throw new Error('the server’s encoder was called outside of settle')
    return collecting
  }
  const tokenizer: Tokenizer = {
    name,
    fingerprint: sha256(JSON.stringify(fixed.slice(0, FINGERPRINT_TEXTS.length))),
    vocabularySize: Number.POSITIVE_INFINITY,
    addedTokens,
    encode(text) {
      if (text === '') return []
      const ids = known.texts.get(text)
      if (ids) return [...ids]
      lacking().texts.add(text)
      throw new MissingData()
    },
    bytes(id) {
      const bytes = known.bytes.get(id)
      if (bytes) return bytes
      lacking().ids.add(id)
      return NOTHING
    },
  }
  const template: ChatTemplate = {
    text: templateText ?? '',
    render(input) {
      const quick = custom?.quick(input)
      if (quick !== undefined) return quick
      const key = JSON.stringify(input)
      const rendered = known.renders.get(key)
      if (rendered instanceof TemplateError) throw rendered
      if (rendered !== undefined) return rendered
      lacking().renders.set(key, input)
      throw new MissingData()
    },
  }
  return {
    tokenizer,
    template,
    fetchesBytes: true,
    templateFingerprint: templateText === undefined ? sha256(sample.tail) : undefined,
    async settle(compute, signal) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const lack: Lack = { texts: new Set(), renders: new Map(), ids: new Set() }
        collecting = lack
        try {
          const result = compute()
          if (isNothing(lack)) return result
        } catch (error) {
          if (isNothing(lack)) throw error
        } finally {
          collecting = undefined
        }
        await fetchInto(
          known,
          lack,
          custom?.render ?? ((input, stop) => render(server, input, stop)),
          server,
          decoding,
          signal,
        )
      }
      throw new Error(`a computation with the server’s encoder lacked data ${MOST_ROUNDS} times`)
    },
  }
}

/** The largest number of attempts. Three renders and their encodings need seven. */
const MOST_ROUNDS = 32
/** The characters of cached texts and renders: a few whole conversations at the length of a long context. */
const MOST_CHARACTERS = 8_000_000
/** The largest number of ids in one request. */
const MOST_IDS = 2048

const NOTHING = new Uint8Array()
const encoder = new TextEncoder()

interface Known {
  readonly texts: Memory<readonly number[]>
  /** Renders, including refusals: a conversation that the template refuses is refused again without a request. */
  readonly renders: Memory<string | TemplateError>
  /** At most one entry for each id of the vocabulary. */
  readonly bytes: Map<number, Uint8Array>
}

/** Data that a computation needed and that was not cached. */
interface Lack {
  readonly texts: Set<string>
  readonly renders: Map<string, RenderInput>
  readonly ids: Set<number>
}

/** Interrupts a computation that lacks data; never thrown outside of settle. */
class MissingData extends Error {
  override readonly name = 'MissingData'
}

const isNothing = ({ texts, renders, ids }: Lack): boolean => texts.size + renders.size + ids.size === 0

async function fetchInto(
  known: Known,
  { texts, renders, ids }: Lack,
  renderOf: (input: RenderInput, signal: AbortSignal) => Promise<Rendered | TemplateError>,
  server: ServerTokenizer,
  decoding: Decoding,
  signal: AbortSignal,
): Promise<void> {
  const askedTexts = [...texts]
  const encoded = await server.tokenize(askedTexts, signal)
  for (const [index, text] of askedTexts.entries()) known.texts.set(text, encoded[index] ?? [], text.length)
  for (const [key, input] of renders) {
    const rendered = await renderOf(input, signal)
    if (rendered instanceof TemplateError) {
      known.renders.set(key, rendered, key.length)
      continue
    }
    known.renders.set(key, rendered.text, key.length + rendered.text.length)
    // The ids of a whole prompt are those that the server rendered, not those of its text encoded again.
    if (rendered.ids) known.texts.set(rendered.text, rendered.ids, rendered.text.length)
  }
  const askedIds = [...ids]
  for (let from = 0; from < askedIds.length; from += MOST_IDS) {
    const part = askedIds.slice(from, from + MOST_IDS)
    const bytes = await bytesOfIds(server, part, decoding, signal)
    for (const [index, id] of part.entries()) known.bytes.set(id, bytes[index] ?? NOTHING)
  }
}

interface Rendered {
  /** The ids that the server rendered; undefined if the server did not render the text, and must encode it. */
  readonly ids: readonly number[] | undefined
  readonly text: string
}

/** A given template. `quick` is undefined if `render` must render it. */
interface CustomTemplate {
  quick(input: RenderInput): string | undefined
  render(input: RenderInput, signal: AbortSignal): Promise<Rendered | TemplateError>
}

function customTemplate(text: string, slow: SlowRenders | undefined): CustomTemplate {
  const template = chatTemplate(text, {})
  // An attempt takes the whole budget, so it is not repeated.
  let isSlow = false
  return {
    quick(input) {
      if (!slow) return template.render(input)
      if (isSlow) return undefined
      try {
        return template.render(input, slow.budget())
      } catch (error) {
        if (!(error instanceof TemplateError) || error.className !== 'BudgetError') throw error
        isSlow = true
        return undefined
      }
    },
    async render(input, signal) {
      try {
        return { text: slow ? await slow.render(text, input, signal) : template.render(input), ids: undefined }
      } catch (error) {
        if (error instanceof TemplateError) return error
        throw error
      }
    },
  }
}

async function render(
  server: ServerTokenizer,
  input: RenderInput,
  signal: AbortSignal,
): Promise<Rendered | TemplateError> {
  try {
    const ids = await server.tokenizeMessages(input, signal)
    const [text = ''] = await server.detokenize([ids], 'with special tokens', signal)
    return { ids, text }
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'UPSTREAM_REJECTED') throw error
    return new TemplateError(error.message, { cause: error })
  }
}

const PLACEHOLDER = 'SAMPLE-REPLY'

/** Renders a short conversation and returns its ids and the template's text after the reply. */
async function sampleRender(
  server: ServerTokenizer,
  custom: CustomTemplate | undefined,
  signal: AbortSignal,
): Promise<{ readonly ids: readonly number[]; readonly tail: string }> {
  const input: RenderInput = {
    messages: [
      { role: 'user', content: 'U' },
      { role: 'assistant', content: PLACEHOLDER },
      { role: 'user', content: 'V' },
    ],
    tools: undefined,
    addGenerationPrompt: true,
    options: {},
  }
  if (custom) {
    const quick = custom.quick(input)
    const rendered = quick === undefined ? await custom.render(input, signal) : { text: quick }
    if (rendered instanceof TemplateError) throw rendered
    const [ids = []] = await server.tokenize([rendered.text], signal)
    return { ids, tail: '' }
  }
  const rendered = await render(server, input, signal)
  if (rendered instanceof TemplateError) throw rendered
  return { ids: rendered.ids ?? [], tail: rendered.text.slice(rendered.text.indexOf(PLACEHOLDER) + PLACEHOLDER.length) }
}

/** Returns the ids whose text is that id alone and that decoding can skip, or whose text is a delimiter. */
async function findAddedTokens(
  server: ServerTokenizer,
  candidates: readonly number[],
  signal: AbortSignal,
): Promise<AddedToken[]> {
  const ids = [...new Set(candidates)].sort((a, b) => a - b)
  const lists = ids.map((id) => [id])
  const [whole, skipped] = await Promise.all([
    server.detokenize(lists, 'with special tokens', signal),
    server.detokenize(lists, 'without special tokens', signal),
  ])
  const tokens = ids.map(
    (id, i): AddedToken => ({ id, content: whole[i] ?? '', special: whole[i] !== '' && skipped[i] === '' }),
  )
  const found = tokens.filter(({ content, special }) => special || IS_WELL_KNOWN.has(content))
  const again = await server.tokenize(
    found.map(({ content }) => content),
    signal,
  )
  return found.filter(({ id }, i) => again[i]?.length === 1 && again[i]?.[0] === id)
}

/** Known delimiters; those that a tokenizer encodes as one id count as its added tokens. */
const WELL_KNOWN: readonly string[] = [
  ...['<think>', '</think>', '[THINK]', '[/THINK]', '◁think▷', '◁/think▷'],
  ...['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<tools>', '</tools>'],
  ...['<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>', '<|python_tag|>', '[TOOL_CALLS]', '[ARGS]'],
  ...['[TOOL_RESULTS]', '[/TOOL_RESULTS]', '[AVAILABLE_TOOLS]', '[/AVAILABLE_TOOLS]', '[INST]', '[/INST]'],
  ...['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>', '<|tool_call_begin|>', '<|tool_call_end|>'],
  ...['<|tool_call_argument_begin|>', '<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>', '<｜tool▁call▁begin｜>'],
  ...['<｜tool▁call▁end｜>', '<｜tool▁sep｜>', '<｜User｜>', '<｜Assistant｜>', '<｜end▁of▁sentence｜>'],
  ...['<|im_start|>', '<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|end|>'],
  ...['<|start_header_id|>', '<|end_header_id|>', '<|begin_of_text|>', '<start_of_turn>', '<end_of_turn>'],
  ...['<|start|>', '<|message|>', '<|channel|>', '<|call|>', '<|return|>', '<|constrain|>', '<|system|>'],
  ...['<|user|>', '<|assistant|>', '<|observation|>', '<|im_user|>', '<|im_assistant|>', '<|im_system|>'],
  ...['<|im_middle|>', '<s>', '</s>', '<bos>', '<eos>', '<pad>', '<unk>', '[gMASK]', '<sop>'],
]
const IS_WELL_KNOWN: ReadonlySet<string> = new Set(WELL_KNOWN)

/** These texts must never change: trajectories are recognized by their ids. */
const FINGERPRINT_TEXTS: readonly string[] = [
  'The quick brown fox jumps over 13 lazy dogs; 31415926535 of 2,718 don’t.',
  '  def f(x):\n\treturn {"a": [x, -1.5e-3]}\r\n\n\n',
  'Ünïcödé ж 日本語 한국어 עברית नमस्ते 🙂👩‍🚀 \u{50005}',
  'ALLCAPS camelCase snake_case https://example.org/?q=1#x',
  '<think> <|im_start|> <|eot_id|> </s> <tool_call> [INST]',
]

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
