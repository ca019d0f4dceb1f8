/**
 * Determines the tokens that regular expressions, JSON schemas and calls allow next. Schemas use
 * @huggingface/transformers-structured-output: its processor is made for transformers.js; here it marks the forbidden tokens of one row of
 * zeros.
 */
import type { StructuredOutputProcessor } from '@huggingface/transformers-structured-output'
import { decodeIds, type Vocabulary, vocabularyBytes } from '#lib/builtin-server/models/vocabulary.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { beginningWithCall } from './call-grammar.ts'
import type { GrammarSource } from './job.ts'
import { regexPart } from './regex/regex-part.ts'
import { createTokenTrie } from './regex/token-trie.ts'

/** The state of a grammar in one generation. */
export interface Grammar {
  /** Forbids tokens that must not come next. Returns 'end' if only a stop id may come. Throws an Error if no token may come. */
  mask(logits: Float32Array): 'open' | 'end'
  /** Advances by the token that came. While the grammar is binding, a stop id ends the text, and nothing may come after it. */
  take(id: number): void
  /** Returns whether the grammar has begun. */
  isBinding(): boolean
}

/** Compiles the grammars of one model. */
export interface GrammarCompiler {
  /** Compiles a grammar that begins after the ids `behind`; if there are none, with the first token. Throws GrammarError. */
  compile(source: GrammarSource, behind: readonly number[]): Grammar
}

/** Thrown for an error of the request: the grammar is invalid, or it cannot be enforced here. */
export class GrammarError extends Error {
  override readonly name = 'GrammarError'
}

/** Returns the compiler. `stopIds` are the model's ids that end a complete text. Loads the package, which takes a tenth of a second. */
export async function loadGrammars(vocabulary: Vocabulary, stopIds: ReadonlySet<number>): Promise<GrammarCompiler> {
  const { StructuredOutputProcessor: Processor } = await import('@huggingface/transformers-structured-output')
  // There is one more id than the vocabulary has: it represents the end of the text, whichever ids end it for the model.
  const end = vocabulary.ends.length
  const tokens = Array.from({ length: end }, (_, id) => vocabularyBytes(vocabulary, id)).concat(new Uint8Array(0))
  // A token without text would not advance the text, and could be repeated forever.
  const silent = tokens.flatMap((bytes, id) => (bytes.length === 0 ? [id] : []))
  const tokenizer = {
    tokens,
    eos_token_id: end,
    special_token_ids: [...vocabulary.specialIds, ...stopIds, ...silent],
  }
  const row = { data: new Float32Array(tokens.length), dims: [1, tokens.length] }
  const trie = createTokenTrie(tokens.slice(0, end), new Set(tokenizer.special_token_ids))
  const regex = (source: string): GrammarPart =>
    attempt('regex', () => regexPart(source, trie, (id) => elementAt(tokens, id)))
  const json = (source: string): GrammarPart => partOf(jsonProcessor(Processor, tokenizer, source), row)

  const grammarOf = (source: GrammarSource): Grammar => {
    switch (source.kind) {
      case 'regex':
        return onePart(regex(source.source), stopIds)
      case 'json_schema':
        return onePart(json(source.source), stopIds)
      case 'calls':
        return beginningWithCall(source.forms, { regex, json, text: (ids) => decodeIds(vocabulary, ids, 'all') })
    }
  }
  return {
    compile(source, behind) {
      const grammar = grammarOf(source)
      return behind.length === 0 ? grammar : beginningAfter(behind, grammar)
    },
  }
}

/** A piece of text that one automaton binds. */
export interface GrammarPart {
  /** Returns what may come next. The result is valid until another part is called. */
  next(): Next
  take(id: number): void
}

interface Next {
  /** 0 for each id that may come. */
  readonly marks: ArrayLike<number>
  /** Whether the text may end here. */
  readonly isComplete: boolean
}

interface Row {
  readonly data: Float32Array
  readonly dims: number[]
}

function partOf(processor: StructuredOutputProcessor, row: Row): GrammarPart {
  const { data } = row
  const marks = data.subarray(0, -1)
  const taken: bigint[] = []
  return {
    next() {
      data.fill(0)
      // The processor reads only these two fields of the tensor. Zeros keep the library from changing the tokens that it allows.
      processor._call([taken], row as unknown as Parameters<StructuredOutputProcessor['_call']>[1])
      return { marks, isComplete: data.at(-1) === 0 }
    },
    take(id) {
      taken.push(BigInt(id))
    },
  }
}

/** Returns the grammar of a text that consists of one part. */
function onePart(part: GrammarPart, stopIds: ReadonlySet<number>): Grammar {
  return {
    mask(logits) {
      const { marks, isComplete } = part.next()
      let open = 0
      for (let id = 0; id < logits.length; id++) {
        if (marks[id] === 0) open++
        else if (!isComplete || !stopIds.has(id)) logits[id] = Number.NEGATIVE_INFINITY
      }
      if (open === 0 && !(isComplete && stopIds.size > 0)) throw new Error('the grammar allows no token here')
      return open === 0 ? 'end' : 'open'
    },
    take(id) {
      if (!stopIds.has(id)) part.take(id)
    },
    isBinding: () => true,
  }
}

function beginningAfter(behind: readonly number[], grammar: Grammar): Grammar {
  const last: number[] = []
  let hasBegun = false
  return {
    mask: (logits) => (hasBegun ? grammar.mask(logits) : 'open'),
    take(id) {
      if (hasBegun) return grammar.take(id)
      last.push(id)
      if (last.length > behind.length) last.shift()
      hasBegun = last.length === behind.length && last.every((one, index) => one === behind[index])
    },
    isBinding: () => hasBegun && grammar.isBinding(),
  }
}

const jsonProcessor = (
  Processor: typeof StructuredOutputProcessor,
  tokenizer: object,
  schema: string,
): StructuredOutputProcessor =>
  attempt('json', () => new Processor(tokenizer, { type: 'json_schema', json_schema: JSON.parse(schema) as never }))

function attempt<T>(kind: 'regex' | 'json', make: () => T): T {
  try {
    return make()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new GrammarError(`Failed to compile ${kind} grammar: ${why}`, { cause: error })
  }
}
