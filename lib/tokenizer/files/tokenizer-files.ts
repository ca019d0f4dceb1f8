/** Loads a tokenizer and its chat templates from the files of a model repository. */
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import * as z from 'zod/mini'
import type { TokenizerFiles } from '#lib/api/tokenizer-files.ts'
import { textFrame } from '#lib/rollout/prompt/raw-prompt.ts'
import { type CompiledTemplate, chatTemplate } from '#lib/templates/chat-template.ts'
import type { AddedToken, Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { type BpeTables, packBpe, packedBpe } from './packed-bpe.ts'
import { pieceBytes } from './piece-bytes.ts'
import { libraryWords, wordEncoder } from './word-encoder.ts'

/** A tokenizer with its templates. */
export interface LoadedTokenizer {
  readonly tokenizer: Tokenizer
  /** Returns the template for conversations with or without tools, or undefined if the repository has none. */
  readonly template: (hasTools: boolean) => CompiledTemplate | undefined
  /** bos_token, eos_token and similar variables of templates. */
  readonly specialTokens: Readonly<Record<string, string>>
  /**
   * Compiles another template with this tokenizer's special tokens. Recent ones are cached, so the same text gives the
   * same template; with `use` 'once' it is not cached, as for a trial edit. Throws TemplateError.
   */
  readonly compile: (templateText: string, use?: 'once') => CompiledTemplate
  /** Ids that end a generation by the model's configuration. */
  readonly stopIds: readonly number[]
}

/** A tokenizer that could not be loaded. */
export class TokenizerError extends Error {
  override readonly name = 'TokenizerError'
  readonly code:
    | 'TOKENIZER_NOT_FOUND'
    | 'TOKENIZER_BROKEN'
    | 'TOKENIZER_UNSUPPORTED'
    | 'TOKENIZER_REFUSED'
    | 'TOKENIZER_GATED'
    | 'TOKENIZER_OFFLINE'
    | 'TOKENIZER_NOT_STORED'
  readonly hint: string | undefined
  constructor(code: TokenizerError['code'], message: string, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.hint = hint
  }
}

/** Loads a tokenizer. Throws TokenizerError for an invalid file. */
export const loadTokenizerFiles = (name: string, files: TokenizerFiles): LoadedTokenizer =>
  loadDefinition(name, readDefinition(files), files)

/** What tokenizer.json contains. */
export interface TokenizerDefinition {
  /** SHA-256 of tokenizer.json. */
  readonly fingerprint: string
  /** The parsed file. If the vocabulary is packed, its model has only the entries that the library needs. */
  readonly rest: z.infer<typeof definitionSchema>
  /** The packed vocabulary. Omitted: the library has the vocabulary. */
  readonly tables?: BpeTables
}

/** Reads tokenizer.json, and packs its vocabulary if it is byte-level BPE. Throws TokenizerError for an invalid file. */
export function readDefinition({ tokenizerJson, tokenizerConfigJson }: TokenizerFiles): TokenizerDefinition {
  const rest = parseFile('tokenizer.json', tokenizerJson, definitionSchema)
  const config = parseFile('tokenizer_config.json', tokenizerConfigJson ?? '{}', configSchema)
  const fingerprint = bytesToHex(sha256(new TextEncoder().encode(tokenizerJson)))
  const tables = wordEncoder(rest, config, () => undefined) && packBpe(rest, addedTokensOf(rest))
  return tables ? { fingerprint, rest: { ...rest, model: framingModel(rest, config) }, tables } : { fingerprint, rest }
}

/** Returns the tokenizer with this definition; the others are its other files. Throws TokenizerError for an invalid file. */
export function loadDefinition(
  name: string,
  { fingerprint, rest, tables }: TokenizerDefinition,
  { tokenizerConfigJson, chatTemplateJinja, generationConfigJson }: Omit<TokenizerFiles, 'tokenizerJson'>,
): LoadedTokenizer {
  const config = parseFile('tokenizer_config.json', tokenizerConfigJson ?? '{}', configSchema)
  const generation = parseFile('generation_config.json', generationConfigJson ?? '{}', generationSchema)
  const addedTokens = addedTokensOf(rest)
  const bytesOfAdded = new Map(addedTokens.map(({ id, content }) => [id, new TextEncoder().encode(content)]))
  const { library, byWords, bytes, size } = encodersOf(name, rest, config, tables)
  const tokenizer: Tokenizer = {
    name,
    fingerprint,
    // Math.max(...) cannot be used, because there may be more added tokens than an argument list may have.
    vocabularySize: addedTokens.reduce((size, { id }) => Math.max(size, id + 1), size),
    addedTokens,
    encode: (text) => (text === '' ? [] : (byWords?.(text) ?? library.encode(text, { add_special_tokens: false }).ids)),
    encodesWords: byWords !== undefined,
    bytes: (id) => bytesOfAdded.get(id) ?? bytes(id),
    get frame() {
      const plain = library.encode(FRAMED, { add_special_tokens: false }).ids
      return textFrame(library.encode(FRAMED, { add_special_tokens: true }).ids, plain)
    },
  }
  const endOfText = config.eos_token === undefined ? undefined : library.token_to_id(config.eos_token)
  return {
    tokenizer,
    ...templates(chatTemplateJinja, config),
    stopIds: [...new Set([...(endOfText === undefined ? [] : [endOfText]), ...[generation.eos_token_id ?? []].flat()])],
  }
}

const addedTokensOf = ({ added_tokens }: z.infer<typeof definitionSchema>): readonly AddedToken[] =>
  added_tokens.map(({ id, content, special }) => ({ id, content, special }))

const definitionSchema = z.looseObject({
  model: z.looseObject({}),
  decoder: z.unknown(),
  added_tokens: z._default(
    z.array(
      z.looseObject({ id: z.int().check(z.minimum(0)), content: z.string(), special: z._default(z.boolean(), true) }),
    ),
    [],
  ),
})

/** The special tokens of transformers' special_tokens_map; templates see those with a value. */
const SPECIAL_TOKENS = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const

const specialToken = z.pipe(
  z.nullish(
    z.union([
      z.string(),
      z.pipe(
        z.looseObject({ content: z.string() }),
        z.transform(({ content }) => content),
      ),
    ]),
  ),
  z.transform((token) => token ?? undefined),
)
const configSchema = z.looseObject({
  bos_token: specialToken,
  eos_token: specialToken,
  unk_token: specialToken,
  sep_token: specialToken,
  pad_token: specialToken,
  cls_token: specialToken,
  mask_token: specialToken,
  chat_template: z.nullish(z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])),
})
const generationSchema = z.looseObject({ eos_token_id: z.nullish(z.union([z.int(), z.array(z.int())])) })

