/**
 * Encodes like the library but several times faster, for tokenizers that split a text into words first: byte-level BPE,
 * which most models use. The ids of a word do not depend on its context, so they are cached.
 */
import {
  AddedToken,
  ByteLevelPreTokenizer,
  type Tokenizer as LibraryTokenizer,
  SplitPreTokenizer,
} from '@huggingface/tokenizers'
import * as z from 'zod/mini'
import { addedTokenSplitter } from './added-token-splitter.ts'
import { createWordMemory, type WordMemory } from './word-memory.ts'

/** Encodes a text. Returns undefined if a word has no ids of its own; then the library must encode the whole text. */
type Encode = (text: string) => number[] | undefined

/** Returns the ids of one word; undefined if it has none of its own. */
type EncodeWord = (word: string) => readonly number[] | undefined

/** Returns the library's ids of words, of a tokenizer that `wordEncoder` supports. */
export function libraryWords(library: LibraryTokenizer): EncodeWord {
  const bytes = new ByteLevelPreTokenizer({ type: 'ByteLevel', add_prefix_space: false, use_regex: false } as never)
  const idsOfAdded = new Map<string, number>()
  for (const { content, id, normalized } of library.get_added_tokens_decoder().values()) {
    idsOfAdded.set(content, id)
    if (normalized && library.normalizer) idsOfAdded.set(library.normalizer.normalize(content), id)
  }
  return (word) => {
    const tokens = library.model?.encode(bytes.pre_tokenize_text(word)) ?? []
    const ids = tokens.map((token) => idsOfAdded.get(token) ?? library.token_to_id(token))
    return ids.every((id) => id !== undefined) ? (ids as number[]) : undefined
  }
}

/**
 * Returns the encoder of a tokenizer; undefined if it works differently. `definition` is the parsed tokenizer.json, and
 * `idsOfWord` returns the ids of a word.
 */
export function wordEncoder(definition: unknown, config: unknown, idsOfWord: EncodeWord): Encode | undefined {
  const known = plainDefinition.safeParse(definition)
  const settings = plainConfig.safeParse(config)
  if (!known.success || !settings.success) return undefined
  const { normalizer, pre_tokenizer: steps, added_tokens } = known.data
  const added = (added_tokens ?? []).map((token) => new AddedToken(token))
  if (added.some(({ content }) => content === '')) return undefined
  // With this setting, special tokens are text.
  const split = added.filter(({ special }) => !(special && settings.data.split_special_tokens))
  const isNormalized = (token: AddedToken) => token.normalized && normalizer !== null
  const normal = (text: string) => (normalizer?.type === 'NFC' && MAY_CHANGE.test(text) ? text.normalize('NFC') : text)
  // As in the library, the text is split at some tokens before normalization, and at others after it.
  const before = addedTokenSplitter(split.filter((token) => !isNormalized(token)))
  const after = addedTokenSplitter(
    split.filter(isNormalized).map((token) => ({ ...token, content: normal(token.content) })),
  )

  const splits = steps.flatMap((step) => (step.type === 'Split' ? [new SplitPreTokenizer(step as never)] : []))
  const memory = createWordMemory()
  const sections = createWordMemory(SECTIONS)

  return (text) => {
    const ids: number[] = []
    for (const { text: raw, id } of before(text)) {
      if (id !== undefined) {
        ids.push(id)
        continue
      }
      for (const { text: section, id } of after(normal(raw))) {
        const known = id === undefined ? sections.get(section) : [id]
        if (known) {
          for (const id of known) ids.push(id)
          continue
        }
        const from = ids.length
        if (!addWords(ids, words(section, splits), memory, idsOfWord)) return undefined
        sections.set(section, ids.slice(from))
      }
    }
    return ids
  }
}

/** Matches texts that NFC may change. Texts below U+0300, the first combining character, are in NFC. The check is much faster than NFC. */
const MAY_CHANGE = /[^\0-\u02ff]/

/** Bounds of the cache of texts between added tokens: system prompts and tools repeat in many conversations. */
const SECTIONS = { most: 200, longest: 8192 }

/** Appends the ids of words. Returns false if a word has no ids of its own. */
function addWords(ids: number[], texts: readonly string[], memory: WordMemory, idsOfWord: EncodeWord): boolean {
  for (const word of texts) {
    let found = memory.get(word)
    if (!found) {
      found = idsOfWord(word)
      if (!found) return false
      memory.set(word, found)
    }
    for (const id of found) ids.push(id)
  }
  return true
}

/** Kinds of each part of tokenizer.json that are known to keep words separate. */
const split = z.looseObject({
  type: z.literal('Split'),
  pattern: z.looseObject({ Regex: z.string() }),
  behavior: z.literal('Isolated'),
  invert: z.literal(false),
})
const byteLevel = z.looseObject({
  type: z.literal('ByteLevel'),
  add_prefix_space: z.literal(false),
  use_regex: z.literal(false),
})
const plainDefinition = z.looseObject({
  normalizer: z.nullable(
    z.union([
      z.looseObject({ type: z.literal('NFC') }),
      z.looseObject({ type: z.literal('Sequence'), normalizers: z.array(z.unknown()).check(z.length(0)) }),
    ]),
  ),
  pre_tokenizer: z
    .pipe(
      z.looseObject({ type: z.literal('Sequence'), pretokenizers: z.array(z.union([split, byteLevel])) }),
      z.transform(({ pretokenizers }) => pretokenizers),
    )
    .check(
      z.refine((steps) => steps.length > 0 && steps.findIndex(({ type }) => type === 'ByteLevel') === steps.length - 1),
    ),
  model: z.looseObject({ type: z.literal('BPE'), fuse_unk: z.nullish(z.literal(false)) }),
  post_processor: z.nullish(z.looseObject({ type: z.enum(['ByteLevel', 'TemplateProcessing', 'Sequence']) })),
  added_tokens: z.nullish(
    z.array(
      z.object({
        id: z.int(),
        content: z.string(),
        lstrip: z.exactOptional(z.boolean()),
        rstrip: z.exactOptional(z.boolean()),
        single_word: z.exactOptional(z.boolean()),
        normalized: z.exactOptional(z.boolean()),
        special: z.exactOptional(z.boolean()),
      }),
    ),
  ),
})

/** Settings that change a text before it is split. */
const plainConfig = z.looseObject({
  remove_space: z.nullish(z.literal(false)),
  do_lowercase_and_remove_accent: z.nullish(z.literal(false)),
  split_special_tokens: z.nullish(z.boolean()),
})

function words(section: string, splits: readonly SplitPreTokenizer[]): readonly string[] {
  const [first, ...rest] = splits
  return first
    ? rest.reduce((parts, split) => parts.flatMap((part) => pieces(part, split)), pieces(section, first))
    : [section]
}

/** Splits a text. For most patterns the matches cover the whole text, so that the slower split of the library is not needed. */
function pieces(text: string, split: SplitPreTokenizer): readonly string[] {
  const matches: readonly string[] = (split.pattern && text.match(split.pattern)) ?? []
  let length = 0
  for (const match of matches) length += match.length
  return length === text.length && !matches.includes('') ? matches : split.pre_tokenize_text(text)
}