function parseFile<T>(file: string, text: string, schema: z.ZodMiniType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new TokenizerError(
      'TOKENIZER_BROKEN',
      `${file} is not JSON: ${error instanceof Error ? error.message : error}`,
      DOWNLOAD_AGAIN,
      { cause: error },
    )
  }
  const result = schema.safeParse(value)
  if (!result.success)
    throw new TokenizerError(
      'TOKENIZER_BROKEN',
      `${file}: ${violationText(schemaViolation(result.error, value))}`,
      DOWNLOAD_AGAIN,
    )
  return result.data
}

const DOWNLOAD_AGAIN = 'The file may be a Git LFS pointer or truncated: download it again.'

function libraryTokenizer(name: string, definition: object, config: object): LibraryTokenizer {
  try {
    return new LibraryTokenizer(definition, config)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // The library's message for kinds that it does not support.
    const isUnknownKind = /^(Unknown|Unsupported) /.test(why)
    throw new TokenizerError(
      isUnknownKind ? 'TOKENIZER_UNSUPPORTED' : 'TOKENIZER_BROKEN',
      isUnknownKind
        ? `the tokenizer ${name} is of an unsupported kind (${why})`
        : `the tokenizer ${name} could not be loaded: ${why}`,
      isUnknownKind ? undefined : DOWNLOAD_AGAIN,
      { cause: error },
    )
  }
}

interface Encoders {
  readonly library: LibraryTokenizer
  readonly byWords: ReturnType<typeof wordEncoder>
  readonly bytes: Tokenizer['bytes']
  readonly size: number
}

function encodersOf(
  name: string,
  definition: z.infer<typeof definitionSchema>,
  config: z.infer<typeof configSchema>,
  tables: BpeTables | undefined,
): Encoders {
  const library = libraryTokenizer(name, definition, config)
  if (tables) {
    const { size, bytes, encode } = packedBpe(tables)
    return { library, byWords: wordEncoder(definition, config, encode), bytes, size }
  }
  const bytesOfPiece = pieceBytes(definition.decoder)
  return {
    library,
    byWords: library.model ? wordEncoder(definition, config, libraryWords(library)) : undefined,
    bytes: (id) => bytesOfPiece(library.id_to_token(id)),
    size: library.model?.vocab.length ?? 0,
  }
}

/** Returns a model with only the text that the frame surrounds, the end of text, and the pieces that the frame may name. */
function framingModel(
  { model, post_processor }: z.infer<typeof definitionSchema>,
  { eos_token }: { eos_token?: string | undefined },
): Readonly<Record<string, unknown>> {
  const named = new Set([FRAMED, eos_token, model.unk_token])
  JSON.stringify(post_processor, (_, value) => {
    if (typeof value === 'string') named.add(value)
    return value
  })
  const { vocab } = model as { readonly vocab: Readonly<Record<string, unknown>> }
  const knownPieces = Array.from(named).filter((piece) => typeof piece === 'string' && Object.hasOwn(vocab, piece))
  return {
    ...model,
    vocab: Object.fromEntries(knownPieces.map((piece) => [piece, vocab[piece as string]])),
    merges: [],
  }
}

/** A text of one token in every byte-level vocabulary, around which the tokenizer's frame is found. */
const FRAMED = 'a'

/**
 * Total characters of the cached templates: a dozen of the largest real ones. A compiled template takes 25 to 75 bytes
 * for each.
 */
const MOST_COMPILED = 200_000

/**
 * Selects and compiles templates. A chat_template.jinja takes precedence over the configuration, as in transformers.
 * The template "tool_use" takes precedence if there are tools.
 */
function templates(
  jinja: string | undefined,
  config: z.infer<typeof configSchema>,
): Pick<LoadedTokenizer, 'template' | 'compile' | 'specialTokens'> {
  const named =
    typeof config.chat_template === 'string'
      ? [{ name: 'default', template: config.chat_template }]
      : (config.chat_template ?? [])
  const specialTokens = Object.fromEntries(
    SPECIAL_TOKENS.flatMap((key) => {
      const token = config[key]
      return token === undefined ? [] : [[key, token]]
    }),
  )
  const compiled = createMemory<CompiledTemplate>(MOST_COMPILED)
  const compile: LoadedTokenizer['compile'] = (text, use) => {
    const known = compiled.get(text) ?? chatTemplate(text, specialTokens)
    if (use !== 'once') compiled.set(text, known, text.length)
    return known
  }
  /** The repository's own templates are few and always cached. */
  const own = new Map<string, CompiledTemplate>()
  const template = (hasTools: boolean): CompiledTemplate | undefined => {
    const text =
      jinja ??
      (hasTools ? named.find(({ name }) => name === 'tool_use') : undefined)?.template ??
      named.find(({ name }) => name === 'default')?.template
    if (text === undefined) return undefined
    const known = own.get(text) ?? compile(text)
    own.set(text, known)
    return known
  }
  return { template, compile, specialTokens }
}
